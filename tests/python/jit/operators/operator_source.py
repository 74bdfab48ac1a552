"""Recorded calls as TorchScript: one text that Python runs, `jit.script`
compiles and `jit.trace` follows.
"""

from __future__ import annotations

_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "gt": ">",
    "le": "<=",
    "ge": ">=",
}
_UNARY = {"neg": "-", "invert": "~", "pos": "+"}


class NoSourceError(Exception):
    """A call that the language has no text for."""


def text_of(value) -> str:
    """An argument, as `plain.Encoder` has put it."""
    if not isinstance(value, dict):
        return repr(value)
    ((kind, data),) = value.items()
    if kind == "t":
        return f"t{data}"
    if kind == "r":
        return f"r{data[0]}" + "".join(f"[{i}]" for i in data[1:])
    if kind == "f":
        return f"float({data!r})"
    if kind == "c":
        return f"complex({text_of(data[0])}, {text_of(data[1])})"
    if kind in ("size", "list"):
        return "[" + ", ".join(map(text_of, data)) + "]"
    if kind == "tuple":
        return "(" + "".join(f"{text_of(v)}, " for v in data).strip() + ")"
    if kind in ("dtype", "layout", "format"):
        return f"torch.{data}"
    if kind == "device":
        return f"torch.device({data!r})"
    if kind == "slice":
        parts = ["" if v is None else text_of(v) for v in data]
        return ":".join(parts[:2]) + (f":{parts[2]}" if parts[2] else "")
    if kind == "ellipsis":
        return "..."
    raise NoSourceError(kind)


def _subscript(index) -> str:
    if isinstance(index, dict) and "tuple" in index:
        return ", ".join(map(text_of, index["tuple"]))
    return text_of(index)


def _call(name: str, args, kwargs) -> str:
    args, kwargs = args["list"], kwargs["dict"]
    place, _, short = name.rpartition(".")
    if short in ("__get__", "__set__"):
        if short == "__set__":
            raise NoSourceError(name)
        return f"{text_of(args[0])}.{place.rpartition('.')[2]}"
    method = place == "torch.Tensor"
    bare = short.strip("_") if short.startswith("__") else ""
    if method and short == "__getitem__":
        return f"{text_of(args[0])}[{_subscript(args[1])}]"
    if method and short == "__setitem__":
        raise NoSourceError(name)
    if method and bare in _UNARY:
        return f"{_UNARY[bare]}{text_of(args[0])}"
    if method and len(args) == 2 and bare in _BINARY:
        return f"{text_of(args[0])} {_BINARY[bare]} {text_of(args[1])}"
    if method and len(args) == 2 and bare[:1] == "r" and bare[1:] in _BINARY:
        return f"{text_of(args[1])} {_BINARY[bare[1:]]} {text_of(args[0])}"
    if method and bare:
        raise NoSourceError(name)
    given = [text_of(v) for v in args]
    if method:
        name = f"{given.pop(0)}.{short}"
    given += [f"{k}={text_of(v)}" for k, v in kwargs]
    return f"{name}({', '.join(given)})"


def source_of(steps, result, count: int) -> str:
    """A function `f` of `count` tensors."""
    lines = []
    for i, (name, args, kwargs) in enumerate(steps):
        lines.append(f"r{i} = {_call(name, args, kwargs)}")
    parameters = ", ".join(f"t{i}: Tensor" for i in range(count))
    found = text_of(result)
    if lines and found == f"r{len(lines) - 1}":
        lines[-1] = f"return {lines[-1].partition(' = ')[2]}"
    else:
        lines.append(f"return {found}")
    return f"def f({parameters}):\n" + "".join(f"    {x}\n" for x in lines)
