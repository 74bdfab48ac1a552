"""Preparation of PyTorch's side before torchvision is imported."""

from __future__ import annotations

import importlib.util

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
    if torch.version.cuda is not None:
        return None
    library = torch.library.Library("torchvision", "DEF")
    for schema in _TORCHVISION:
        library.define(schema)
    return library


if importlib.util.find_spec("torchvision") is not None:
    import torch as _torch

    kept = declare_torchvision(_torch)  # as long as the process
