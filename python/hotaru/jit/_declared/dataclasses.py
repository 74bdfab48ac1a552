"""Source of the methods that `dataclass` makes, which has none to read."""

from __future__ import annotations

import dataclasses

_ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def is_made(function) -> bool:
    """True if `dataclass` made the function: it stands in no file, or in its own."""
    return (
        function.__code__.co_filename == "<string>"
        or function.__module__ == "dataclasses"  # __replace__, from 3.13 on
        or hasattr(function, "__wrapped__")
    )


def defaults_of_dataclass(cls: type) -> dict:
    """The defaults of `__init__`."""
    return {
        field.name: field.default
        for field in dataclasses.fields(cls)
        if field.init and field.default is not dataclasses.MISSING
    }


def methods_of_dataclass(cls: type, type_text) -> dict[str, str]:
    """Name and source of each method that the class did not write itself.

    `type_text` gives the source of an annotation.

    NotImplementedError: a field is made by a function.
    """
    fields = dataclasses.fields(cls)
    for field in fields:
        if field.default_factory is not dataclasses.MISSING:
            raise NotImplementedError(
                "Default factory initializers are not supported in "
                "TorchScript dataclasses"
            )
    made = {
        name: text
        for name, text in (
            ("__init__", _init(cls, fields, type_text)),
            ("__eq__", _equal(cls, fields)),
        )
        if is_made(getattr(cls, name))
    }
    if "__lt__" in vars(cls) and is_made(cls.__lt__):
        compared = [field for field in fields if field.compare]
        for name, sign in _ORDER.items():
            made[name] = _ordered(cls, name, sign, compared)
    return made


def _init(cls: type, fields, type_text) -> str:
    parameters, lines = ["self"], []
    for field in fields:
        if not field.init:
            continue
        text = type_text(field.type)
        default = ""
        if field.default is not dataclasses.MISSING:
            default = " = None"  # see defaults_of_dataclass
        parameters.append(f"{field.name}: {text}{default}")
        lines.append(f"self.{field.name} = {field.name}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return _function("__init__", parameters, "None", lines or ["pass"])


def _equal(cls: type, fields) -> str:
    terms = [f"self.{f.name} == other.{f.name}" for f in fields if f.compare]
    line = f"return {' and '.join(terms) or 'True'}"
    return _function("__eq__", _two(cls), "bool", [line])


def _ordered(cls: type, name: str, sign: str, fields) -> str:
    # The first field that differs decides.
    lines = []
    for field in fields:
        own, others = f"self.{field.name}", f"other.{field.name}"
        lines += [f"if {own} != {others}:", f"    return {own} {sign} {others}"]
    lines.append(f"return {'=' in sign}")
    return _function(name, _two(cls), "bool", lines)


def _two(cls: type) -> list[str]:
    return ["self", f"other: {cls.__name__}"]


def _function(name: str, parameters: list, result: str, lines: list) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"def {name}({', '.join(parameters)}) -> {result}:\n{body}"
