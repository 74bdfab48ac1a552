"""Nested arguments and results: their tensors, and what else they are.

A specification says how a value is made of leaves: equal for values of the
same form, and usable as a key. Tensors are leaves; everything else that is no
container is a constant, part of the form.
"""

from __future__ import annotations

import dataclasses

from .. import Tensor

TENSOR = ("tensor",)
_SIMPLE = (type(None), bool, int, complex, str, bytes, type)


def flatten(value, leaves: list) -> tuple:
    """Appends the tensors of a value to `leaves`; returns its form."""
    if isinstance(value, Tensor):
        leaves.append(value)
        return TENSOR
    kind = type(value)
    if kind is float:
        # Equal where the bits are: zeros have signs, and NaN equals itself.
        return ("float", kind, value.hex())
    if kind in _SIMPLE:
        return ("constant", kind, value)
    if isinstance(value, (tuple, list)):
        return ("list", kind, tuple(flatten(v, leaves) for v in value))
    if isinstance(value, dict):
        return (
            "dict",
            kind,
            tuple((k, flatten(v, leaves)) for k, v in value.items()),
        )
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value)]
        return (
            "fields",
            kind,
            tuple((f, flatten(getattr(value, f), leaves)) for f in fields),
        )
    return ("object", kind, _Same(value))


class _Same:
    """Equal to nothing but a value that is equal, or the same object."""

    def __init__(self, value) -> None:
        self.value = value

    def __eq__(self, other) -> bool:
        if not isinstance(other, _Same):
            return NotImplemented
        if self.value is other.value:
            return True
        try:
            return bool(self.value == other.value)
        except Exception:
            return False

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:
            return id(self.value)


def rebuild(form: tuple, leaves):
    """The value of that form whose tensors an iterator gives."""
    what = form[0]
    if what == "tensor":
        return next(leaves)
    _, kind, content = form
    if what == "constant":
        return content
    if what == "float":
        return float.fromhex(content)
    if what == "object":
        return content.value
    if what == "list":
        items = [rebuild(item, leaves) for item in content]
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    pairs = [(key, rebuild(item, leaves)) for key, item in content]
    if what == "fields":
        made = object.__new__(kind)
        for name, item in pairs:
            object.__setattr__(made, name, item)
        return made
    made = kind.__new__(kind)
    if kind is dict:
        made.update(pairs)
        return made
    made.__init__()
    made.update(pairs)
    return made


def objects(form: tuple):
    """The constants of a form that are neither numbers, text nor types."""
    what = form[0]
    if what == "object":
        yield form[2].value
    elif what == "list":
        for item in form[2]:
            yield from objects(item)
    elif what in ("dict", "fields"):
        for _, item in form[2]:
            yield from objects(item)


def describe(form: tuple, leaves) -> str:
    """For people: shapes and dtypes where tensors are."""
    what = form[0]
    if what == "tensor":
        tensor = next(leaves)
        text = f"{str(tensor.dtype).rpartition('.')[2]}{list(tensor.shape)}"
        return text + (" requires_grad" if tensor.requires_grad else "")
    _, kind, content = form
    if what == "constant":
        return repr(content)
    if what == "float":
        return repr(float.fromhex(content))
    if what == "object":
        return repr(content.value)
    if what == "list":
        inner = ", ".join(describe(item, leaves) for item in content)
        if kind is tuple:
            return f"({inner},)" if len(content) == 1 else f"({inner})"
        return f"[{inner}]" if kind is list else f"{kind.__name__}({inner})"
    inner = ", ".join(f"{k}={describe(item, leaves)}" for k, item in content)
    return f"{kind.__name__}({inner})"
