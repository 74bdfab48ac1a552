r"""Work that a replay of a network's graph gives a GPU.

    HOTARU_CUDA_DRIVER=soft HOTARU_CUDA_LIBRARIES=soft \
        python -m hotaru bench/gpu/graph_nodes.py
    python bench/gpu/graph_nodes.py  # PyTorch: its calls, without a GPU, too

With hotaru: calls captured, calls after the passes, and the kernels, copies and
fills that a replay is once its own kernels are compiled, in how many launches.
With PyTorch: the operators it calls that compute something, each at least one
kernel (bias and convolution by cuDNN are often two, a recurrent layer's is one
operator and many kernels).
Nothing is computed on the GPU: that needs none, in software.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import models

HOTARU = hasattr(torch, "graphs") and "hotaru" in torch.__version__


def of_hotaru(model, inputs):
    from hotaru import _C

    model = model.cuda()
    inputs = [x.cuda() for x in inputs]
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        result = model(*inputs)
    for _ in range(2):
        graph.replay()
        _C._cuda_finish_compiling()
    nodes, launches = graph._launches()
    del result
    recorded, run = len(graph._recorded()), len(graph._nodes())
    return f"{recorded:8} {run:8} {nodes:8} {launches:8}"


def of_pytorch(model, inputs):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            views = function.is_view or "empty" in function.__name__
            name = function.__name__.split(".")[0]
            self.calls += not views and name not in ("detach", "_unsafe_view")
            return out

    with torch.no_grad(), Count() as count:
        model(*inputs)
    return f"{count.calls:8}"


def main() -> None:
    heads = ("captured", "run", "nodes", "launches") if HOTARU else ("calls",)
    print(f"{'':24}" + "".join(f"{head:>9}" for head in heads))
    for name in models.MODELS:
        model, inputs = models.make(name)
        count = of_hotaru if HOTARU else of_pytorch
        print(f"{name:24} {count(model, inputs)}")


if __name__ == "__main__":
    main()
