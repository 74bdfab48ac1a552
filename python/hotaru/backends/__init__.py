"""Switches and versions of optional libraries; none is used on the CPU.

Each is a module: `import hotaru.backends.cudnn` works.
"""

from __future__ import annotations

import sys as _sys

from ._einsum import OptEinsum
from ._flags import Library, allow_mutation, disable_global_flags, flags_frozen
from ._libraries import Cpu, Cuda, Cudnn, Mha, Mkldnn, Mps, Nnpack, Quantized

cpu = Cpu("cpu")
cuda = Cuda("cuda")
cudnn = Cudnn("cudnn")
mha = Mha("mha")
mkl = Library("mkl")
mkldnn = Mkldnn("mkldnn")
mps = Mps("mps")
nnpack = Nnpack("nnpack")
openmp = Library("openmp")
opt_einsum = OptEinsum("opt_einsum")
quantized = Quantized("quantized")

for _library in (
    cpu,
    cuda,
    cudnn,
    mha,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    quantized,
):
    _sys.modules[_library.__name__] = _library

# PyTorch's name for it, which MONAI uses.
__allow_nonbracketed_mutation = allow_mutation

__all__ = [
    "cpu",
    "cuda",
    "cudnn",
    "disable_global_flags",
    "flags_frozen",
    "mha",
    "mkl",
    "mkldnn",
    "mps",
    "nnpack",
    "openmp",
    "opt_einsum",
    "quantized",
]
