"""Reads the text of a schema."""

from __future__ import annotations

import ast
import functools
import re

from .. import _types as t
from .argument import AliasInfo, Argument
from .schema import FunctionSchema

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?)
    |(?P<ident>[A-Za-z_][A-Za-z_0-9]*)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<mark>\.\.\.|->|::|[][().,=*?!|-])
    )""",
    re.VERBOSE,
)
_NAMES = {
    "contiguous_format": 0,
    "strided": 0,
    "Mean": 1,
    "True": True,
    "False": False,
    "None": None,
    "inf": float("inf"),
    "nan": float("nan"),
}
_GUIDE = (
    "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func"
)
_INSTEAD = {"int64_t": "`SymInt` or `int`", "double": "`float`"}


class _Text:
    """The words of a schema, read from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: list[tuple[str, str, int]] = []
        self._next = 0
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                raise RuntimeError(self.pointed("unexpected character", at, at + 1))
            kind = found.lastgroup
            word = found[kind]
            self._words.append(
                (word if kind == "mark" else kind, word, found.start(kind))
            )
            at = found.end()

    def pointed(self, message: str, start: int, end: int) -> str:
        """The message with the text below it and a mark under a part."""
        if start == 0 or start >= len(self._text):
            return f"{message}:\n{self._text}"
        mark = " " * start + "~" * (end - start)
        return f"{message}:\n{self._text}\n{mark} <--- HERE\n"

    def kind(self, ahead: int = 0) -> str:
        """Kind of the next word: "ident", "number", "string", "eof", a mark."""
        at = self._next + ahead
        return self._words[at][0] if at < len(self._words) else "eof"

    def word(self) -> str:
        """The next word, which stays."""
        at = self._next
        return self._words[at][1] if at < len(self._words) else ""

    def take(self) -> str:
        """The next word."""
        word = self.word()
        self._next += 1
        return word

    def taken(self, kind: str) -> bool:
        """Takes the next word if it is of that kind."""
        if self.kind() != kind:
            return False
        self._next += 1
        return True

    def expect(self, kind: str) -> str:
        """The next word; RuntimeError where it is of another kind."""
        found = self.kind()
        if found != kind:
            shown = {"->": "arrow"}.get(kind, kind)
            raise self._here(f"expected {shown} but found '{found}' here")
        return self.take()

    def error(self, message: str) -> RuntimeError:
        """The message, on its own line, with a mark under the next word."""
        return self._here(f"\n{message}")

    def _here(self, message: str) -> RuntimeError:
        if self._next < len(self._words):
            _, word, start = self._words[self._next]
        else:
            word, start = "", len(self._text)
        return RuntimeError(self.pointed(message, start, start + len(word)))

    def back(self) -> None:
        """Gives the last word back."""
        self._next -= 1


