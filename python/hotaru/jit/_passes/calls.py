"""Calls of the operators that graphs name."""

from __future__ import annotations

import hotaru


def call(schema, arguments, device: str | None = None):
    """Results of the operator.

    Args:
        schema: the operator's.
        arguments: in the schema's order.
        device: where it makes tensors, in place of what an argument says.
    """
    space, _, name = schema.name.partition("::")
    packet = getattr(getattr(hotaru.ops, space), name)
    function = getattr(packet, schema.overload_name or "default")
    args, kwargs = [], {}
    for argument, value in zip(schema.arguments, arguments):
        moved = device is not None and argument.name == "device"
        if moved or argument.kwarg_only:
            kwargs[argument.name] = device if moved else value
        elif kwargs:
            kwargs[argument.name] = value
        else:
            args.append(value)
    if device is not None and any(a.name == "device" for a in schema.arguments):
        kwargs["device"] = device
    with hotaru.no_grad():
        return function(*args, **kwargs)
