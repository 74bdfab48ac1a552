"""Rules of shapes, strides and dtypes, and what compares two tensors by them."""

from __future__ import annotations

import warnings
from importlib import import_module

from .._C import Tensor
from .._own_names import no_attribute

__all__ = ["compare_tensor_meta", "dtype_to_type"]


def check_equal(what: str, one, other) -> None:
    if one != other:
        raise AssertionError(f"{what} {one} and {other} are not equal!")


def compare_tensor_meta(
    a: Tensor,
    b: Tensor,
    check_sizes: bool = True,
    check_strides: bool = False,
    *,
    check_conj: bool = True,
) -> None:
    """Compares all but values: shapes, dtypes, devices, whether they are
    conjugated or negated lazily, and strides where asked.

    Strides of dimensions with one element, and of tensors without elements,
    do not count. AssertionError for what is no tensor, or differs;
    RuntimeError where strides or offsets differ.
    """
    for x in (a, b):
        if not isinstance(x, Tensor):
            raise AssertionError(f"expected a tensor, got {type(x)}")
    for what in ("shape", "dtype") if check_sizes else ("dtype",):
        one, other = getattr(a, what), getattr(b, what)
        check_equal(what, one, other)
    places = {str(a.device), str(b.device)}
    if places != {"cuda", "cuda:0"}:
        check_equal("Devices", a.device, b.device)
    if check_strides and a.numel():
        for place, size in enumerate(a.shape):
            if size > 1 and a.stride(place) != b.stride(place):
                raise RuntimeError(
                    f"Stride mismatch! Strides are {a.stride()} and "
                    f"{b.stride()} (mismatched at {place})!"
                )
        if a.storage_offset() != b.storage_offset():
            raise RuntimeError(
                f"Storage offset mismatch! Storage offsets are "
                f"{a.storage_offset()} and {b.storage_offset()}!"
            )
    if check_conj and a.is_conj() != b.is_conj():
        raise RuntimeError(f"Conj mismatch! is_conj is {a.is_conj()} and {b.is_conj()}")
    if a.is_neg() != b.is_neg():
        raise RuntimeError(f"Neg mismatch! is_neg is {a.is_neg()} and {b.is_neg()}")


def check(b: bool, s, exc_type: type = RuntimeError) -> None:
    """Raises the error with the text of `s()` unless it is true."""
    warnings.warn(
        "'torch._prims_common.check' will be removed in the future. Please use "
        "'torch._check*' functions instead",
        FutureWarning,
        stacklevel=2,
    )
    from .. import _check_with

    _check_with(exc_type, b, s)


def __getattr__(name: str):
    if not name.startswith("_"):
        # `from . import` would ask here for them.
        parts = [import_module(f"{__name__}.{part}") for part in ("dtypes", "shapes")]
        for part in parts:
            if hasattr(part, name):
                return getattr(part, name)
    raise no_attribute(__name__, name)