class _Parser:
    def __init__(self, text: str, variables: bool) -> None:
        self._words = _Text(text)
        self._variables = variables
        self._fresh = 0

    def schema(self) -> FunctionSchema:
        """The whole text."""
        name, overload = self._name()
        if self._words.kind() != "(":
            self._words.expect("eof")
            raise RuntimeError(
                "Tried to parse a function schema but only the operator name was given"
            )
        arguments, vararg = self._arguments()
        self._words.expect("->")
        returns, varret = self._returns()
        self._words.expect("eof")
        return FunctionSchema(name, overload, arguments, returns, vararg, varret)

    def _name(self) -> tuple[str, str]:
        words = self._words
        name = words.expect("ident")
        while words.taken("::"):
            name += f"::{words.expect('ident')}"
        overload = words.expect("ident") if words.taken(".") else ""
        if overload == "default":
            raise RuntimeError(
                "default is not a legal overload name for aten operators"
            )
        return name, overload

    def _arguments(self) -> tuple[list[Argument], bool]:
        words = self._words
        words.expect("(")
        found: list[Argument] = []
        keyword = vararg = False
        while not words.taken(")"):
            if vararg:
                raise words.error("... must be the last element of the schema")
            if words.taken("..."):
                vararg = True
            elif words.taken("*"):
                keyword = True
            else:
                found.append(self._argument(keyword))
            if words.kind() != ")" and not words.taken(","):
                words.expect(")")
        self._check(found, vararg)
        return found, vararg

    def _check(self, arguments: list[Argument], vararg: bool) -> None:
        seen = False
        for argument in arguments:
            seen = seen or argument.has_default_value()
            if seen and not (argument.has_default_value() or argument.kwarg_only):
                raise RuntimeError(
                    "Non-default positional argument follows default argument. "
                    f"Parameter {argument.name}"
                )
        if vararg and seen:
            raise self._words.error(
                "schemas with vararg (...) can't have default value args"
            )

    def _returns(self) -> tuple[list[Argument], bool]:
        words = self._words
        if words.taken("..."):
            return [], True
        if not words.taken("("):
            return [self._returned(named=False)], False
        found = []
        while not words.taken(")"):
            if words.taken("..."):
                words.expect(")")
                return found, True
            found.append(self._returned(named=True))
            if words.kind() != ")" and not words.taken(","):
                words.expect(")")
        return found, False

    def _returned(self, named: bool) -> Argument:
        kind, real, size, alias = self._type()
        name = ""
        if self._words.kind() == "ident":
            name = self._words.take()
        return Argument(name, kind, real, size, alias_info=alias)

    def _argument(self, keyword: bool) -> Argument:
        kind, real, size, alias = self._type()
        name = self._words.expect("ident")
        has = self._words.taken("=")
        value = self._default(kind, size) if has else None
        return Argument(name, kind, real, size, value, keyword, alias, has)

    def _type(self):
        """(type, as the schema says it, length of a list, alias)."""
        words = self._words
        if words.taken("("):
            parts = [self._type()]
            while words.taken(","):
                parts.append(self._type())
            words.expect(")")
            kind = t.TupleType([p[0] for p in parts])
            real = t.TupleType([p[1] for p in parts])
        else:
            kind, real = self._named()
        alias, size = self._alias(), None
        while True:
            if words.kind() == "[":
                words.take()
                if words.kind() == "number":
                    size = int(words.take())
                words.expect("]")
                kind, real = t.ListType(kind), t.ListType(real)
                inner, alias = alias, self._alias()
                if inner is not None:
                    outer = alias or AliasInfo(inner.is_write)
                    alias = AliasInfo(
                        outer.is_write, outer.before_set, outer.after_set, inner
                    )
            elif words.taken("?"):
                kind, real = t.OptionalType(kind), t.OptionalType(real)
            else:
                return kind, real, size, alias

    def _named(self) -> tuple[t.Type, t.Type]:
        words = self._words
        name = words.expect("ident")
        if name in t.REAL:
            return t.SINGLE["int"], t.REAL[name]
        if name in t.SINGLE:
            return t.SINGLE[name], t.SINGLE[name]
        if name == "Dict":
            words.expect("(")
            key = self._type()
            words.expect(",")
            value = self._type()
            words.expect(")")
            return t.DictType(key[0], value[0]), t.DictType(key[1], value[1])
        if name == "Union":
            words.expect("(")
            parts = [self._type()]
            while words.taken(","):
                parts.append(self._type())
            words.expect(")")
            return t.UnionType([p[0] for p in parts]), t.UnionType(
                [p[1] for p in parts]
            )
        if name in ("Future", "RRef"):
            made = t.FutureType if name == "Future" else t.RRefType
            words.expect("(")
            inner = self._type()
            words.expect(")")
            return made(inner[0]), made(inner[1])
        if name == "__torch__":
            while words.taken("."):
                name += f".{words.expect('ident')}"
            kind = t.ClassType(name)
            return kind, kind
        if name[0].islower() and self._variables:
            kind = t.VarType(name)
            return kind, kind
        words.back()
        raise self._unknown(name)

    def _unknown(self, name: str) -> RuntimeError:
        if name in _INSTEAD:
            return self._words.error(
                f"`{name}` is not a supported type specifier for schemas. "
                f"Use {_INSTEAD[name]} instead"
            )
        return self._words.error(
            "unknown type specifier. Common valid schema types include "
            "Tensor, SymInt, int, float, bool, Scalar; for a full list, "
            f"please see {_GUIDE} "
        )

    def _alias(self) -> AliasInfo | None:
        words = self._words
        if words.taken("!"):  # of a memory without a name
            name = frozenset((f"${self._fresh}",))
            self._fresh += 1
            return AliasInfo(True, name, name)
        if words.kind() != "(":
            return None
        words.take()
        before = self._set()
        write = words.taken("!")
        after = before
        if words.taken("->"):
            after = self._set()
        words.expect(")")
        return AliasInfo(write, before, after)

    def _set(self) -> frozenset[str]:
        names = []
        while True:
            taken = self._words.taken("*")
            names.append("*" if taken else self._words.expect("ident"))
            if not self._words.taken("|"):
                return frozenset(names)

    def _default(self, kind: t.Type, size: int | None):
        words = self._words
        optional = isinstance(kind, t.OptionalType)
        while isinstance(kind, t.OptionalType):
            kind = kind.getElementType()
        if optional and words.word() == "None":
            words.take()
            return None
        if isinstance(kind, (t.TensorType, t.GeneratorType)):
            if words.word() != "None":
                words.expect("None")
            words.take()
            return None
        if isinstance(kind, t.ListType):
            element = kind.getElementType()
            if words.kind() != "[":
                one = self._single(element)
                return one if one is None else [one] * (size or 1)
            return self._listed(element)
        return self._single(kind)

    def _listed(self, element: t.Type) -> list:
        words = self._words
        words.expect("[")
        found = []
        while not words.taken("]"):
            found.append(self._single(element))
            if words.kind() != "]":
                words.expect(",")
        return found

    def _single(self, kind: t.Type):
        words = self._words
        found = words.kind()
        if found == "string":
            text = ast.literal_eval(words.take())
            return _device(text) if isinstance(kind, t.DeviceObjType) else text
        if found == "ident":
            name = words.take()
            if isinstance(kind, t.DeviceObjType):
                return _device(name)
            if name not in _NAMES:
                return _number_of(name)
            value = _NAMES[name]
        elif found == "number":
            value = ast.literal_eval(words.take())
        else:
            raise words.error("invalid numeric default value")
        if isinstance(kind, t.FloatType) and type(value) is int:
            return float(value)
        if isinstance(kind, t.ComplexType):
            return complex(value)
        return value


def _number_of(name: str):
    """The number of a dtype; the name itself for anything else."""
    from .. import _C

    found = getattr(_C, name, None)
    return _C._dtype_number(found) if isinstance(found, _C.dtype) else name


def _device(text: str):
    from .. import device

    return device(text)


@functools.lru_cache(maxsize=4096)
def parse_schema(schema: str, allow_typevars: bool = True) -> FunctionSchema:
    """The schema that a text describes.

    Args:
        schema: the text.
        allow_typevars: whether a name in small letters that is no type stands
            for any type; it is refused otherwise.

    Raises:
        RuntimeError: the text is none, with the place.
    """
    return _Parser(schema, allow_typevars).schema()
