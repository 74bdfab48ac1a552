"""Comparison of shapes and strides of two tensors."""

from __future__ import annotations

from .. import _C
from .._C import Tensor

__all__ = ["compare_tensor_meta", "dtype_to_type"]


def dtype_to_type(dtype) -> type:
    """The Python type of an element: bool, int, float or complex."""
    if dtype == _C.bool:
        return bool
    if dtype.is_complex:
        return complex
    return float if dtype.is_floating_point else int


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


def is_contiguous_or_false(a) -> bool:
    """True if elements lie one behind the other: sizes are numbers, so that is
    always known.
    """
    return a.is_contiguous()
