"""Operators that Python defined, as compiled code sees them.

Compiled code has a function of the operator's signature, which calls the
operator as Python does.
"""

from __future__ import annotations

import typing

from .._late import loaded
from .frontend import NotSupportedError

# Names in the text of a signature.
NAMES = {n: getattr(typing, n) for n in ("Dict", "List", "Optional", "Tuple")}

if typing.TYPE_CHECKING:
    from .._ops import DefinedOverload


def _is(value, kind: str) -> bool:
    """Tells whether a value is of a class of a module that is imported late:
    who has such a value has imported it.
    """
    made = loaded(kind)
    return made is not None and isinstance(value, made)


def own_class_name(value) -> str | None:
    """The qualified name of a class that C++ registered; None for others."""
    return value._name if _is(value, "OwnClass") else None


def is_class_namespace(value) -> bool:
    """True if a value is torch.classes.<name>."""
    return _is(value, "ClassNamespace")


def is_overloaded(value) -> bool:
    """Tells whether a value is an operator of Python's with several overloads,
    of which compiled code names one: `torch.ops.ns.name.overload`.
    """
    return _is(value, "DefinedPacket") and len(value) != 1


def overload_of(value) -> DefinedOverload | None:
    """The overload that a value stands for, which an operator with one does;
    None where it is no operator of Python's.
    """
    if _is(value, "DefinedPacket") and len(value) == 1:
        return getattr(value, value.overloads()[0])
    return value if _is(value, "DefinedOverload") else None


def signature_of(overload: DefinedOverload) -> tuple[list[str], str, dict]:
    """(parameters, type of the result, defaults), as source text.

    NotSupportedError for arguments that can be given by name alone.
    """
    schema = overload._schema
    if any(a.kwarg_only for a in schema.arguments):
        raise NotSupportedError(
            f"{schema}: arguments that can be given by name alone are not "
            "supported in compiled code"
        )
    parameters = [f"{a.name}: {_text(a.type)}" for a in schema.arguments]
    defaults = {
        a.name: a.default_value for a in schema.arguments if a.has_default_value()
    }
    results = [_text(r.type) for r in schema.returns]
    if not results:
        return parameters, "None", defaults
    if len(results) == 1:
        return parameters, results[0], defaults
    return parameters, f"Tuple[{', '.join(results)}]", defaults


def _text(kind) -> str:
    text = str(kind)
    for unsupported in ("number", "Generator", "Stream", "Storage", "Any"):
        if unsupported in text:
            raise NotSupportedError(
                f"the type {kind.str()} of an operator's signature is not "
                "supported in compiled code"
            )
    return text.replace("Device", "torch.device")
