"""Methods and attributes of tensors that are not operators, made of those."""

from __future__ import annotations

import operator
from typing import Callable

from .. import _C
from .._C import Tensor, ops
from .._extension.size import Size
from .._ops import aten
from .calls import Call
from .stack import native, nobody_asked

_SLOTS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul",
    "__rmul__": "mul", "__truediv__": "div", "__div__": "div",
    "__floordiv__": "floor_divide", "__mod__": "remainder", "__pow__": "pow",
    "__matmul__": "matmul", "__and__": "bitwise_and",
    "__rand__": "bitwise_and", "__or__": "bitwise_or",
    "__ror__": "bitwise_or", "__xor__": "bitwise_xor",
    "__rxor__": "bitwise_xor", "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift", "__eq__": "eq", "__ne__": "ne",
    "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
    "__neg__": "neg", "__abs__": "abs", "__invert__": "bitwise_not",
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_",
    "__itruediv__": "div_", "__ipow__": "pow_", "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_",
    "__imod__": "remainder_", "__ifloordiv__": "floor_divide_",
}  # fmt: skip
_REFLECTED = {
    "__rtruediv__": "div", "__rfloordiv__": "floor_divide",
    "__rmod__": "remainder", "__rpow__": "pow", "__rmatmul__": "matmul",
    "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift",
}  # fmt: skip


def find(function) -> Callable | None:
    """What does the same by operators; None if it is about the tensor alone."""
    name = function.__name__
    if name == "__get__":
        return _ATTRIBUTES.get(function.__self__.__name__)
    return _METHODS.get(name)


def get_item(self: Tensor, index) -> Tensor:
    """self[index]: selections and slices, then at most one of elements."""
    result, tensors = _basic(self, index)
    return ops.index(result, tensors) if tensors else result


def set_item(self: Tensor, index, value) -> None:
    """self[index] = value."""
    view, tensors = _basic(self, index)
    if not isinstance(value, Tensor):
        value = ops.full((), value, dtype=self.dtype, device=self.device)
    if tensors:
        ops.index_put_(view, tensors, value)
    else:
        ops.copy_(view, value)


def _basic(self: Tensor, index) -> tuple[Tensor, list]:
    """A view after integers, slices and None; the tensors that are left, with
    None for dimensions they leave as they are.
    """
    parts = list(index) if isinstance(index, tuple) else [index]
    known = sum(_dims_of(part) for part in parts)
    if Ellipsis not in [p for p in parts if not isinstance(p, Tensor)]:
        parts.append(Ellipsis)
    place = next(i for i, p in enumerate(parts) if p is Ellipsis)
    parts[place : place + 1] = [slice(None)] * (self.dim() - known)
    result, dim, tensors = self, 0, []
    for part in parts:
        if part is None:
            result = ops.unsqueeze(result, dim)
        elif isinstance(part, slice):
            if part != slice(None):
                result = ops.slice(
                    result, dim, part.start, part.stop, part.step or 1
                )
        elif isinstance(part, (Tensor, list)):
            tensors += [None] * (dim - len(tensors))
            tensors.append(part if isinstance(part, Tensor) else _lifted(part))
            dim += _dims_of(part) - 1
        else:
            result = ops.select(result, dim, operator.index(part))
            continue
        dim += 1
    return result, tensors


def _lifted(numbers: list) -> Tensor:
    with nobody_asked():
        made = _C.tensor(numbers)
    if made.numel() == 0:
        made = native(Tensor.long, (made,), {})
    return Call(LIFT, (made,), {}).below()


def _dims_of(part) -> int:
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, Tensor) and part.dtype == _C.bool:
        return part.dim()
    return 1


