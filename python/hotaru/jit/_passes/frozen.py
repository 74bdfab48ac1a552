"""Frozen graphs, whose weights are constants: what follows a convolution or a
linear layer is computed into its weights.
"""

from __future__ import annotations

import hotaru

from ..._types import TensorType
from .._ir.nodes import Node
from .._ir.values import Value
from .clean import unneeded
from .fold import fold
from .rewriting import constant_before, remove, replace, rewriting

__all__ = [
    "concatenated_linear",
    "conv_add_or_sub",
    "conv_batch_norm",
    "conv_mul_or_div",
    "linear_batch_norm",
    "optimized",
    "transposed_linear",
    "without_dropout",
]

_CONVS = ("aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::_convolution")
_TRANSPOSED = 6  # of aten::_convolution's inputs
_SHAPE_ALONE = ("aten::dim", "aten::size", "prim::dtype", "prim::device")
_DROPOUTS = ("aten::dropout", "aten::feature_dropout")
_UNKNOWN = object()


def _constant(value: Value):
    """A constant's value, or _UNKNOWN."""
    node = value.node()
    if node.kind() != "prim::Constant" or node.hasAttribute("name"):
        return _UNKNOWN
    return value.toIValue()


def _tensor_or_none(value: Value):
    found = _constant(value)
    is_known = found is None or isinstance(found, hotaru.Tensor)
    return found if is_known else _UNKNOWN


