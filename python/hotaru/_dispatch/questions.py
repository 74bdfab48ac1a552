"""Operators that give no tensor, which classes and modes are asked for."""

from __future__ import annotations

from collections.abc import Callable

from .. import _C
from .._ops import aten
from .calls import Call


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
        """Tells whether the question gives a view: no."""
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


SCALAR = Question("_local_scalar_dense", lambda x: x.item())
# Asked of a tensor that a program just made of numbers; see `lifted`.
LIFT = Question("lift_fresh", lambda x: x)
SIZE = Question("sym_size", lambda x: list(x.shape))
STRIDE = Question("sym_stride", lambda x: list(x.stride()))
OFFSET = Question("sym_storage_offset", lambda x: x.storage_offset())
NUMEL = Question("sym_numel", lambda x: x.numel())
DIM = Question("dim", lambda x: x.dim())
#: Questions about a tensor's geometry.
QUESTIONS = (SIZE, STRIDE, OFFSET, NUMEL, DIM)
