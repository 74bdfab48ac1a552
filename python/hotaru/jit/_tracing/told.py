"""Facts that a trace's graph tells of its values: types and Python names.

PyTorch's graphs say of each value of a trace the dtype, sizes and strides that
the example had, and the name of the variable that held it.
"""

from __future__ import annotations

import sys
import typing
import weakref

from ... import _C

if typing.TYPE_CHECKING:
    from ..._types import Type

_HERE = __file__.rpartition("/")[0] + "/"
_TRACE = __file__.rpartition("/_tracing/")[0] + "/_trace.py"
# Facts of methods by the methods' whole names, while their modules are there.
_METHODS: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class Told:
    """Facts of one program's values, by the names that its source has."""

    def __init__(self) -> None:
        # Facts of examples: those of a tensor, or a list of such for a tuple.
        self.known: dict[str, tuple | list] = {}
        self.names: dict[str, str] = {}
        self.lines: list[str] = []
        self._file = ""

    def note(self, name: str, value) -> None:
        """Keeps what is known of an example's value."""
        known = _known(value)
        if known is not None:
            self.known[name] = known

    def type(self, name: str, otherwise: Type) -> Type:
        """The type of a value, where the trace tells it."""
        known = self.known.get(name)
        return otherwise if known is None else _type(known)

    def call(self, name: str, value) -> None:
        """Names a value as the variable that holds it in the function that
        takes it first.
        """
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        known = {} if frame.f_code.co_filename == _TRACE else frame.f_locals
        found = (k for k, v in list(known.items()) if v is value)
        self.names[name] = next((k for k in found if k != "self"), "")

    def of(self, file: str) -> Told:
        """Says which source the facts are of."""
        self._file = f"<{file}>"
        return self

    def tells(self, place: tuple | None) -> bool:
        """Tells whether a node at that place is of this source."""
        if place is None or place[0] != self._file:
            return False
        line = place[1] - 2  # the first line is the header
        return 0 <= line < len(self.lines) and self.lines[line] in place[3]

    def names_at(self, place: tuple, count: int) -> list[str]:
        """Names that a line gives to so many results; none if it gives others."""
        names = self.lines[place[1] - 2].partition(" = ")[0].rstrip(",").split(", ")
        return names if len(names) == count else [""] * count


def _known(value) -> tuple | list | None:
    """Facts of a tensor, or of a tuple of such; None of anything else."""
    if isinstance(value, _C.Tensor):
        if value.layout is not _C.strided or value.is_nested:
            return None
        sizes, strides = tuple(value.shape), tuple(value.stride())
        return value.dtype, sizes, strides, value.requires_grad, value.device
    if type(value) is tuple and value:
        known = [_known(item) for item in value]
        return None if None in known else known
    return None


def _type(known: tuple | list) -> Type:
    from ..._types import TensorType, TupleType

    if isinstance(known, list):
        return TupleType([_type(part) for part in known])
    return TensorType.of(*known)


def keep(told: Told, owner, name: str = "") -> None:
    """Has graphs of a function, or of the method of that whole name, tell the
    facts as long as the owner is there.
    """
    vars(owner).setdefault("_told", []).append(told)
    if name:
        _METHODS[name] = told


def told_of(function) -> Told | None:
    """The facts of a compiled function or method, if a trace made it."""
    if isinstance(function, _C.ScriptFunction):
        return next(iter(vars(function).get("_told", ())), None)
    return _METHODS.get(f"{function.module.type_name}.{function.name}")
