"""Signatures from the text of operators' schemas."""

from __future__ import annotations

import ast
import functools
import inspect
import keyword
import numbers
import typing

from .. import Generator, Tensor, device

_TYPES = {
    "Tensor": Tensor,
    "int": int,
    "SymInt": int,
    "float": float,
    "bool": bool,
    "str": str,
    "complex": complex,
    "Scalar": numbers.Number,
    "ScalarType": int,
    "Layout": int,
    "MemoryFormat": int,
    "Device": device,
    "Generator": Generator,
    "Any": typing.Any,
}


def _type_of(text: str):
    """The Python type of one in a schema: "int[2]?"."""
    if text.endswith("?"):
        return typing.Optional[_type_of(text[:-1])]
    if text.endswith("]"):
        return typing.List[_type_of(text[: text.rindex("[")])]
    name = text.partition("(")[0]
    if "(" in text:  # an alias: "Tensor(a!)[]"
        return _type_of(name + text[text.rindex(")") + 1 :])
    return _TYPES.get(name, typing.Any)


def _default_of(text: str):
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return {"True": True, "False": False, "None": None}.get(text, text)


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


@functools.cache
def signature(schema: str) -> inspect.Signature:
    """Signature of "add.Tensor(Tensor self, *, Scalar alpha=1) -> Tensor"; the
    first parameter is called input, as in Python.
    """
    inside, _, result = schema[schema.index("(") + 1 :].rpartition(") -> ")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    for part in split(inside):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        declared, equals, default = part.partition("=")
        kind_text, _, name = declared.rpartition(" ")
        name = "input" if name == "self" else name
        if keyword.iskeyword(name):
            # It can be passed by position alone; so can those before it.
            parameters = [
                p.replace(kind=inspect.Parameter.POSITIONAL_ONLY) for p in parameters
            ]
            name = f"{name}_"
        value = _default_of(default) if equals else inspect.Parameter.empty
        parameters.append(
            inspect.Parameter(name, kind, default=value, annotation=_type_of(kind_text))
        )
    return inspect.Signature(parameters, return_annotation=_result_type(result))


def _result_type(text: str):
    if not text.startswith("("):
        return _type_of(text)
    parts = [_type_of(part.rpartition(" ")[0] or part) for part in split(text[1:-1])]
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else typing.Tuple[tuple(parts)]
