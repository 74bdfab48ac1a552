"""Questions of the walk through a function's surroundings to single values."""

from __future__ import annotations

import sys
import types

from ... import _C, Tensor
from ..._own_names import is_own
from ...nn import Module
from .._keys import Same
from .homes import top_of
from .raw import has_slots

#: Classes whose values are equal where they are the same.
SIMPLE = (type(None), bool, int, str, bytes)
_OPTIMIZERS = {"state", "param_groups", "defaults", "step", "_opt_called", "_lifted"}


def is_code(value) -> bool:
    """Tells whether a value is code that somebody gave to this package, or a
    function of this package's, which may hold such code.
    """
    if isinstance(value, (types.FunctionType, types.MethodType)):
        return True
    home = value if isinstance(value, type) else type(value)
    return callable(value) and not is_own(top_of(home))


def is_schedule(value) -> bool:
    return hasattr(type(value), "get_last_lr")


def is_array(value) -> bool:
    """One of numpy's, or of Python's module of that name."""
    numpy, array = map(sys.modules.get, ("numpy", "array"))
    return (numpy is not None and isinstance(value, numpy.ndarray)) or (
        array is not None and isinstance(value, array.array)
    )


def slotted(kind: type) -> bool:
    return not is_own(top_of(kind)) and has_slots(kind)


def text_of(part) -> str:
    if isinstance(part, Same):
        part = part.value
    elif isinstance(part, tuple) and len(part) == 2 and part[0] in SIMPLE:
        part = part[1]
    text = repr(part)
    return text if len(text) <= 80 else f"{text[:77]}..."


class Leaf:
    """A tensor, and the attribute that it belongs to or None."""

    __slots__ = ("place", "tensor")

    def __init__(self, where, tensor) -> None:
        self.place = where
        self.tensor = tensor


def is_graphed(value) -> bool:
    """True if a value is code that runs as graphs, whose own it not is."""
    return isinstance(value, _C._FastCall) or "graphed" in own_names(value)


def own_names(value):
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return ()


def native_of(value) -> _C.ScriptModule | None:
    """The compiled module that a value stands for."""
    native = vars(value).get("_c") if isinstance(value, Module) else None
    return native if isinstance(native, _C.ScriptModule) else None


def key_part(key):
    """Tells keys apart that dictionaries take for one, as 1 and True."""
    return (type(key), key) if type(key) in SIMPLE else Same(key)


def own_member(owner, name: str) -> bool:
    """Tells whether an attribute is the object's own business: what optimizers
    are made of, `_training` looks after.
    """
    return name not in _OPTIMIZERS or not hasattr(owner, "_lifted")


def is_plain(kind: type) -> bool:
    """Tells whether nobody but code that was met calls methods of a class: it
    has no base in this package or the standard library.
    """
    return all(
        base is object
        or not (is_own(top_of(base)) or top_of(base) in sys.stdlib_module_names)
        for base in kind.__mro__
    )


def place(owner, name: str) -> tuple:
    """Tells attributes apart."""
    native = native_of(owner)
    return (id(owner) if native is None else native.address(), name)


def kind_of(tensor: Tensor) -> tuple:
    """Facts of a tensor that a captured function depends on, besides values."""
    return (
        tensor.shape,
        tensor.dtype,
        tensor.device,
        tuple(s for s, n in zip(tensor.stride(), tensor.shape) if n > 1),
        tensor.requires_grad,
    )
