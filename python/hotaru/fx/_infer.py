"""TorchScript's types of Python values."""

from __future__ import annotations

import hotaru

from .. import Tensor
from ..jit._tracing.inputs import NO_ELEMENTS, NO_ENTRIES

_NAMES = (
    (type(None), "NoneType"),
    (bool, "bool"),
    (int, "int"),
    (float, "float"),
    (complex, "complex"),
    (str, "str"),
    (Tensor, "Tensor"),
    (hotaru.device, "Device"),
    (hotaru.Generator, "Generator"),
    ((hotaru.dtype, hotaru.layout), "int"),
)


class _UnknownTypeError(Exception):
    """The value has no type there; says why."""


class _Type:
    """A type by its text, "List[int]"."""

    def __init__(self, annotation_str: str) -> None:
        self.annotation_str = annotation_str

    def __str__(self) -> str:
        return self.annotation_str


class InferredType:
    """The type of a value or, as a str, the reason why it has none."""

    def __init__(self, found) -> None:
        self._found = found

    def success(self) -> bool:
        return not isinstance(self._found, str)

    def type(self):
        """The type; RuntimeError if there is none."""
        if isinstance(self._found, str):
            raise RuntimeError(
                "Tried to get the type from an InferredType but the type is "
                f"null. Reason: {self._found}"
            )
        return self._found

    def reason(self) -> str:
        """The reason; RuntimeError if there is a type."""
        if not isinstance(self._found, str):
            raise RuntimeError("InferredType.reason: there is a type, and no reason")
        return self._found


def try_infer_type(value) -> InferredType:
    """The type of a value: of numbers, tensors, and containers of them."""
    try:
        return InferredType(_Type(_infer(value)))
    except _UnknownTypeError as reason:
        return InferredType(str(reason))


def _infer(value) -> str:
    for cls, name in _NAMES:
        if isinstance(value, cls):
            return name
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(map(_infer, value)) or '()'}]"
    if isinstance(value, list):
        if not value:
            raise _UnknownTypeError(NO_ELEMENTS)
        item = _common(value, "List inputs to traced functions")
        return f"List[{item}]"
    if isinstance(value, dict):
        if not value:
            raise _UnknownTypeError(NO_ENTRIES)
        key = _common(value, "Dictionary inputs to traced functions")
        item = _common(value.values(), "Dictionary inputs to traced functions")
        return f"Dict[{key}, {item}]"
    raise _UnknownTypeError(
        "Only tensors and (possibly nested) tuples of tensors, lists, or dicts "
        "are supported as inputs or outputs of traced functions, but instead "
        f"got value of type {type(value).__name__}."
    )


def _common(values, what: str) -> str:
    """The one type of all values, with None among them an optional one."""
    found: list[str] = []
    for value in values:
        kind = _infer(value)
        if kind not in found:
            found.append(kind)
    if len(found) == 2 and "NoneType" in found:
        found.remove("NoneType")
        return f"Optional[{found[0]}]"
    if len(found) > 1:
        raise _UnknownTypeError(
            f"{what} must have consistent element type. Found {found[0]} and {found[1]}"
        )
    return found[0]
