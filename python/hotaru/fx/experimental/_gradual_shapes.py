"""Shapes that are known in part: what becomes of them."""

from __future__ import annotations

from ..tensor_type import Dyn, TensorType, is_consistent, is_more_precise
from .unification import Var


def expand_to_tensor_dim(t, n: int) -> TensorType:
    """A type of `n` sizes: `t`, or one of which nothing more is known.

    TypeError: `t` has another number of them, or is no type of a tensor.
    """
    if t == Dyn:
        return TensorType((Dyn,) * n)
    if not isinstance(t, TensorType):
        raise TypeError(f"Cannot match the type {t}")
    if len(t.dims) != n:
        raise TypeError(
            f"Cannot extend tensor. Tensor {t} has rank {len(t.dims)}. "
            f"It should have rank {n}"
        )
    return t


def broadcast_types(t1, t2) -> tuple:
    """The two types as broadcasting makes them, of one length.

    TypeError: one is no type of a tensor.
    """
    if Dyn in (t1, t2) or isinstance(t1, Var) or isinstance(t2, Var):
        return t1, t2
    if not (isinstance(t1, TensorType) and isinstance(t2, TensorType)):
        raise TypeError(f"Cannot broadcast types {t1} and {t2}")
    length = max(len(t1.dims), len(t2.dims))
    first, second = ([1] * (length - len(t.dims)) + list(t.dims) for t in (t1, t2))
    for i, (a, b) in enumerate(zip(first, second)):
        if a == 1:
            first[i] = b
        elif b == 1:
            second[i] = a
    return TensorType(tuple(first)), TensorType(tuple(second))


def get_greatest_upper_bound(type1, type2):
    """Joins what is known by either type.

    TypeError: they contradict each other.
    """
    if type1 == Dyn:
        return type2
    if type2 == Dyn:
        return type1
    if not is_consistent(type1, type2):
        raise TypeError(f"Inconsistent types {type1}, {type2}")
    return TensorType(
        tuple(a if is_more_precise(a, b) else b for a, b in zip(type1.dims, type2.dims))
    )


def _pair(value) -> tuple:
    return (value, value) if isinstance(value, int) else tuple(value)


def calculate_out_dimension(d_in, module_instance, index: int):
    """A size behind a convolution or pooling: height is 0, width 1.

    Args:
        d_in: the size before, Dyn, or an expression of sympy.

    Raises:
        TypeError: it is none of these.
    """
    if d_in == Dyn:
        return Dyn
    if not isinstance(d_in, int) and not hasattr(d_in, "free_symbols"):
        raise TypeError(
            f"{d_in} in {module_instance} must be a number or Dyn. "
            f"Received {type(d_in)}"
        )
    padding, kernel, stride, dilation = (
        _pair(getattr(module_instance, name))[index]
        for name in ("padding", "kernel_size", "stride", "dilation")
    )
    span = dilation * (kernel - 1) + 1
    return (d_in + 2 * padding - span) // stride + 1


def pooled(t: TensorType, module) -> TensorType:
    """Behind a MaxPool2d. TypeError: not of three or four sizes."""
    if len(t.dims) not in (3, 4):
        raise TypeError(f"Wrong size {t} for {module}")
    *outer, height, width = t.dims
    inner = (
        calculate_out_dimension(size, module, i)
        for i, size in enumerate((height, width))
    )
    return TensorType((*outer, *inner))


def adaptively_pooled(t: TensorType, module) -> TensorType:
    """Behind an AdaptiveAvgPool2d. TypeError: not three or four sizes."""
    if len(t.dims) not in (3, 4):
        raise TypeError(f"Tensor ranks must be 3 or 4. Got {t}")
    wanted = _pair(module.output_size)
    inner = (
        before if size is None else size for size, before in zip(wanted, t.dims[-2:])
    )
    return TensorType((*t.dims[:-2], *inner))


def projected(t: TensorType, module) -> TensorType:
    """Behind a Linear. TypeError: its input has other sizes."""
    if len(t.dims) < 2:
        raise TypeError(f"Type {t} must have rank 2 or more.")
    if not is_consistent(module.in_features, t.dims[-1]):
        raise TypeError(
            f"Inconsistent {module.in_features} and {t.dims[-1]} in {module}"
        )
    return TensorType((*t.dims[:-1], module.out_features))


def flattened_range(rank: int, start: int, end: int) -> tuple[int, int]:
    """The sizes that `flatten` joins, as of a slice.

    TypeError: there are no such.
    """
    first = start + rank if start < 0 else start
    last = (end + rank if end < 0 else end) + 1
    if not 0 <= first < last <= rank:
        raise TypeError(
            f"Incompatible dimensions {start}, {end} in type of rank {rank}"
        )
    return first, last


def flattened(t: TensorType, start: int, end: int) -> TensorType:
    """Behind `flatten`. TypeError: there are no such dimensions."""
    first, last = flattened_range(len(t.dims), start, end)
    joined = 1
    for size in t.dims[first:last]:
        joined = Dyn if Dyn in (joined, size) else joined * size
    return TensorType((*t.dims[:first], joined, *t.dims[last:]))


def dims_of_flatten(n) -> tuple[int, int]:
    """The dimensions that a call of `flatten` names."""
    named = {"start_dim": 0, "end_dim": -1, **n.kwargs}
    named.update(zip(("start_dim", "end_dim"), n.args[1:]))
    return named["start_dim"], named["end_dim"]
