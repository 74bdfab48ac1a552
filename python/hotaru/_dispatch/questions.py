"""Operators that give no tensor, which classes and modes are asked for."""

from __future__ import annotations

from collections.abc import Callable

from .. import _C
from .._dims import no_dimensions, wrap_dim
from .._ops import _packet, aten
from .calls import Call


class _Overload:
    """An overload of `aten`, of which there is one object."""

    namespace = "aten"
    __module__ = "torch.ops.aten"

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Question(_Overload):
    """An operator that gives no tensor: `aten._local_scalar_dense`. It is its
    packet, too.
    """

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

    def overloads(self) -> list[str]:
        """Their names: the default one alone."""
        return ["default"]

    def __reduce__(self):
        return _packet, (self._name,)

    def __call__(self, /, *args, **kwargs):
        x = self._asked_of(args, kwargs)
        if _C._dispatch_applies(x):
            return Call(self, (x,), {}).below()
        return self._answer(x)

    def _asked_of(self, args: tuple, kwargs: dict):
        """The tensor. RuntimeError for other arguments."""
        values = (*args, *kwargs.values())
        if len(values) == 1 and not kwargs.keys() - {"self"}:
            if isinstance(values[0], _C.Tensor):
                return values[0]
            raise RuntimeError(
                f"{self.name()}() Expected a value of type 'Tensor' for "
                "argument 'self' but instead found type "
                f"'{type(values[0]).__name__}'."
            )
        raise RuntimeError(
            f"{self.name()}() takes one argument, self, but got {len(values)}"
        )


class QuestionOfDim(_Overload):
    """Overload `int` of a question whose answer is a list: one of its items."""

    _overloadname = "int"
    __module__ = "torch.ops.aten"

    def __init__(self, whole: Question) -> None:
        self.overloadpacket = whole
        self.__name__ = f"{whole._name}.int"
        whole.int = self

    def name(self) -> str:
        """As in "aten::sym_size.int"."""
        return f"aten::{self.__name__}"

    def __reduce__(self):
        return getattr, (self.overloadpacket, "int")

    def __call__(self, /, self_, dim: int):
        answer = self.overloadpacket(self_)
        count = len(answer)
        if not count:
            raise no_dimensions(dim)
        return answer[wrap_dim(dim, count)]


SCALAR = Question("_local_scalar_dense", lambda x: x.item())
# Asked of a tensor that a program just made of numbers; see `lifted`.
LIFT = Question("lift_fresh", lambda x: x)
SIZE = Question("sym_size", lambda x: list(x.shape))
STRIDE = Question("sym_stride", lambda x: list(x.stride()))
for _whole in (SIZE, STRIDE):
    QuestionOfDim(_whole)
OFFSET = Question("sym_storage_offset", lambda x: x.storage_offset())
NUMEL = Question("sym_numel", lambda x: x.numel())
DIM = Question("dim", lambda x: x.dim())
#: Questions about a tensor's geometry.
QUESTIONS = (SIZE, STRIDE, OFFSET, NUMEL, DIM)
