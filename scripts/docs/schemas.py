"""Signatures of operators in Python's words, made of their schemas."""

from __future__ import annotations

import re

_TYPES = {
    "Scalar": "Number",
    "SymInt": "int",
    "ScalarType": "dtype",
    "Layout": "layout",
    "MemoryFormat": "memory_format",
    "Device": "device",
}
_DEFAULTS = {"contiguous_format": "torch.contiguous_format", "Mean": "1"}


class Parameter:
    """A parameter of a schema."""

    def __init__(self, text: str):
        declared, self.equals, self.default = text.partition("=")
        kind, _, self.name = declared.rpartition(" ")
        self.mutated = "!" in kind
        self.kind = type_of(kind)

    def __str__(self) -> str:
        if not self.equals:
            return f"{self.name}: {self.kind}"
        default = _DEFAULTS.get(self.default, self.default)
        return f"{self.name}: {self.kind} = {default}"


def type_of(text: str) -> str:
    """Python's words for a type: "int[2]?" is "int | tuple[int, ...] | None"."""
    text = re.sub(r"\([a-z*!| >-]+\)", "", text.strip())
    if text.endswith("?"):
        return f"{type_of(text[:-1])} | None"
    listed = re.fullmatch(r"(.*)\[(\d*)\]", text)
    if listed:
        inner = type_of(listed[1])
        many = f"list[{inner}]"
        return f"{inner} | {many}" if listed[2] else many
    return _TYPES.get(text, text)


def split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


class Schema:
    """One overload of an operator."""

    def __init__(self, text: str):
        self.text = text
        head, _, rest = text.partition("(")
        self.name = head.partition(".")[0]
        inside, _, result = rest.rpartition(") -> ")
        self.parts = split(inside)
        self.result = self._result(result)

    @staticmethod
    def _result(text: str) -> str:
        if not text.startswith("("):
            return type_of(text.partition(" ")[0])
        parts = [
            type_of(part.rpartition(" ")[0] if " " in part else part)
            for part in split(text[1:-1])
        ]
        return f"({', '.join(parts)})" if parts else "None"

    @property
    def parameters(self) -> list[Parameter]:
        return [Parameter(part) for part in self.parts if part != "*"]

    def shown(self, name: str, method: bool) -> str:
        """The signature under a public name; a method's leaves self out."""
        parts = [part if part == "*" else str(Parameter(part)) for part in self.parts]
        own = [i for i, p in enumerate(parts) if p.startswith("self:")]
        if method:
            parts = [p for i, p in enumerate(parts) if i not in own[:1]]
        else:
            parts = [re.sub("^self:", "input:", p) for p in parts]
        call = f"{name}({', '.join(parts)})"
        if len(call) > 76:
            call = f"{name}(\n    " + ",\n    ".join(parts) + ",\n)"
        return f"{call} -> {self.result}"


def schemas_of(op) -> list[Schema]:
    """The overloads that an operator's object has."""
    return [Schema(line) for line in (op.__doc__ or "").splitlines() if "(" in line]


def base_of(name: str) -> str:
    """The operator that one in place, or with `out=`, is a form of."""
    if name.startswith("__"):
        return name
    return re.sub(r"(_out|_)$", "", name)
