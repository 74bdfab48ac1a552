"""Functions of script IR's operators of numbers, lists and texts, in Python."""

from __future__ import annotations

import builtins
import math
import operator

__all__ = ["CONTAINERS", "TABLE"]


def _floordiv(a, b):
    return a // b


def _set(items, index, value):
    items[index] = value
    return items


def _sliced(items, start=None, end=None, step=1):
    return items[start:end:step]


def _round(x, digits=None):
    return float(round(x) if digits is None else round(x, digits))


def _changed(name):
    """The method of lists or dicts of that name, which changes them."""

    def call(items, *rest):
        return getattr(items, name)(*rest)

    return call


def _repeated(items, value):
    items *= value
    return items


def _extended(items, more):
    items += more
    return items


def _deleted(items, key):
    del items[key]


def _filled(text, values):
    return text % (tuple(values) if isinstance(values, (tuple, list)) else values)


def _appended(items, value):
    items.append(value)
    return items


def _index(items, i):
    return items[i]


def _range_length(low, high, step):
    return len(range(low, high, step))


def _range_item(i, low, step):
    return low + i * step


def _text_method(name):
    """The method of texts of that name. The end of a part is -1 where it is
    the text's, -2 one letter before.
    """

    def call(text, *rest):
        if len(rest) == 3 and rest[2] < 0:  # what is looked for, start, end
            rest = (*rest[:2], len(text) + 1 + rest[2])
        return getattr(text, name)(*rest)

    return call


# Operators of numbers, lists and the like, by base name.
TABLE = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": _floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "neg": operator.neg,
    "abs": abs,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "__and__": operator.and_,
    "__or__": operator.or_,
    "__xor__": operator.xor,
    "__not__": operator.not_,
    "__is__": operator.is_,
    "__isnot__": operator.is_not,
    "__getitem__": _index,
    "__contains__": operator.contains,
    "_set_item": _set,
    "append": _appended,
    "slice": _sliced,
    "len": len,
    "list": list,
    "__lshift__": operator.lshift,
    "__rshift__": operator.rshift,
    "bitwise_not": operator.invert,
    "divmod": divmod,
    "add_": _extended,
    "mul_": _repeated,
    "Delete": _deleted,
    "Complex": complex,
    "mathremainder": math.remainder,
    "percentFormat": _filled,
    "dict": dict,
    "items": lambda d: list(d.items()),
    "hash": hash,
    "round": _round,
    "min": min,
    "max": max,
    "Int": int,
    "Float": float,
    "Bool": bool,
    "str": str,
    "sum": sum,
    "keys": lambda d: list(d),
    "values": lambda d: list(d.values()),
    "all": all,
    "any": any,
    "sorted": sorted,
    "copy": list,
    "__range_length": _range_length,
    "__derive_index": _range_item,
    **{
        name: getattr(math, name)
        for name in [
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atan2",
            "atanh",
            "ceil",
            "copysign",
            "cos",
            "cosh",
            "degrees",
            "erf",
            "erfc",
            "exp",
            "expm1",
            "fabs",
            "factorial",
            "floor",
            "fmod",
            "frexp",
            "gamma",
            "gcd",
            "isfinite",
            "isinf",
            "isnan",
            "ldexp",
            "lgamma",
            "log",
            "log10",
            "log1p",
            "log2",
            "modf",
            "radians",
            "sin",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
            "trunc",
        ]
    },
    **{name: getattr(builtins, name) for name in ("bin", "chr", "hex", "oct", "ord")},
    **{
        name: _changed(name)
        for name in [
            "clear",
            "count",
            "extend",
            "get",
            "index",
            "insert",
            "pop",
            "popitem",
            "remove",
            "reverse",
            "setdefault",
            "sort",
            "update",
        ]
    },
    **{
        name: _text_method(name)
        for name in (
            "capitalize",
            "casefold",
            "center",
            "expandtabs",
            "isalnum",
            "isalpha",
            "isascii",
            "isdecimal",
            "isdigit",
            "isidentifier",
            "islower",
            "isnumeric",
            "isprintable",
            "isspace",
            "istitle",
            "isupper",
            "ljust",
            "lstrip",
            "partition",
            "removeprefix",
            "removesuffix",
            "rindex",
            "rjust",
            "rpartition",
            "rsplit",
            "rstrip",
            "splitlines",
            "swapcase",
            "title",
            "zfill",
            "endswith",
            "find",
            "format",
            "join",
            "lower",
            "replace",
            "rfind",
            "split",
            "startswith",
            "strip",
            "upper",
        )
    },
}

# Operators of lists and dicts, which may hold tensors.
CONTAINERS = {
    "__getitem__",
    "append",
    "len",
    "_set_item",
    "slice",
    "list",
    "copy",
    "keys",
    "values",
    "__contains__",
    "add",
    "add_",
    "mul",
    "mul_",
    "Delete",
    "clear",
    "dict",
    "extend",
    "get",
    "insert",
    "items",
    "pop",
    "popitem",
    "reverse",
    "setdefault",
    "update",
}
