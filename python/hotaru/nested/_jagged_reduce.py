"""Sums, extremes and softmax of nested tensors with the layout jagged."""

from __future__ import annotations

from .. import _C
from .._answering.names import words
from .._answering.table import answers
from .._C import Tensor
from ._base import JAGGED, is_nested, packed
from ._jagged import NestedTensor, inner, joined, like, parts, wrap
from ._jagged_pointwise import pointwise

NAMES = words("sum mean prod amax amin all any argmax argmin max min")
_ONE = frozenset(words("prod argmax argmin max min"))


@answers(*NAMES, of=JAGGED, every_form=True)
def reduce(function, x, dim=None, keepdim=False, **kwargs):
    """Along inner dimensions a nested tensor; along the ragged one of each
    element, or along that and the first, a tensor.

    RuntimeError along the first alone, and along the ragged and an inner one.
    """
    name = function.__name__
    if isinstance(dim, Tensor) or not isinstance(x, NestedTensor):
        return pointwise(function, x, dim, **kwargs)
    if "other" in kwargs:
        return pointwise(function, x, kwargs["other"])
    if "axis" in kwargs:
        dim = kwargs.pop("axis")
    if dim is None or dim == () or dim == []:
        return function(packed(x), **kwargs)
    dims = [dim] if isinstance(dim, int) else list(dim)
    places = sorted({wrap(x, d) for d in dims})
    ragged = x._ragged_idx
    others = [p for p in places if p not in (0, ragged)]
    _check(x, name, 0 in places, ragged in places, bool(others))
    kwargs["keepdim"] = keepdim
    if 0 in places:
        return _all_elements(function, x, [ragged, *others], **kwargs)
    if ragged in places:
        found = [_call(function, p, [ragged - 1], kwargs) for p in parts(x)]
        if isinstance(found[0], Tensor):
            return _C.ops.stack(found)
        return type(found[0])(_C.ops.stack(each) for each in zip(*found))
    found = _call(function, packed(x), [p - 1 for p in others], kwargs)
    place = ragged
    if not keepdim:
        place -= len([p for p in others if p < ragged])
    if isinstance(found, Tensor):
        return like(x, found, place)
    return type(found)(like(x, each, place) for each in found)


def _call(function, values: Tensor, dims: list[int], kwargs: dict):
    one = function.__name__ in _ONE
    return function(values, dims[0] if one else tuple(dims), **kwargs)


def _all_elements(function, x, places: list[int], *, keepdim, **kwargs):
    dims = [p - 1 for p in places]
    kwargs["keepdim"] = keepdim
    found = _call(function, packed(x), dims, kwargs)
    return found.unsqueeze(0) if keepdim else found


def _check(x, name: str, batch: bool, ragged: bool, others: bool) -> None:
    if batch and not ragged:
        raise RuntimeError(
            f"{name}(): reducing along the batch dimension but not the ragged "
            "dimension is not supported for nested tensors"
        )
    if ragged and others and not batch:
        raise RuntimeError(
            f"{name}(): reducing along a ragged and non-batch dimension is not "
            "supported for nested tensors"
        )
    if ragged and x._lengths is not None:
        raise RuntimeError(
            f"{name}(): reducing across the ragged dimension is not supported "
            "for non-contiguous nested tensors with holes"
        )


def _soft(name: str):
    def function(x, dim=None, _stacklevel=3, dtype=None):
        place = wrap(x, -1 if dim is None else dim)
        _check_soft(x, place, name)
        if place == x._ragged_idx:
            made = [getattr(p, name)(place - 1, dtype=dtype) for p in parts(x)]
            return joined(x, made)
        where = inner(x, place, name)
        return like(x, getattr(packed(x), name)(where, dtype=dtype))

    function.__name__ = name
    return function


def _check_soft(x, place: int, name: str) -> None:
    if place == 0:
        raise RuntimeError(
            f"{name}(): not supported when reducing across the batch dimension "
            "for NestedTensor"
        )
    if place != x._ragged_idx:
        return
    if x._lengths is not None:
        raise RuntimeError(
            f"{name}(): not supported where lengths is not None if reducing "
            "across the ragged dimension for NestedTensor"
        )
    if name == "log_softmax":
        raise RuntimeError(
            "log_softmax(): not supported when reducing along the ragged "
            "dimension for NestedTensor"
        )
    if place > 1:
        raise RuntimeError(
            f"{name}(): not supported when reducing along the ragged dimension "
            "for ragged_idx > 1 for NestedTensor"
        )


for _name in ("softmax", "log_softmax"):
    JAGGED[_name] = _soft(_name)


@answers("is_same_size", of=JAGGED)
def is_same_size(a, b) -> bool:
    """Tells whether both are nested with the same sizes."""
    both = is_nested(a) and is_nested(b)
    return both and a._size == b._size
