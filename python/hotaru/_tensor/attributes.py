"""State of objects beyond their values: attributes, and those in slots."""

from __future__ import annotations

from .._C import Tensor

# Among the attributes of a tensor that `swap_tensors` changed: what it is now.
SWAPPED = "_cdata_of_swapped"
# hotaru's own, which are no part of what a program gave it.
_OWN = frozenset([SWAPPED, "_hook_table"])


def attributes_of(obj) -> dict:
    """Attributes that a program gave an object beyond its values."""
    held = getattr(obj, "__dict__", None) or {}
    return {name: held[name] for name in held if name not in _OWN}


def slot_values(obj) -> dict:
    """Contents of the slots of an object's classes, by name."""
    found = {}
    for cls in type(obj).__mro__:
        names = cls.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__") and hasattr(obj, name):
                found[name] = getattr(obj, name)
    return found


def object_state(obj):
    """An object's attributes, as pickle takes them: its __getstate__, or the
    dict, or a pair of it and of the values of its slots.
    """
    own = getattr(type(obj), "__getstate__", None)
    if own is not None and own not in (
        getattr(object, "__getstate__", None),
        getattr(Tensor, "__getstate__", None),
    ):
        return obj.__getstate__()
    state = attributes_of(obj)
    slots = slot_values(obj)
    return (state, slots) if slots else state


def set_object_state(obj, state):
    """Gives an object the attributes that `object_state` took."""
    own = getattr(type(obj), "__setstate__", None)
    if own is not None and own is not getattr(Tensor, "__setstate__", None):
        obj.__setstate__(state)
        return obj
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        obj.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(obj, name, value)
    return obj