class _Layer:
    """A convolution or a linear layer with constants as weight and bias."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.weight = _tensor_or_none(node._inputs[1])
        self.bias = _tensor_or_none(node._inputs[2])

    def is_constant(self) -> bool:
        weight = self.weight
        is_real = isinstance(weight, hotaru.Tensor) and weight.is_floating_point()
        return is_real and self.bias is not _UNKNOWN

    def channels(self) -> int:
        return self.weight.size(0)

    def known_bias(self):
        """The bias, or the zeros that it stands for."""
        if self.bias is not None:
            return self.bias
        return self.weight.new_zeros(self.channels())

    def set(self, weight, bias, name: str) -> None:
        """Puts constants in place of weight and bias, named after the old."""
        for i, tensor in ((1, weight), (2, bias)):
            old = self.node._inputs[i]
            new = constant_before(
                self.node, tensor, TensorType.create_from_tensor(tensor)
            )
            new._name = f"{old.debugName()}_{name}" if old._name else ""
            self.node._inputs[i] = new


def _layer(value: Value, kinds, user: Node) -> _Layer | None:
    """The layer that makes the value, if the user alone reads its numbers."""
    node = value.node()
    if node.kind() not in kinds or len(node._inputs) < 3:
        return None
    is_general = node.kind() == "aten::_convolution"
    if is_general and _constant(node._inputs[_TRANSPOSED]) is not False:
        return None
    for use in value.uses():
        if use.user is not user and use.user.kind() not in _SHAPE_ALONE:
            return None
    layer = _Layer(node)
    return layer if layer.is_constant() else None


def _over(graph, rule) -> bool:
    """Applies a rule to nodes until there is none that it changes."""
    changed = False
    with rewriting(graph), hotaru.no_grad():
        for node in list(graph._all_nodes()):
            if node._outputs and rule(node):
                changed = True
        if changed:
            unneeded(graph)
    return changed


def _replaced(node: Node, value: Value) -> bool:
    if node._outputs[0]._name and not value._name:
        value._name = node._outputs[0]._name
    replace(node._outputs[0], value)
    remove(node)
    return True


# --- batch norms ---


class _Norm:
    """A batch norm in evaluation: `x * scale + shift` for every channel."""

    def __init__(self, node: Node, layer: _Layer) -> None:
        inputs = node._inputs
        found = [_tensor_or_none(value) for value in inputs[1:5]]
        training, eps = _constant(inputs[5]), _constant(inputs[7])
        self.is_known = (
            training is False
            and isinstance(eps, float)
            and not any(value is _UNKNOWN for value in found)
            and found[2] is not None
            and found[3] is not None
        )
        if not self.is_known:
            return
        weight, bias, mean, var = found
        self.scale = (var + eps).rsqrt()
        if weight is not None:
            self.scale = self.scale * weight
        self.shift = -mean * self.scale
        if bias is not None:
            self.shift = self.shift + bias
        dtype = layer.weight.dtype
        self.is_known = hotaru.promote_types(self.scale.dtype, dtype) == dtype or (
            dtype in (hotaru.float16, hotaru.bfloat16)
        )

    def fuse(self, layer: _Layer) -> None:
        shape = [-1] + [1] * (layer.weight.dim() - 1)
        dtype = layer.weight.dtype
        weight = layer.weight * self.scale.reshape(shape)
        bias = layer.known_bias() * self.scale + self.shift
        layer.set(weight.to(dtype), bias.to(dtype), "fused_bn")


def conv_batch_norm(graph) -> bool:
    """Computes batch norms in evaluation into the convolution before them."""

    def rule(node: Node) -> bool:
        if node.kind() != "aten::batch_norm":
            return False
        layer = _layer(node._inputs[0], _CONVS, node)
        norm = _Norm(node, layer) if layer is not None else None
        if norm is None or not norm.is_known:
            return False
        if norm.scale.numel() != layer.channels():
            return False
        norm.fuse(layer)
        return _replaced(node, node._inputs[0])

    return _over(graph, rule)


def linear_batch_norm(graph) -> bool:
    """Computes batch norms in evaluation into the linear layer before them:
    where the input has two dimensions, or all channels have the same numbers.
    A layer of more dimensions has the features last, a norm the channels second.
    """

    def rule(node: Node) -> bool:
        if node.kind() != "aten::batch_norm":
            return False
        layer = _layer(node._inputs[0], ("aten::linear",), node)
        norm = _Norm(node, layer) if layer is not None else None
        if norm is None or not norm.is_known or layer.weight.dim() != 2:
            return False
        if norm.scale.numel() not in (1, layer.channels()):
            return False
        if not _is_flat(layer.node) and not (
            _is_uniform(norm.scale) and _is_uniform(norm.shift)
        ):
            return False
        norm.fuse(layer)
        return _replaced(node, node._inputs[0])

    return _over(graph, rule)


def _is_flat(node: Node) -> bool:
    type = node._inputs[0].type()
    return isinstance(type, TensorType) and type.dim() == 2


def _is_uniform(tensor) -> bool:
    return bool((tensor == tensor.reshape(-1)[0]).all())


# --- sums and products ---


def conv_add_or_sub(graph) -> bool:
    """Computes `conv(x) + c` and `conv(x) - c` into the bias. The input of a
    convolution counts as a batch.
    """

    def rule(node: Node) -> bool:
        if node.kind() not in ("aten::add", "aten::sub") or len(node._inputs) != 3:
            return False
        layer, other = _operands(node)
        alpha = _constant(node._inputs[2])
        if layer is None or not _is_number(alpha):
            return False
        sign = 1 if node.kind() == "aten::add" else -1
        bias = layer.known_bias()
        bias = bias + other.reshape(-1) * (sign * alpha)
        layer.set(layer.weight, bias.to(layer.weight.dtype), "fused")
        return _replaced(node, node._inputs[0])

    return _over(graph, rule)


def conv_mul_or_div(graph) -> bool:
    """Computes `conv(x) * c` and `conv(x) / c` into weight and bias."""

    def rule(node: Node) -> bool:
        if node.kind() not in ("aten::mul", "aten::div") or len(node._inputs) != 2:
            return False
        layer, other = _operands(node)
        if layer is None:
            return False
        other = other.reshape(-1)
        shaped = other.reshape([-1] + [1] * (layer.weight.dim() - 1))
        bias = layer.known_bias()
        if node.kind() == "aten::mul":
            weight, bias = layer.weight * shaped, bias * other
        else:
            weight, bias = layer.weight / shaped, bias / other
        dtype = layer.weight.dtype
        layer.set(weight.to(dtype), bias.to(dtype), "fused")
        return _replaced(node, node._inputs[0])

    return _over(graph, rule)


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _operands(node: Node):
    """The convolution and a constant of one number, or of one a channel; None
    where they do not fit.
    """
    layer = _layer(node._inputs[0], _CONVS, node)
    other = _constant(node._inputs[1])
    if layer is None:
        return None, None
    dtype = layer.weight.dtype
    if _is_number(other):
        return layer, hotaru.tensor(other, dtype=dtype)
    if not isinstance(other, hotaru.Tensor) or other.dim() > layer.weight.dim():
        return None, None
    if other.dim() and hotaru.promote_types(other.dtype, dtype) != dtype:
        return None, None
    if other.is_complex():
        return None, None
    channel = other.dim() - (layer.weight.dim() - 1)  # place of the channels
    for i, size in enumerate(other.shape):
        if size != 1 and not (i == channel and size == layer.channels()):
            return None, None
    return layer, other.to(dtype)


# --- linear layers ---


def transposed_linear(graph) -> bool:
    """Multiplies by the transposed weight, which is a constant of its own, in
    place of aten::linear.
    """

    def rule(node: Node) -> bool:
        if node.kind() != "aten::linear":
            return False
        weight = _tensor_or_none(node._inputs[1])
        if not isinstance(weight, hotaru.Tensor) or weight.dim() != 2:
            return False
        turned = weight.t().contiguous()
        constant = constant_before(node, turned, TensorType.create_from_tensor(turned))
        out = _before(node, "aten::matmul", [node._inputs[0], constant])
        if not node._inputs[2].node().mustBeNone():
            one = constant_before(node, 1)
            out = _before(node, "aten::add", [out, node._inputs[2], one])
        return _replaced(node, out)

    return _over(graph, rule)


def _before(node: Node, kind: str, inputs, type=None) -> Value:
    made = Node(node._block, kind)
    made._inputs, made._place = list(inputs), node._place
    made._outputs.append(Value(made, type))
    node._block._nodes.insert(node._block._index(node), made)
    return made._outputs[0]


def concatenated_linear(graph, devices=("cuda",)) -> bool:
    """Makes one layer of those that a block applies to one input.

    Args:
        graph: changed.
        devices: kinds of devices on which that is the faster way.
    """
    changed = False
    with rewriting(graph), hotaru.no_grad():
        for block in list(graph._blocks()):
            groups: dict[int, list[_Layer]] = {}
            for node in block._nodes:
                layer = _Layer(node) if node.kind() == "aten::linear" else None
                if layer is not None and _may_join(layer, devices):
                    groups.setdefault(id(node._inputs[0]), []).append(layer)
            for layers in groups.values():
                changed = _joined(layers) or changed
        if changed:
            unneeded(graph)
    return changed


def _may_join(layer: _Layer, devices) -> bool:
    return (
        layer.is_constant()
        and layer.bias is not None
        and layer.weight.dim() == 2
        and layer.weight.device.type in devices
    )


def _joined(layers: list[_Layer]) -> bool:
    first = layers[0]
    layers = [
        layer
        for layer in layers
        if layer.weight.dtype == first.weight.dtype
        and layer.weight.device == first.weight.device
        and layer.bias.dtype == first.bias.dtype
    ]
    if len(layers) < 2:
        return False
    node, ends = first.node, [0]
    for layer in layers:
        ends.append(ends[-1] + layer.channels())
    whole = []
    for tensors in ([e.weight for e in layers], [e.bias for e in layers]):
        tensor = hotaru.cat(tensors)
        type = TensorType.create_from_tensor(tensor)
        whole.append(constant_before(node, tensor, type))
    out = _before(node, "aten::linear", [node._inputs[0], *whole])
    for layer, begin, end in zip(layers, ends, ends[1:]):
        numbers = (-1, begin, end, 1)
        bounds = [constant_before(layer.node, number) for number in numbers]
        part = _before(layer.node, "aten::slice", [out, *bounds])
        _replaced(layer.node, part)
    return True


# --- all ---


def without_dropout(graph) -> bool:
    """Takes out dropouts that leave their input as it is."""

    def rule(node: Node) -> bool:
        if node.kind().rstrip("_") not in _DROPOUTS or len(node._inputs) != 3:
            return False
        if _constant(node._inputs[2]) is not False:
            return False
        return _replaced(node, node._inputs[0])

    return _over(graph, rule)


def optimized(graph, optimize_numerics: bool = True) -> None:
    """The passes of frozen graphs.

    Args:
        graph: changed.
        optimize_numerics: whether weights change; results do by rounding.
    """
    with rewriting(graph):
        fold(graph)
    without_dropout(graph)
    concatenated_linear(graph)
    rules = (conv_batch_norm, conv_add_or_sub, conv_mul_or_div, linear_batch_norm)
    while optimize_numerics and any(rule(graph) for rule in rules):
        pass
