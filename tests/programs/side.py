"""Runs one script of this folder: `python side.py SCRIPT [ARGS]`.

The same seeds for both sides, one thread, no network.
"""

from __future__ import annotations

import os
import random
import runpy
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent

# PyPI's torchvision is built for the CUDA build of PyTorch. Under the CPU build
# its library does not load and torchvision cannot be imported, unless its
# operators are declared.
_TORCHVISION = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qroi_align(Tensor input, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, int sampling_ratio, "
    "bool aligned) -> Tensor",
    "roi_align(Tensor input, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, int sampling_ratio, "
    "bool aligned) -> Tensor",
    "roi_pool(Tensor input, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
    "ps_roi_align(Tensor input, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, int sampling_ratio) "
    "-> (Tensor, Tensor)",
    "ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, "
    "Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, "
    "SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, "
    "SymInt offset_groups, bool use_mask) -> Tensor",
    "_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, SymInt batch_size, "
    "SymInt channels, SymInt height, SymInt width, int sampling_ratio, "
    "bool aligned) -> Tensor",
    "_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, "
    "float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "SymInt batch_size, SymInt channels, SymInt height, SymInt width) "
    "-> Tensor",
    "_ps_roi_align_backward(Tensor grad, Tensor rois, "
    "Tensor channel_mapping, float spatial_scale, SymInt pooled_height, "
    "SymInt pooled_width, int sampling_ratio, SymInt batch_size, "
    "SymInt channels, SymInt height, SymInt width) -> Tensor",
    "_ps_roi_pool_backward(Tensor grad, Tensor rois, "
    "Tensor channel_mapping, float spatial_scale, SymInt pooled_height, "
    "SymInt pooled_width, SymInt batch_size, SymInt channels, "
    "SymInt height, SymInt width) -> Tensor",
    "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, "
    "Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
    "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
    "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)


def declare_torchvision(torch) -> object | None:
    """Declares torchvision's operators where its library cannot."""
    if not hasattr(torch, "_C") or torch.version.cuda is not None:
        return None
    library = torch.library.Library("torchvision", "DEF")
    for schema in _TORCHVISION:
        library.define(schema)
    return library


def main() -> None:
    """Seeds both sides alike and runs the script."""
    warnings.filterwarnings("ignore")
    import numpy
    import torch

    kept = None
    if "hotaru" not in sys.modules:
        kept = declare_torchvision(torch)
    torch.set_num_threads(1)
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    script = HERE / "scripts" / f"{sys.argv[1]}.py"
    sys.path.insert(0, str(HERE))
    sys.argv = [str(script), *sys.argv[2:]]
    os.environ.setdefault("MPLBACKEND", "Agg")
    runpy.run_path(str(script), run_name="__main__")
    del kept


if __name__ == "__main__":
    main()
