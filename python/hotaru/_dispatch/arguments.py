"""Arguments as an overload's schema has them: in its order, of its types, and
without those that are defaults.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Callable

from .. import _C, get_default_device
from .._C import Tensor
from .._function_schema.signatures import signature, split


@functools.cache
def _sized(text: str) -> bool:
    """True if the first argument is a list of any number of sizes."""
    return text.partition("(")[2].startswith(("SymInt[] ", "int[] "))


def ordered(
    function, args: tuple, kwargs: dict, converted: bool = True
) -> tuple[tuple, dict]:
    """The arguments of a call; `converted`: of PyTorch's types, too."""
    known = list(signature(function._text).parameters.values())
    positional = [p for p in known if p.kind is not p.KEYWORD_ONLY]
    if len(args) > len(positional):  # sizes given one by one: x.view(2, 3)
        last = len(positional) - 1
        args = (*args[:last], tuple(args[last:]))
    elif len(args) == 1 and isinstance(args[0], int) and _sized(function._text):
        args = ([args[0]],)  # torch.empty(2)
    given = dict(zip((p.name for p in positional), args))
    for name, value in kwargs.items():
        given["input" if name == "self" else name] = value
    if converted:
        for name, convert in _conversions(function._text).items():
            if name in given:
                given[name] = convert(given[name])
    name_of = function._text.partition("(")[0]
    values = [given.pop(p.name, p.default) for p in positional]
    while values and _is_default(values[-1], positional[len(values) - 1], name_of):
        values.pop()
    named = {p.name: p for p in known if p.kind is p.KEYWORD_ONLY}
    rest = {
        name: value
        for name, value in given.items()
        if name not in named or not _is_default(value, named[name], name_of)
    }
    return tuple(values), rest


def _is_default(value, parameter, text: str) -> bool:
    default = parameter.default
    if value is default:  # also where neither is given
        return True
    if isinstance(value, Tensor) or default is parameter.empty:
        return False
    if type(value) is not type(default):
        if isinstance(value, _C.dtype):
            return default == _LONG and value == _C.int64
        # Schemas write "float p=2"; a number of any type is what it is.
        if type(value) is not float or (
            parameter.annotation is not float and text not in _REAL
        ):
            return False
    return value == default


# Operators whose numbers are real by default, which schemas here write as
# integers.
_REAL = frozenset(["celu", "celu_"])
# The dtype int64 in schemas.
_LONG = 4


@functools.cache
def _conversions(text: str) -> dict[str, Callable]:
    """By the name of an argument, what makes a value of its type."""
    inside = text[text.index("(") + 1 :].rpartition(") -> ")[0]
    found: dict[str, Callable] = {}
    for part in split(inside):
        kind, _, name = part.partition("=")[0].rpartition(" ")
        convert = _conversion(kind.removesuffix("?"))
        if convert is not None:
            name = f"{name}_" if keyword.iskeyword(name) else name
            found["input" if name == "self" else name] = convert
    return found


def _conversion(kind: str) -> Callable | None:
    if kind == "float":
        return _as_float
    if kind == "Device":
        return _as_device
    if not kind.startswith(("int[", "SymInt[")):
        return None
    count = kind[kind.index("[") + 1 : -1]
    return functools.partial(_as_list, int(count) if count else 0)


def _as_float(value):
    return float(value) if type(value) is int else value


def _as_device(value):
    return _C.device(value) if isinstance(value, (str, int)) else value


def _as_list(count: int, value):
    if isinstance(value, (tuple, range)):
        return list(value)
    if type(value) is int:
        return [value] * max(count, 1)
    return value


def completed(function, kwargs: dict) -> dict:
    """Options of a function that makes a tensor as Python gives them on:
    where and how is always said.
    """
    text = function._text
    if "bool? pin_memory" not in text or text.startswith(_PLAIN):
        return kwargs
    given = dict(kwargs)
    if given.get("pin_memory") is None:
        given["pin_memory"] = False
    device = given.get("device")
    head = text.partition("(")[0].partition(".")[0]
    if device is not None:
        given["device"] = _as_device(device)
    elif not head.endswith("_like") and not head.startswith("new_"):
        given["device"] = _C.device(get_default_device())
    return given


# Operators with these options that make no tensor out of nothing.
_PLAIN = ("to.", "_to_copy", "to_", "_to_")
