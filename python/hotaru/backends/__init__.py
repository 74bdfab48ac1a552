"""Switches and versions of optional libraries; none is used on the CPU.

Each is a module: `import hotaru.backends.cudnn` works.
"""

from __future__ import annotations

import sys as _sys
import types as _types
from contextlib import contextmanager as _contextmanager

from . import _flags, _precision
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


def set_flags(_fp32_precision="none") -> tuple:
    """Sets the precision of all libraries; None leaves it. Returns that
    before.
    """
    before = (_precision.own("generic", "all"),)
    if _fp32_precision is not None:
        _precision.put("generic", "all", _fp32_precision)
    return before


@_contextmanager
def flags(fp32_precision="none"):
    """A block in which the precision of all libraries is this."""
    before = set_flags(fp32_precision)
    try:
        yield
    finally:
        set_flags(*before)


@_contextmanager
def _allow_mutation():
    before = _flags._frozen
    _flags._frozen = False
    try:
        yield
    finally:
        _flags._frozen = before


# Programs' tests set flags within it.
globals()["__allow_nonbracketed_mutation"] = _allow_mutation


class _Backends(_types.ModuleType):
    @property
    def fp32_precision(self) -> str:
        """The precision of float32 where no library has one of its own."""
        return _precision.own("generic", "all")

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        _flags.check_thawed(self)
        set_flags(value)


_sys.modules[__name__].__class__ = _Backends
