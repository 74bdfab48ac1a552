"""Methods and attributes of tensors that are not operators, made of those."""

from __future__ import annotations

import operator
from typing import Callable

from .. import _C
from .._answering.names import base_name, form, words
from .._C import Tensor, ops
from .._extension.size import Size
from .._ops import aten
from .calls import Call, sees_whole
from .indexing import get_item, set_item
from .questions import DIM, NUMEL, OFFSET, SCALAR, SIZE, STRIDE, Question
from .record import run
from .stack import native

_SLOTS = words(
    "add radd sub mul rmul truediv div floordiv mod pow matmul and rand or ror "
    "xor rxor lshift rshift eq ne lt le gt ge neg abs invert iadd isub imul "
    "itruediv ipow iand ior ixor imod ifloordiv"
)
_REFLECTED = words("rtruediv rfloordiv rmod rpow rmatmul rlshift rrshift")


def find(function) -> Callable | None:
    """Finds what does the same by operators; None if about the tensor alone."""
    name = function.__name__
    if name == "__get__":
        return _ATTRIBUTES.get(function.__self__.__name__)
    return _METHODS.get(name)


def _item(self: Tensor):
    return Call(SCALAR, (self,), {}).below()


def _asked(question: Question, usual: Callable, strides: bool = False):
    """Puts a question to a class that said so when it made the tensor."""

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


# Overloads of a number and a tensor.
_OF_NUMBERS = {
    "pow": "Scalar",
    "remainder": "Scalar_Tensor",
    "bitwise_left_shift": "Scalar_Tensor",
    "bitwise_right_shift": "Scalar_Tensor",
}


def _reflected(name: str) -> Callable:
    def call(self, other):
        if not isinstance(other, Tensor):
            overload = _OF_NUMBERS.get(name)
            if overload is not None and not sees_whole((self,)):
                return run(
                    Call(getattr(getattr(aten, name), overload), (other, self), {})
                )
            other = ops.full((), other, device=self.device)
        return getattr(ops, name)(other, self)

    return call


def _rsub(self, other):
    if isinstance(other, Tensor) and not sees_whole((self, other)):
        return run(Call(aten.rsub.Tensor, (self, other), {}))
    return ops.rsub(self, other)


def _shift(name: str, usual: Callable) -> Callable:
    def call(self, other):
        if sees_whole((self, other)):
            return usual(self, other)
        overload = "Tensor" if isinstance(other, Tensor) else "Scalar"
        packet = getattr(aten, name)
        return run(Call(getattr(packet, overload), (self, other), {}))

    return call


def _as_number(name: str, convert: Callable) -> Callable:
    def call(self):
        if self.numel() != 1:  # the error of any tensor
            return getattr(ops.zeros(1).expand(self.numel()), name)()
        return convert(_item(self))

    return call


_METHODS: dict[str, Callable] = {
    **{f"__{slot}__": getattr(ops, form(f"__{slot}__").same) for slot in _SLOTS},
    **{f"__{slot}__": _reflected(base_name(f"__{slot}__")) for slot in _REFLECTED},
    "__rsub__": _rsub,
    "__lshift__": _shift("__lshift__", ops.bitwise_left_shift),
    "__rshift__": _shift("__rshift__", ops.bitwise_right_shift),
    "__ilshift__": _shift("__ilshift__", ops.bitwise_left_shift_),
    "__irshift__": _shift("__irshift__", ops.bitwise_right_shift_),
    "size": _asked(SIZE, Tensor.size),
    "stride": _asked(STRIDE, Tensor.stride, True),
    "storage_offset": _asked(OFFSET, Tensor.storage_offset, True),
    "numel": _asked(NUMEL, Tensor.numel),
    "nelement": _asked(NUMEL, Tensor.numel),
    "dim": _asked(DIM, Tensor.dim),
    "__getitem__": get_item,
    "__setitem__": set_item,
    "__iter__": lambda self: iter(ops.unbind(self, 0)),
    "item": _as_number("item", lambda number: number),
    "tolist": _refuse("tolist", ", got {}"),
    "numpy": _refuse("numpy", "."),
    "is_nonzero": _as_number("is_nonzero", bool),
    "__bool__": _as_number("__bool__", bool),
    "__float__": _as_number("__float__", float),
    "__int__": _as_number("__int__", int),
    "__index__": _as_number("__index__", operator.index),
}
_ATTRIBUTES: dict[str, Callable] = {
    "shape": _asked(SIZE, Tensor.shape.__get__),
    "T": lambda self: ops.permute(self, tuple(reversed(range(self.dim())))),
    "mT": lambda self: ops.transpose(self, -2, -1),
    "data": ops.detach,
}
