"""Refusals of all kinds of tensors in the words of those with memory."""

from __future__ import annotations

from .. import _C
from .._C import Tensor


def check_written(out: Tensor) -> None:
    """RuntimeError for a leaf that is written and whose gradient is wanted."""
    if _C.is_grad_enabled() and out.requires_grad and out.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )


def with_gradient(made: Tensor, requires_grad: bool) -> Tensor:
    """A new tensor whose gradient may be wanted; RuntimeError for integers."""
    if not requires_grad:
        return made
    if not (made.dtype.is_floating_point or made.dtype.is_complex):
        raise RuntimeError(
            "Only Tensors of floating point and complex dtype can require gradients"
        )
    return made.requires_grad_()


def no_pointer() -> RuntimeError:
    """The error of a tensor without memory that is asked where it lies."""
    return RuntimeError(
        "Cannot access data pointer of Tensor that doesn't have storage"
    )


def other_kind() -> RuntimeError:
    """The error of `x.data = y` for tensors of two kinds."""
    return RuntimeError(
        "Attempted to call `variable.set_data(tensor)`, but `variable` "
        "and `tensor` have incompatible tensor type."
    )


def check_iterable(tensor: Tensor) -> None:
    """TypeError for a tensor without dimensions."""
    if not tensor.dim():
        raise TypeError("iteration over a 0-d tensor")


def length(shape):
    """Result of `len`; TypeError for a shape without dimensions."""
    if not shape:
        raise TypeError("len() of a 0-d tensor")
    return shape[0]


def check_indices(count: int, dims: int) -> None:
    """IndexError for more indices than dimensions."""
    if count > dims:
        raise IndexError(f"too many indices for tensor of dimension {dims}")


def no_imaginary_part(*args, **kwargs):
    """The answer to `imag`, of kinds of tensors that are never complex."""
    raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
