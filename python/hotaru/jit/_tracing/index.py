"""Indices as compiled code writes them down."""

from __future__ import annotations

from ... import _C


def is_truth(part) -> bool:
    """True if a part of an index is one truth."""
    if isinstance(part, _C.Tensor):
        return part.dtype is _C.bool and part.dim() == 0
    return isinstance(part, bool)


def places_of(truth) -> _C.Tensor:
    """The first place, or none."""
    if isinstance(truth, bool):
        truth = _C.tensor(truth)
    return truth.view(1).nonzero().view(-1)


def without_ellipsis(parts, dim: int):
    """The parts of an index with slices for an ellipsis before tensors, which
    compiled code does not count from the end.
    """
    at = next((i for i, p in enumerate(parts) if p is Ellipsis), None)
    if at is None or not any(
        isinstance(p, (_C.Tensor, list, bool)) for p in parts[at:]
    ):
        return parts
    used = sum(map(dimensions_used, (*parts[:at], *parts[at + 1 :])))
    return (*parts[:at], *[slice(None)] * (dim - used), *parts[at + 1 :])


def dimensions_used(part) -> int:
    """How many dimensions of a tensor a part of an index speaks of."""
    if part is None or isinstance(part, bool):
        return 0
    if isinstance(part, list):
        depth = 0
        while isinstance(part, list) and part:
            depth, part = depth + 1, part[0]
        return depth if isinstance(part, bool) else 1
    if isinstance(part, _C.Tensor) and part.dtype is _C.bool:
        return part.dim()
    return 1


def is_tuple_of_indices(index) -> bool:
    """Tells whether the parts of an index are indices, as eager code reads it:
    of a short list as of a tuple, if it holds more than numbers.
    """
    if not isinstance(index, list):
        return isinstance(index, tuple)
    many = (_C.Tensor, list, tuple, slice, type(None), type(Ellipsis))
    return len(index) < 32 and any(isinstance(part, many) for part in index)
