"""`torch._C.FunctionSchema`: the signature of an operator or a function."""

from __future__ import annotations

import ast
import functools
import re

from ._schemas import split

_ALIAS = re.compile(r"\(([a-z!*|> -]+)\)")
_LENGTH = re.compile(r"\[(\d+)\]")
# Numbers to the language, under these names in signatures.
_INTS = {"ScalarType", "Layout", "MemoryFormat", "SymInt"}
_NAMED_DEFAULTS = {
    "contiguous_format": 0,
    "strided": 0,
    "Mean": 1,
    "inf": float("inf"),
}


class _AliasInfo:
    """What an argument shares memory with."""

    def __init__(self, text: str) -> None:
        self.is_write = "!" in text
        before, _, after = text.replace("!", "").partition("->")
        self.before_set = set(re.findall(r"[a-z*]+", before))
        self.after_set = set(re.findall(r"[a-z*]+", after or before))


class Argument:
    """An argument or a result of a signature."""

    __module__ = "torch._C"

    def __init__(self, text: str, kwarg_only: bool) -> None:
        declared, equals, default = text.partition("=")
        type_text, _, name = declared.strip().rpartition(" ")
        if not type_text or not re.fullmatch(r"\w+", name):
            type_text, name = declared.strip(), ""
        alias = _ALIAS.search(type_text)
        self.name = name
        self.kwarg_only = kwarg_only
        self.alias_info = _AliasInfo(alias[1]) if alias else None
        length = _LENGTH.search(type_text)
        self.N = int(length[1]) if length else None
        self._type_text = _LENGTH.sub("[]", _ALIAS.sub("", type_text))
        self._default = default.strip() if equals else None

    @property
    def type(self):
        """Its type, where a dtype, a layout and so on are ints."""
        return self._read_type(_INTS)

    @property
    def real_type(self):
        """Its type as the signature names it."""
        return self._read_type({"SymInt"})

    def _read_type(self, ints):
        from .jit._ir.type_reader import read_type

        text = self._type_text
        word = re.match(r"\w+", text)
        if word and word[0] in ints:
            text = "int" + text[word.end() :]
        return read_type(text)

    @property
    def is_write(self) -> bool:
        """Whether it is written to."""
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        """Whether it is there to be written to: by name and without default."""
        return self.kwarg_only and self.is_write

    def has_default_value(self) -> bool:
        """Whether it may be left out."""
        return self._default is not None

    @property
    def default_value(self):
        """What it is when left out; None, too, if it must be given."""
        text = self._default
        if text is None or text in ("None", "none"):
            return None
        if text in _NAMED_DEFAULTS:
            return _NAMED_DEFAULTS[text]
        try:
            value = ast.literal_eval(text)
        except (SyntaxError, ValueError):
            return text
        return float(value) if self._type_text == "float" else value


class FunctionSchema:
    """`name.overload(arguments) -> results`, read when it is asked for parts.

    Equal to another of the same text. Immutable.
    """

    __module__ = "torch._C"

    def __init__(self, text: str) -> None:
        self._text = text

    @property
    def name(self) -> str:
        """The name: "aten::add"."""
        return self._text.partition("(")[0].partition(".")[0]

    @property
    def overload_name(self) -> str:
        """The overload's name, which may be empty."""
        return self._text.partition("(")[0].partition(".")[2]

    @functools.cached_property
    def _parts(self) -> tuple[list[Argument], list[Argument]]:
        start = self._text.index("(") + 1
        end = self._text.rindex(") ->")
        arguments, by_name = [], False
        for part in split(self._text[start:end]):
            if part == "*":
                by_name = True
            else:
                arguments.append(Argument(part, by_name))
        results = self._text[end + 4 :].strip()
        if results.startswith("(") and results.endswith(")"):
            parts = split(results[1:-1])
        else:
            parts = [results]
        return arguments, [Argument(part, False) for part in parts]

    @property
    def arguments(self) -> list[Argument]:
        """What it takes, in order."""
        return list(self._parts[0])

    @property
    def returns(self) -> list[Argument]:
        """What it gives."""
        return list(self._parts[1])

    @property
    def is_mutable(self) -> bool:
        """Whether it writes to an argument."""
        return any(argument.is_write for argument in self._parts[0])

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __eq__(self, other) -> bool:
        return isinstance(other, FunctionSchema) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def parse_schema(text: str) -> FunctionSchema:
    """The signature of that text. RuntimeError: it is none."""
    schema = FunctionSchema(text)
    try:
        for argument in (*schema.arguments, *schema.returns):
            argument.type  # noqa: B018  (reads it)
    except (ValueError, RuntimeError) as error:
        raise RuntimeError(f"{text!r} is no signature: {error}") from None
    return schema
