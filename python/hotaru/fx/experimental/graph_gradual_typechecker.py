"""Types of a graph's nodes: shapes, as far as they are known.

A node's `type` is Dyn, where nothing is known, or a `TensorType`. Rules say
for a function or a class of modules what follows from the types of its inputs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import hotaru
from hotaru import nn

from ..node import Node, map_arg
from ..tensor_type import Dyn, TensorType, is_consistent, is_more_precise
from . import _gradual_shapes as shapes
from ._gradual_shapes import (
    broadcast_types,
    calculate_out_dimension,
    expand_to_tensor_dim,
    get_greatest_upper_bound,
)
from ._refinement import (
    Refine,
    register_algebraic_expressions_inference_rule,
    register_refinement_rule,
)

__all__ = [
    "GraphTypeChecker",
    "Refine",
    "broadcast_types",
    "calculate_out_dimension",
    "expand_to_tensor_dim",
    "get_greatest_upper_bound",
    "register_algebraic_expressions_inference_rule",
    "register_inference_rule",
    "register_refinement_rule",
]

_INFERENCE_RULES: dict = {}


def register_inference_rule(call_target) -> Callable:
    """Decorates a rule for a function, or for the class of a module.

    It takes the node (of modules the module, too) and sets and returns its
    type; TypeError where the inputs do not fit.

    RuntimeError: there is a rule for that.
    """

    def register(rule):
        if call_target in _INFERENCE_RULES:
            raise RuntimeError(f"Inference rule already registered for {call_target}!")
        _INFERENCE_RULES[call_target] = rule
        return rule

    return register


class GraphTypeChecker:
    """Checks a traced module's types, and says those of all nodes.

    Args:
        env: not used.
        traced: the module.
    """

    def __init__(self, env: dict, traced) -> None:
        self.env = env
        self.traced = traced

    def type_check(self) -> bool:
        """Sets each node's type.

        Returns:
            True.

        Raises:
            TypeError: types contradict each other.
            RuntimeError: there is no rule for a call.
        """
        for node in self.traced.graph.nodes:
            self.type_check_node(node)
        return True

    def type_check_node(self, n: Node):
        """The type of a node; see `type_check`."""
        if n.type is None:
            n.type = Dyn
        if n.op == "placeholder":
            return n.type
        if n.op == "output":
            n.type = map_arg(n.args[0], lambda node: node.type)
            return n.type
        if n.op == "get_attr":
            return self._attribute(n)
        if n.op == "call_function":
            rule = _rule(n.target, "target", n.target)
            return rule(n, self.traced) if n.target is getattr else rule(n)
        if n.op == "call_module":
            module = self.traced.get_submodule(n.target)
            return _rule(type(module), "class", type(module))(n, module)
        raise NotImplementedError(f"Method {n.op} not yet implemented")

    def _attribute(self, n: Node):
        value = self.traced
        for name in n.target.split("."):
            value = getattr(value, name)
        if isinstance(value, hotaru.Tensor):
            n.type = TensorType(tuple(value.shape))
        return n.type


def _rule(key, what: str, shown) -> Callable:
    if key not in _INFERENCE_RULES:
        raise RuntimeError(f"No inference rule registered for {what} {shown}!")
    return _INFERENCE_RULES[key]


@register_inference_rule(hotaru.add)
@register_inference_rule(operator.add)
def add_inference_rule(n: Node):
    """The less precise of both types behind broadcasting."""
    first, second = n.args[:2]
    t1, t2 = (a.type if isinstance(a, Node) else type(a) for a in n.args[:2])
    for number, other in ((t1, t2), (t2, t1)):
        if number in (int, float) and isinstance(other, TensorType):
            n.type = other
            return n.type
    new1, new2 = broadcast_types(t1, t2)
    n.meta["broadcast"] = new1 != t1 or new2 != t2
    if n.meta["broadcast"]:
        n.meta[str(first)], n.meta[str(second)] = new1, new2
    if not is_consistent(new1, new2):
        raise TypeError(
            f"Cannot add arguments {first} ({t1}) and {second} ({t2}) in node "
            f"{n}. Types should match "
        )
    n.type = new2 if is_more_precise(new1, new2) else new1
    return n.type


@register_inference_rule(getattr)
def get_attr_inference_rule(n: Node, traced):
    """Infers Dyn for a shape, as unknown. TypeError: another attribute."""
    if n.args[1] != "shape":
        raise TypeError(f"There is no rule for the attribute {n.args[1]!r}")
    n.type = Dyn
    return n.type


@register_inference_rule(hotaru.transpose)
def transpose_inference_rule(n: Node):
    """Two sizes changed. TypeError: there are no such."""
    t, (a, b) = n.args[0].type, n.args[1:3]
    if t == Dyn:
        n.type = Dyn
        return n.type
    known = isinstance(t, TensorType)
    rank = len(t.dims) if known else 0
    if not known or not all(-rank <= i < rank for i in (a, b)):
        raise TypeError(f"Cannot transpose {a} and {b} in type {t} for node {n}")
    sizes = list(t.dims)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    n.type = get_greatest_upper_bound(n.type, TensorType(sizes))
    return n.type


def _fits(type_, after: int) -> bool:
    """Tells whether one of the numbers of elements divides the other."""
    if not isinstance(type_, TensorType):
        return False
    before = math.prod(size for size in type_.dims if size != Dyn)
    divides = before and after and 0 in (before % after, after % before)
    return before == after or bool(divides)


@register_inference_rule(hotaru.reshape)
def reshape_inference_rule(n: Node):
    """The wanted shape. TypeError: the known sizes do not divide each other."""
    t, wanted = n.args[:2]
    t = t.type
    result = TensorType([Dyn if size == -1 else size for size in wanted])
    if t != Dyn and not _fits(t, math.prod(wanted)):
        raise TypeError(f"Cannot reshape in node {n} from {t} to {result}")
    n.type = result
    return result


def _refuse(n: Node, module, t) -> None:
    raise TypeError(
        f"Cannot apply {module} with input type {t} and existing type {n.type} on {n}"
    )


@register_inference_rule(nn.BatchNorm2d)
def bn2d_inference_rule(n: Node, module_instance):
    """Joins what is known of either side, of four sizes."""
    n.args[0].type = t = expand_to_tensor_dim(n.args[0].type, 4)
    n.type = expand_to_tensor_dim(n.type, 4)
    channels = module_instance.num_features
    fits = is_consistent(t, n.type) and all(
        is_consistent(known.dims[1], channels) for known in (t, n.type)
    )
    if not fits:
        _refuse(n, module_instance, t)
    n.type = get_greatest_upper_bound(t, n.type)
    return n.type


@register_inference_rule(nn.Conv2d)
def conv2d_inference_rule(n: Node, module_instance):
    """The module's channels and the pictures' sizes behind it."""
    n.args[0].type = t = expand_to_tensor_dim(n.args[0].type, 4)
    known = expand_to_tensor_dim(n.type, 4)
    if not is_consistent(t.dims[1], module_instance.in_channels):
        _refuse(n, module_instance, t)
    inner = (
        calculate_out_dimension(size, module_instance, i)
        for i, size in enumerate(t.dims[2:])
    )
    result = TensorType((t.dims[0], module_instance.out_channels, *inner))
    n.type = get_greatest_upper_bound(result, known)
    return n.type


def _infer(n: Node, shape_of: Callable[[TensorType], TensorType]):
    """Joins what is known of the result, and what follows from the input."""
    source = n.args[0]
    if source.type == Dyn and isinstance(n.type, TensorType):
        source.type = expand_to_tensor_dim(Dyn, len(n.type.dims))
    if isinstance(source.type, TensorType):
        n.type = get_greatest_upper_bound(shape_of(source.type), n.type)
    return n.type


def _register_layer(kind: type, shape_of: Callable) -> None:
    @register_inference_rule(kind)
    def rule(n: Node, module_instance):
        return _infer(n, lambda t: shape_of(t, module_instance))


_register_layer(nn.ReLU, lambda t, module: t)
_register_layer(nn.MaxPool2d, shapes.pooled)
_register_layer(nn.AdaptiveAvgPool2d, shapes.adaptively_pooled)
_register_layer(nn.Linear, shapes.projected)


@register_inference_rule(hotaru.flatten)
def flatten_inference_rule(n: Node):
    """Sizes joined, into one that is known if they are."""
    start, end = shapes.dims_of_flatten(n)
    return _infer(n, lambda t: shapes.flattened(t, start, end))
