"""Types of a trace's inputs, as PyTorch infers and refuses them."""

from __future__ import annotations

from ... import _C
from ...nn import Module

_NONE_FIT = (
    "Only tensors and (possibly nested) tuples of tensors, lists, or dicts are "
    "supported as inputs or outputs of traced functions, but instead got value "
    "of type {}."
)
_CONSISTENT = {
    "list": "List inputs to traced functions must have consistent element type",
    "dict": "Dictionary inputs to traced functions must have consistent type",
}
NO_ELEMENTS = "List trace inputs must have elements"
NO_ENTRIES = "Dictionary inputs must have entries"


class _UnknownError(Exception):
    """A value has no type; says why."""


def check_inputs(values: tuple) -> None:
    """RuntimeError for inputs that hold anything but tensors, for empty lists
    and dicts, and for those whose elements are of several types.
    """
    kind = type_of(values)
    if not all(map(_traceable, values)):
        raise RuntimeError(
            f"Type '{kind}' cannot be traced. Only Tensors and (possibly nested) "
            "Lists, Dicts, and Tuples of Tensors can be traced"
        )


def type_of(value) -> str:
    """The text of a value's type. RuntimeError: it has none."""
    try:
        return _type_of(value)
    except _UnknownError as reason:
        raise RuntimeError(f"Tracer cannot infer type of {value}\n:{reason}") from None


def why_untyped(value) -> str:
    """The reason for which a value has no type; "" if it has one."""
    try:
        _type_of(value)
    except _UnknownError as reason:
        return f" {reason}."
    return ""


def _type_of(value) -> str:
    if isinstance(value, Module):
        raise _UnknownError("Cannot infer concrete type of torch.nn.Module")
    if isinstance(value, _C.Tensor):
        return "Tensor"
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(map(_type_of, value))}]"
    if isinstance(value, dict):
        if not value:
            raise _UnknownError(NO_ENTRIES)
        keys = _common(map(_type_of, value), "dict")
        return f"Dict[{keys}, {_common(map(_type_of, value.values()), 'dict')}]"
    if isinstance(value, list):
        if not value:
            raise _UnknownError(NO_ELEMENTS)
        try:
            kinds = [_type_of(item) for item in value]
        except _UnknownError as reason:
            raise _UnknownError(
                f"Could not infer type of list element: {reason}"
            ) from None
        return f"List[{_common(kinds, 'list')}]"
    if value is None:
        return "NoneType"
    if isinstance(value, (bool, int, float, complex, str)):
        kinds = (bool, int, float, complex, str)
        return next(kind for kind in kinds if isinstance(value, kind)).__name__
    if isinstance(value, (_C.device, _C.Generator)):
        return type(value).__name__.capitalize()
    raise _UnknownError(_NONE_FIT.format(type(value).__name__))


def _common(kinds, container: str) -> str:
    first, *rest = kinds
    for kind in rest:
        if kind != first:
            raise _UnknownError(f"{_CONSISTENT[container]}. Found {first} and {kind}")
    return first


def _traceable(value) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return all(map(_traceable, value))
    return isinstance(value, _C.Tensor)
