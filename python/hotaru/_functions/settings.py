"""Settings of the whole process, and what a build has."""

from __future__ import annotations

import warnings

from .. import _C, Tensor, set_default_device, set_default_dtype
from .._late import lent
from .._utils import _get_device_module
from . import _warn_once

__all__ = [
    "get_device_module",
    "get_float32_matmul_precision",
    "has_lapack",
    "has_mkl",
    "has_openmp",
    "has_spectral",
    "init_num_threads",
    "is_distributed",
    "set_default_tensor_type",
    "set_float32_matmul_precision",
    "set_flush_denormal",
]

# Products, Fourier transforms and the like are kernels of the package's own.
has_lapack = True
has_mkl = False
has_openmp = False
has_spectral = True
_PRECISIONS = ("highest", "high", "medium")
_FLOATS = {
    "HalfTensor": _C.float16,
    "FloatTensor": _C.float32,
    "DoubleTensor": _C.float64,
    "BFloat16Tensor": _C.bfloat16,
}


def get_float32_matmul_precision() -> str:
    """Returns what `set_float32_matmul_precision` allowed last, or else
    `backends.cuda.matmul.allow_tf32`.

    RuntimeError: `fp32_precision` of products says something else.
    """
    from ..backends._precision import matmul_precision

    return matmul_precision()


def set_float32_matmul_precision(precision: str) -> None:
    """How exact products of float32 have to be: "highest", "high" or "medium".

    It is a permission: all but "highest" lets cuBLASLt, on a GPU, round
    factors to TF32, and "medium" lets the CPU round them to bfloat16. Sums are
    in float32. Graphs keep what held when they were captured.
    """
    from ..backends import _precision

    if precision not in _PRECISIONS:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the "
            f"current setting '{_precision.legacy['matmul']}' is kept",
            stacklevel=2,
        )
        return
    names = dict(zip(_PRECISIONS, ("ieee", "tf32", "bf16")))
    _precision.legacy["matmul"] = precision
    on_gpu = "ieee" if precision == "highest" else "tf32"
    _precision.put("cuda", "matmul", on_gpu)
    _precision.put("mkldnn", "matmul", names[precision])


def set_default_tensor_type(t) -> None:
    """The dtype, and the device, of new tensors of floats: those of
    `torch.DoubleTensor`, or of its name.

    Raises:
        TypeError: it is no type of tensors of floats.
    """
    _warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, "
        "please use torch.set_default_dtype() and torch.set_default_device() "
        "as alternatives."
    )
    name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
    place, _, kind = name.rpartition(".")
    root, _, device = place.partition(".")
    package = __package__.partition(".")[0]
    if root not in ("torch", package) or device not in ("", "cuda"):
        raise TypeError(f"invalid type object: {name}")
    if kind not in _FLOATS:
        raise TypeError("only floating-point types are supported as the default type")
    set_default_dtype(_FLOATS[kind])
    if device:
        set_default_device(device)


def set_flush_denormal(mode: bool) -> bool:
    """Tells whether denormal numbers could be made zero: False, it is not
    offered; results are those of the standard.
    """
    return False


def get_device_module(device=None):
    """The module of a device type: `torch.cpu` of "cpu".

    RuntimeError: there is none.
    """
    if device is None:
        device = lent("current_accelerator")(check_available=True) or "cpu"
    return _get_device_module(_C.device(device).type)


def init_num_threads() -> None:
    """Gives the calling thread the number of threads that was set last.

    There is nothing to do: one pool is there for all threads.
    """


def is_distributed(input: Tensor) -> bool:
    """Tells whether a tensor's memory is spread over processes: never."""
    return False


# Programs that are being exported, inmost last: they write branches down.
traces: list = []
