"""The attributes of nodes: numbers, strings and so on, by name.

`i`, `f`, `s`, `t`, `ival` read one of that kind, `i_` and so on set it; `is`,
`fs`, `ss` are lists of them.
"""

# Names are PyTorch's.
# ruff: noqa: N802
from __future__ import annotations

from ... import _C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

_KINDS = ("i", "f", "c", "s", "t", "ival", "is", "fs", "ss", "ts", "ty", "tys")


def kind_of(value) -> str:
    """The kind that an attribute of this value has."""
    for kind, types in (
        ("i", (bool, int)),
        ("f", float),
        ("c", complex),
        ("t", _C.Tensor),
        ("s", (str, _C.device)),
    ):
        if isinstance(value, types):
            return kind
    return "ival"


def undefined(name: str) -> RuntimeError:
    """The error of an attribute that a node does not have."""
    return RuntimeError(f"required keyword attribute '{name}' is undefined")


class Attributes:
    """Values that nodes have by name, in the order in which they were set."""

    if TYPE_CHECKING:  # set on the class below, with `is`

        def i(self, name: str) -> int: ...
        def i_(self, name: str, value: int) -> Self: ...
        def f(self, name: str) -> float: ...
        def f_(self, name: str, value: float) -> Self: ...
        def c(self, name: str) -> complex: ...
        def c_(self, name: str, value: complex) -> Self: ...
        def s(self, name: str) -> str: ...
        def s_(self, name: str, value: str) -> Self: ...
        def t(self, name: str) -> _C.Tensor: ...
        def t_(self, name: str, value: _C.Tensor) -> Self: ...
        def ival(self, name: str) -> Any: ...
        def ival_(self, name: str, value: Any) -> Self: ...
        def is_(self, name: str, value: list[int]) -> Self: ...
        def fs(self, name: str) -> list[float]: ...
        def fs_(self, name: str, value: list[float]) -> Self: ...
        def ss(self, name: str) -> list[str]: ...
        def ss_(self, name: str, value: list[str]) -> Self: ...
        def ts(self, name: str) -> list[_C.Tensor]: ...
        def ts_(self, name: str, value: list[_C.Tensor]) -> Self: ...
        def ty(self, name: str) -> Any: ...
        def ty_(self, name: str, value: Any) -> Self: ...
        def tys(self, name: str) -> list[Any]: ...
        def tys_(self, name: str, value: list[Any]) -> Self: ...

    def __init__(self) -> None:
        self._values: dict[str, tuple] = {}  # kind and value

    @property
    def _attributes(self) -> Attributes:
        return self

    def value(self, name: str):
        """An attribute, whatever its kind. RuntimeError: there is none."""
        return self._entry(name)[1]

    def _entry(self, name: str) -> tuple:
        if name not in self._values:
            raise undefined(name)
        return self._values[name]

    def attributeNames(self) -> list[str]:
        """The names, in order."""
        return list(self._values)

    def hasAttributes(self) -> bool:
        """True if there are any."""
        return bool(self._values)

    def hasAttribute(self, name: str) -> bool:
        """True if there is one of that name."""
        return name in self._values

    def kindOf(self, name: str) -> str:
        """Its kind: "i" of an int, "ival" of what has none of its own."""
        return self._entry(name)[0]

    def removeAttribute(self, name: str):
        """Takes one away."""
        self._entry(name)
        self._changed()
        del self._values[name]
        return self

    def copyAttributes(self, node):
        """Has those of the other node in place of its own."""
        self._changed()
        self._values = dict(node._values)
        return self


def _reader(kind: str):
    def read(self, name: str):
        found, value = self._entry(name)
        if found != kind:
            raise RuntimeError(f"attribute '{name}' is of kind '{found}', not '{kind}'")
        return str(value) if kind == "s" else value

    def write(self, name: str, value):
        self._changed()
        self._values[name] = (kind, value)
        return self

    read.__doc__ = f"The attribute of kind {kind!r} of that name."
    write.__doc__ = f"Sets an attribute of kind {kind!r}; gives the node."
    return read, write


for _kind in _KINDS:
    _read, _write = _reader(_kind)
    setattr(Attributes, _kind, _read)
    setattr(Attributes, f"{_kind}_", _write)