class Question:
    """An operator that gives no tensor: `aten._local_scalar_dense`."""

    namespace = "aten"
    _overloadname = "default"
    __module__ = "torch.ops.aten"

    def __init__(self, name: str, answer: Callable) -> None:
        self.__name__ = f"{name}.default"
        self._name, self._answer = name, answer
        self.default = self.overloadpacket = self
        setattr(aten, name, self)

    @property
    def tags(self) -> list:
        """None: it is no operator."""
        return []

    @property
    def is_view(self) -> bool:
        """Whether it gives a view: no."""
        return False

    def name(self) -> str:
        """As in "aten::sym_size"."""
        return f"aten::{self._name}"

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __call__(self, *args):
        if _C._dispatch_applies(*args):
            return Call(self, args, {}).below()
        return self._answer(*args)


_SCALAR = Question("_local_scalar_dense", lambda x: x.item())
# Of a tensor that a program just made of numbers; see `lifted`.
LIFT = Question("lift_fresh", lambda x: x)
_SIZE = Question("sym_size", lambda x: list(x.shape))
_STRIDE = Question("sym_stride", lambda x: list(x.stride()))
_OFFSET = Question("sym_storage_offset", lambda x: x.storage_offset())
_NUMEL = Question("sym_numel", lambda x: x.numel())
_DIM = Question("dim", lambda x: x.dim())
#: Those about a tensor's geometry.
QUESTIONS = (_SIZE, _STRIDE, _OFFSET, _NUMEL, _DIM)


def _item(self: Tensor):
    return Call(_SCALAR, (self,), {}).below()


def _asked(question: Question, usual: Callable, strides: bool = False):
    """What a class is asked for that said so when it made the tensor."""

    def call(self, *args):
        policy = self.__dict__.get("_asked_for")
        if policy is None or (strides and policy != "strides"):
            return native(usual, (self, *args), {})
        found = Call(question, (self,), {}).below()
        if isinstance(found, (list, tuple)):
            found = Size(found)
        return found[args[0]] if args else found

    return call


def _refuse(name: str, rest: str) -> Callable:
    usual = getattr(Tensor, name)

    def call(self, *args, **kwargs):
        if not _C._dispatches(self):  # a mode is asked for operators alone
            return native(usual, (self, *args), kwargs)
        raise RuntimeError(
            f".{name}() is not supported for tensor subclasses"
            + rest.format(type(self).__name__)
        )

    return call


def _reflected(name: str) -> Callable:
    def call(self, other):
        if not isinstance(other, Tensor):
            other = ops.full((), other, device=self.device)
        return getattr(ops, name)(other, self)

    return call


_METHODS: dict[str, Callable] = {
    **{slot: getattr(ops, name) for slot, name in _SLOTS.items()
       if hasattr(ops, name)},
    **{slot: _reflected(name) for slot, name in _REFLECTED.items()},
    "__rsub__": ops.rsub,
    "size": _asked(_SIZE, Tensor.size),
    "stride": _asked(_STRIDE, Tensor.stride, True),
    "storage_offset": _asked(_OFFSET, Tensor.storage_offset, True),
    "numel": _asked(_NUMEL, Tensor.numel),
    "nelement": _asked(_NUMEL, Tensor.numel),
    "dim": _asked(_DIM, Tensor.dim),
    "__getitem__": get_item,
    "__setitem__": set_item,
    "__iter__": lambda self: iter(ops.unbind(self, 0)),
    "item": _item,
    "tolist": _refuse("tolist", ", got {}"),
    "numpy": _refuse("numpy", "."),
    "__bool__": lambda self: bool(_item(self)),
    "__float__": lambda self: float(_item(self)),
    "__int__": lambda self: int(_item(self)),
    "__index__": lambda self: operator.index(_item(self)),
}  # fmt: skip
_ATTRIBUTES: dict[str, Callable] = {
    "shape": _asked(_SIZE, Tensor.shape.__get__),
    "T": lambda self: ops.permute(self, tuple(reversed(range(self.dim())))),
    "mT": lambda self: ops.transpose(self, -2, -1),
    "data": ops.detach,
}
