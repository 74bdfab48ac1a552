"""Devices of operators' results."""

from __future__ import annotations

import hotaru

from ..._types import TensorType

_OF_FIRST = ("aten::view_as", "aten::expand_as", "aten::reshape_as")
_MOVES = {"aten::cpu": "cpu", "aten::cuda": "cuda", "aten::to_mkldnn": "mkldnn"}


def device_of(node, schema, inputs: list[TensorType], constants: dict):
    """The device, or None if it does not follow from the inputs.

    Args:
        node: calls an operator.
        schema: the operator's.
        inputs: the types of its tensors, of lists', too.
        constants: arguments that are known, by name.
    """
    kind = node.kind()
    if kind in _MOVES:
        return hotaru.device(_MOVES[kind])
    if kind in _OF_FIRST:
        return inputs[0].device()
    if kind == "aten::type_as":
        return inputs[-1].device()
    if any(argument.name == "device" for argument in schema.arguments):
        given = constants.get("device", "unknown")
        if given == "unknown" and len(node._inputs) > _place(schema, "device"):
            return None
        if given not in (None, "unknown"):
            return hotaru.device(given)
    return _joined(inputs) if inputs else hotaru.device("cpu")


def _place(schema, name: str) -> int:
    return [argument.name for argument in schema.arguments].index(name)


def _joined(inputs: list[TensorType]):
    """The device that inputs of one operator share: a tensor of one number on
    the CPU goes with any other.
    """
    devices = [t.device() for t in inputs]
    if None in devices:
        return None
    first = devices[0]
    if all(device == first for device in devices):
        return first
    large = [t.device() for t in inputs if t.dim() != 0]
    small = [t.device() for t in inputs if t.dim() == 0]
    if not large or any(t.dim() is None for t in inputs):
        return None
    same = all(device == large[0] for device in large)
    return large[0] if same and all(d.type == "cpu" for d in small) else None
