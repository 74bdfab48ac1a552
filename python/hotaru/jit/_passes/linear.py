"""Products with transposed weights that are linear layers."""

from __future__ import annotations

import hotaru

from ..._types import TensorType
from .._ir.nodes import Node
from .._ir.values import Value
from .clean import unneeded
from .rewriting import constant_before, remove, replace, rewriting

__all__ = ["fused_linear"]

_SUMS = ("aten::add", "aten::add_")


def fused_linear(graph) -> bool:
    """Puts aten::linear in place of `x @ w.t()`, with what is added to it, where
    types say that w is a matrix and the other a vector that fits. True if there
    was any.
    """
    changed = False
    with rewriting(graph):
        for node in list(graph._all_nodes()):
            if node.kind() == "aten::addmm":
                changed = _addmm(node) or changed
            elif node.kind() == "aten::matmul":
                changed = _matmul(node) or changed
        if changed:
            unneeded(graph)
    return changed


def _weight(value: Value) -> Value | None:
    """The matrix of which the value is the transpose."""
    node, held = value.node(), value.toIValue()
    if isinstance(held, hotaru.Tensor) and held.dim() == 2:
        # A trace has the transpose of a constant as one, with its strides.
        turned = held.stride(0) == 1 and not held.is_contiguous()
        type = TensorType.create_from_tensor(held.t())
        return constant_before(node, held.t(), type) if turned else None
    if node.kind() != "aten::t":
        return None
    return node._inputs[0] if _sizes(node._inputs[0], 2) is not None else None


def _sizes(value: Value, dims: int):
    type = value.type()
    sizes = type.varyingSizes() if isinstance(type, TensorType) else None
    return sizes if sizes is not None and len(sizes) == dims else None


def _is_bias(value: Value, weight: Value) -> bool:
    bias, rows = _sizes(value, 1), _sizes(weight, 2)
    return bias is not None and None not in (bias[0], rows[0]) and bias[0] == rows[0]


def _is_one(value: Value) -> bool:
    number = value.toIValue()
    return not isinstance(number, bool) and number == 1


def _matmul(node: Node) -> bool:
    weight = _weight(node._inputs[1])
    if weight is None:
        return False
    uses = node._outputs[0].uses()
    user = uses[0].user if uses else None
    # Whoever takes a tensor behind a sum in place takes the sum.
    alone = user is not None and (len(uses) == 1 or user.kind() == "aten::add_")
    alone = alone and user._block is node._block
    adds = alone and user.kind() in _SUMS and uses[0].offset == 0
    if adds and _is_one(user._inputs[2]) and _is_bias(user._inputs[1], weight):
        out = _put(node, user, [node._inputs[0], weight, user._inputs[1]])
        replace(node._outputs[0], out)
        remove(node)
    else:
        _put(node, node, [node._inputs[0], weight, _none(node)])
    return True


def _addmm(node: Node) -> bool:
    bias, x, turned = node._inputs[:3]
    weight = _weight(turned)
    if weight is None or not all(map(_is_one, node._inputs[3:])):
        return False
    if not _is_bias(bias, weight) or _sizes(x, 2) is None:
        return False
    _put(node, node, [x, weight, bias])
    return True


def _none(node: Node) -> Value:
    return constant_before(node, None)


def _put(first: Node, last: Node, inputs) -> Value:
    """The layer stands where the last node was, and is of the first's line."""
    made = Node(last._block, "aten::linear")
    made._inputs, made._place = inputs, first._place
    made._outputs.append(Value(made, last._outputs[0].type()))
    last._block._nodes.insert(last._block._index(last), made)
    replace(last._outputs[0], made._outputs[0])
    remove(last)
    return made._outputs[0]
