"""`x[index]` and `x[index] = value`, made of operators."""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence

from .. import _C
from .._C import Tensor, ops
from .._tensor.refusals import check_indices
from .calls import Call, sees_whole
from .questions import LIFT
from .stack import native, nobody_asked

_MASKS = (_C.bool, _C.uint8)


def get_item(self: Tensor, index) -> Tensor:
    """self[index]: selections and slices, then at most one of elements."""
    view, tensors = _Indexer(self).apply(index)
    if tensors:
        return ops.index(view, tensors)
    if view is not self:
        return view
    if isinstance(index, slice) or _has_slices(index):
        return ops.slice(self, 0, 0, sys.maxsize)
    return ops.alias(self)


def _has_slices(index) -> bool:
    return isinstance(index, tuple) and any(isinstance(part, slice) for part in index)


def set_item(self: Tensor, index, value) -> None:
    """self[index] = value."""
    number = not isinstance(value, Tensor)
    if number:
        value = _of_number(self, value)
    if isinstance(index, bool):  # all of it or nothing, of any dtype
        if index and number and not sees_whole((self,)):
            ops.fill_(ops.unsqueeze(self, 0), value)
        elif index:
            ops.copy_(self, _trimmed(value, self.dim()))
        return
    view, tensors = _Indexer(self).apply(index)
    if tensors:
        ops.index_put_(view, tensors, _trimmed(value, 0))
    elif value.dim() == 0 and view.dim() and not sees_whole((self, value)):
        ops.fill_(view, value)
    else:
        ops.copy_(view, _trimmed(value, view.dim()))


def _of_number(self: Tensor, value) -> Tensor:
    """The number as a tensor of the dtype and device of another."""
    if sees_whole((self,)):
        return ops.full((), value, dtype=self.dtype, device=self.device)
    with nobody_asked():
        made = ops.full((), value, dtype=self.dtype)
    if self.device.type != "cpu":
        made = ops.to(made, self.device)
    return Call(LIFT, (made,), {}).below()


def _trimmed(value: Tensor, ndim: int) -> Tensor:
    """The value without leading dimensions of size 1 that the target lacks."""
    if value.dim() <= ndim:
        return value
    shape = list(value.shape)
    while len(shape) > ndim and shape[0] == 1:
        del shape[0]
    return value if len(shape) == value.dim() else ops.view(value, shape)


def _is_index_list(index) -> bool:
    """Tells whether a list is a tuple written otherwise, as in numpy once: a
    short one that holds more than numbers.
    """
    return (
        isinstance(index, (list, range))
        and len(index) < 32
        and any(
            item is None
            or item is Ellipsis
            or isinstance(item, (Tensor, slice, list, tuple, range, str))
            for item in index
        )
    )


class _Indexer:
    """A view that the parts of an index shrink one by one, and the tensors
    that are left, with None for dimensions that they leave as they are.
    """

    def __init__(self, view: Tensor) -> None:
        self.view = view
        self.tensors: list = []
        self.dim = 0  # of the view that is indexed next
        # A mask has one place among the tensors, and several dimensions: by
        # how many places the list has fallen behind.
        self.behind = 0

    def apply(self, index) -> tuple[Tensor, list]:
        """Indexes what it can at once; returns what is left of the index."""
        several = isinstance(index, tuple) or _is_index_list(index)
        parts = list(index) if several else [index]
        count, dims = sum(map(_consumed, parts)), self.view.dim()
        check_indices(count, dims)
        rest = dims - count
        for part in parts:
            if part is Ellipsis:
                self.dim, rest = self.dim + rest, 0
            else:
                self._step(part)
        return self.view, self.tensors

    def _step(self, part) -> None:
        if part is None:
            self.view = ops.unsqueeze(self.view, self.dim)
            self.dim += 1
        elif isinstance(part, bool):
            self._put_flag(part)
        elif isinstance(part, slice):
            self._slice(part)
        elif isinstance(part, Tensor):
            self._step_tensor(part)
        elif isinstance(part, Sequence) or _is_array(part):
            self._step_tensor(_lifted(part))
        elif hasattr(part, "__index__"):
            self.view = ops.select(self.view, self.dim, operator.index(part))
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long "
                "or byte Variables are valid indices (got "
                f"{type(part).__name__})"
            )

    def _slice(self, part: slice) -> None:
        step = 1 if part.step is None else part.step
        if type(step) is int and step <= 0:
            raise ValueError(
                "step must be greater than zero"
                if step
                else "slice step cannot be zero"
            )
        bounds = [
            operator.index(bound) if isinstance(bound, Tensor) else bound
            for bound in (part.start, part.stop, step)
        ]
        if bounds[:2] != [None, None] or step != 1:
            start = 0 if bounds[0] is None else bounds[0]
            stop = sys.maxsize if bounds[1] is None else bounds[1]
            self.view = ops.slice(self.view, self.dim, start, stop, step)
        self.dim += 1

    def _step_tensor(self, part: Tensor) -> None:
        number = part.is_floating_point() or part.is_complex()
        if part.dim() or number:
            self._put(part)
        elif part.dtype in _MASKS:
            self._put_flag(bool(part))
        else:
            self.view = ops.select(self.view, self.dim, operator.index(part))

    def _put_flag(self, keep: bool) -> None:
        """A bool adds a dimension that it keeps or empties."""
        self.view = ops.unsqueeze(self.view, self.dim)
        self._put(_lifted([0] if keep else []))

    def _put(self, part: Tensor) -> None:
        self.tensors += [None] * (self.dim - self.behind - len(self.tensors))
        self.tensors.append(part)
        span = max(part.dim(), 1) if part.dtype in _MASKS else 1
        self.dim += span
        self.behind += span - 1


def _is_array(part) -> bool:
    """True for numpy's arrays, not its numbers: those are indices, too."""
    return hasattr(part, "__array__") and hasattr(part, "__len__")


def _consumed(part) -> int:
    """The dimensions that a part indexes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, Tensor) and part.dtype in _MASKS:
        return part.dim()
    return 1


def _lifted(numbers) -> Tensor:
    """The mask, or the integers, that a sequence or an array is."""
    with nobody_asked():
        made = _C.tensor(numbers)
    if made.dtype not in _MASKS:
        made = native(Tensor.long, (made,), {})
    return Call(LIFT, (made,), {}).below()
