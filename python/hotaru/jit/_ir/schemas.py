"""Operators' signatures, asked about nodes."""

from __future__ import annotations

import hotaru

from ..._function_schema import FunctionSchema


def schema_for(node) -> str | None:
    """The signature of the registered operator that the inputs fit, if any."""
    space, _, name = node.kind().partition("::")
    packet = getattr(hotaru.ops.aten, name, None) if space == "aten" else None
    if packet is None:
        return None
    for overload in packet.overloads():
        try:
            schema = getattr(packet, overload)._schema
        except RuntimeError:  # a type that neither schemas nor graphs have
            continue
        if _fits(node, schema):
            return str(schema)
    return None


def _fits(node, schema: FunctionSchema) -> bool:
    given = [value.type() for value in node.inputs()]
    arguments = schema.arguments
    if len(given) > len(arguments):
        return False
    return all(
        type.isSubtypeOf(argument.type) for type, argument in zip(given, arguments)
    ) and all(a.has_default_value() for a in arguments[len(given) :])
