"""Arguments and results of a schema, and what they share memory with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._types import ListType, OptionalType, StringType, Type

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


@dataclass(frozen=True)
class AliasInfo:
    """Memory that an argument or result shares with others: `(a! -> b)`.

    Of lists the sets are empty and the element's stand in `contained`.
    """

    is_write: bool
    before_set: frozenset[str] = frozenset()
    after_set: frozenset[str] = frozenset()
    contained: AliasInfo | None = None

    def __str__(self) -> str:
        if not self.before_set:
            return ""
        mark = "!" if self.is_write else ""
        text = "|".join(sorted(self.before_set)) + mark
        if self.after_set != self.before_set:
            text += f" -> {'|'.join(sorted(self.after_set))}"
        return f"({text})"


def _number(value: float) -> str:
    """17 digits, a point at the end of whole ones."""
    if value != value or value in (float("inf"), float("-inf")):
        return repr(value)
    text = f"{value:.17g}"
    return text if any(c in text for c in ".e") else f"{text}."


def _default(value, kind: Type) -> str:
    """A default value as schemas have it."""
    if isinstance(value, str):
        inside = kind
        while isinstance(inside, OptionalType):
            inside = inside.getElementType()
        if not isinstance(inside, StringType):
            return value
        return '"' + "".join(_ESCAPES.get(c, c) for c in value) + '"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_default(v, kind) for v in value)}]"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, complex):
        return f"{_number(value.real)}+{_number(value.imag)}j"
    return str(value)


@dataclass(frozen=True, eq=False)
class Argument:
    """An argument or a result.

    `type` is what values have (`int` for a `SymInt`), `real_type` what the
    schema says, `N` the length of a list of fixed length.
    """

    name: str
    type: Type
    real_type: Type
    N: int | None = None
    default_value: Any = None
    kwarg_only: bool = False
    alias_info: AliasInfo | None = None
    _has_default: bool = False

    def has_default_value(self) -> bool:
        """True if it may be left out."""
        return self._has_default

    @property
    def is_write(self) -> bool:
        """True if the operator writes to it."""
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        """True if it is written to and can be given by keyword alone."""
        return self.kwarg_only and self.is_write

    def _typed(self) -> str:
        kind, tail = self.real_type, ""
        if isinstance(kind, OptionalType):
            kind, tail = kind.getElementType(), "?"
        alias = self.alias_info
        if isinstance(kind, ListType):
            count = "" if self.N is None else self.N
            inner = alias.contained if alias else None
            element = kind.getElementType()
            optional = isinstance(element, OptionalType)
            if optional:
                element = element.getElementType()
            text = element._written(True) + str(inner or "")
            outer = str(alias or "")
            return f"{text}{'?' if optional else ''}[{count}]{outer}{tail}"
        return f"{kind._written(True)}{alias or ''}{tail}"

    def __str__(self) -> str:
        text = self._typed() + (f" {self.name}" if self.name else "")
        if self._has_default:
            text += f"={_default(self._short(), self.type)}"
        return text

    def _short(self):
        """The default; of a list of fixed length, its one value."""
        value = self.default_value
        same = isinstance(value, list) and self.N == len(value) > 0
        if same and all(v == value[0] for v in value):
            return value[0]
        return value

    def _key(self) -> tuple:
        return (
            self.name,
            self.type,
            self.N,
            self.kwarg_only,
            self._has_default,
            repr(self.default_value),
            self.alias_info,
        )

    def __eq__(self, other) -> bool:
        if not isinstance(other, Argument):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        # Types that hold others have no hash, and defaults may be lists.
        name, kind, *others, alias = self._key()
        return hash((name, kind.str(), *others, str(alias)))
