"""Operators of programs in archives: what packed weights do.

By name: `OPERATORS["linear"]` is quantized::linear, `ATEN["quantized_lstm"]`
one of PyTorch's own namespace.
"""

from __future__ import annotations

import hotaru

from ..nn import functional as F
from . import products
from .choose import choose_qparams, range_of
from .create import quantize_per_tensor
from .joined import _joined, _pair
from .norms import normed
from .packed import (
    CellPacked,
    Conv2dPacked,
    Conv3dPacked,
    EmbeddingPacked,
    LinearPacked,
)
from .rounding import to_integers
from .tensor import is_quantized

OPERATORS: dict = {}
ATEN: dict = {}


def _operator(*names: str):
    def add(function):
        for name in names or (function.__name__,):
            OPERATORS[name] = function
        return function

    return add


# -- linear maps ---------------------------------------------------------------


@_operator()
def linear_prepack(W, B=None):
    return LinearPacked(W, B)


@_operator()
def linear_prepack_fp16(W, B=None):
    return LinearPacked(products.saturated_half(W), B)


@_operator("linear_unpack", "linear_unpack_fp16")
def linear_unpack(W_prepack):
    return W_prepack.unpack()


def _linear(rectified: bool):
    def linear(X, W_prepack, Y_scale_i: float, Y_zero_point_i: int):
        return products.linear(
            X, W_prepack.weight, W_prepack.bias(), Y_scale_i, Y_zero_point_i, rectified
        )

    return linear


OPERATORS["linear"], OPERATORS["linear_relu"] = _linear(False), _linear(True)


def _levels(x, reduce_range: bool):
    """Integers - zero_point in float64, and the scale."""
    if reduce_range:
        levels, scale = products.dynamic_levels(x)
        return levels.double(), scale
    scale, zero_point = choose_qparams(*range_of(x), 0, 255)
    levels = to_integers(x.detach(), scale, zero_point, 0, 255)
    return levels.double() - zero_point, scale


def linear_of_floats(X, packed, reduce_range: bool):
    """X Wᵀ + b, with the integers of X found from its numbers."""
    weight, bias = packed.weight, packed.bias()
    if reduce_range or not is_quantized(weight):
        return products.linear_dynamic(X, weight, bias)
    levels, scale = _levels(X, False)
    sums = F.linear(levels, products.levels(weight).double()).float()
    made = sums * (products.steps(weight, 0) * scale)
    return made if bias is None else made + bias


@_operator()
def linear_dynamic(X, W_prepack, reduce_range: bool = False):
    return linear_of_floats(X, W_prepack, reduce_range)


@_operator()
def linear_relu_dynamic(X, W_prepack, reduce_range: bool = False):
    return linear_of_floats(X, W_prepack, reduce_range).relu()


@_operator()
def linear_dynamic_fp16(X, W_prepack):
    return linear_of_floats(X, W_prepack, True)


@_operator()
def linear_relu_dynamic_fp16(X, W_prepack):
    return linear_of_floats(X, W_prepack, True).relu()


# -- convolutions --------------------------------------------------------------


def _flat(weight):
    """A weight over sequences as one over pictures of height 1."""
    return weight.unsqueeze(2)


def _prepack(axes: int, transposed: bool):
    kind = Conv3dPacked if axes == 3 else Conv2dPacked

    def made(weight, bias, stride, padding, extra, dilation, groups):
        if axes == 1:
            weight = _flat(weight)
            stride, dilation = [1, *stride], [1, *dilation]
            padding, extra = [0, *padding], [0, *extra] if extra else None
        return kind(weight, bias, stride, padding, dilation, groups, extra, transposed)

    if transposed:

        def prepack(weight, bias, stride, padding, output_padding, dilation, groups):
            return made(weight, bias, stride, padding, output_padding, dilation, groups)

    else:

        def prepack(weight, bias, stride, padding, dilation, groups):
            return made(weight, bias, stride, padding, None, dilation, groups)

    return prepack


def _unpack(axes: int):
    def unpack(packed_weights):
        weight, bias = packed_weights.unpack()
        return (weight.squeeze(2) if axes == 1 else weight), bias

    return unpack


def _convolution(axes: int, rectified: bool):
    def convolution(
        qx, packed_weight, output_scale: float, output_zero_point: int, *old
    ):
        if old:  # with stride, padding, dilation and groups, as once
            output_scale, output_zero_point = old[-2:]
        x = _flat(qx) if axes == 1 else qx
        made = products.convolution(
            x,
            *packed_weight.unpack(),
            packed_weight.run,
            output_scale,
            output_zero_point,
            rectified,
        )
        return made.squeeze(2) if axes == 1 else made

    return convolution


def _dynamic_convolution(axes: int):
    def convolution(qx, packed_weight, reduce_range: bool = True):
        x = _flat(qx) if axes == 1 else qx
        weight, bias = packed_weight.unpack()
        levels, scale = _levels(x, reduce_range)
        sums = packed_weight.run(levels, products.levels(weight).double())
        places = weight.dim() - 2
        made = sums.float() * (products.steps(weight, places) * scale)
        if bias is not None:
            made = made + bias.reshape([-1] + [1] * places)
        return made.squeeze(2) if axes == 1 else made

    return convolution


def _summed(rectified: bool):
    def conv_add(qx, qaccum, packed_weight, output_scale, output_zero_point):
        weight, bias = packed_weight.unpack()
        sums = packed_weight.run(products.levels(qx), products.levels(weight))
        numbers = sums * (products.steps(weight, 2) * qx.q_scale())
        if bias is not None:
            numbers = numbers + bias.reshape(-1, 1, 1)
        numbers = numbers + qaccum.dequantize()
        return _made(
            numbers.relu() if rectified else numbers,
            output_scale,
            output_zero_point,
            qx,
        )

    return conv_add


for _axes in (1, 2, 3):
    for _kind, _turned in (("conv", False), ("conv_transpose", True)):
        _name = f"{_kind}{_axes}d"
        OPERATORS[f"{_name}_prepack"] = _prepack(_axes, _turned)
        OPERATORS[f"{_name}_unpack"] = _unpack(_axes)
        OPERATORS[_name] = _convolution(_axes, False)
        OPERATORS[f"{_name}_dynamic"] = _dynamic_convolution(_axes)
        for _asked in (
            "stride",
            "padding",
            "output_padding",
            "dilation",
            "groups",
            "transpose",
        ):
            OPERATORS[f"{_name}_{_asked}"] = lambda packed, asked=_asked: getattr(
                packed, asked
            )()
    OPERATORS[f"conv{_axes}d_relu"] = _convolution(_axes, True)
OPERATORS["conv2d_add"] = _summed(False)
OPERATORS["conv2d_add_relu"] = _summed(True)


# -- operators of tensors ------------------------------------------------------


def _made(numbers, scale, zero_point, like):
    """Numbers with a scale, in the dtype of another tensor."""
    return quantize_per_tensor(numbers, scale, zero_point, like.dtype)


def _sum_or_product(name: str):
    return lambda qa, qb, scale, zero_point: _pair(name, qa, qb, scale, zero_point)


def _side_by_side(name: str):
    return lambda qx, dim, scale=None, zero_point=None: _joined(
        name, qx, dim, scale, zero_point
    )


for _name in ("add", "add_relu", "mul", "mul_relu"):
    OPERATORS[_name] = _sum_or_product(_name)
for _name in ("cat", "cat_relu"):
    OPERATORS[_name] = _side_by_side(_name)


@_operator()
def matmul(qa, qb, scale: float, zero_point: int):
    return _made(qa.dequantize() @ qb.dequantize(), scale, zero_point, qa)


def _norm(rectified: bool):
    def batch_norm(qx, weight, bias, mean, var, eps, output_scale, output_zero_point):
        return normed(
            qx, weight, bias, mean, var, eps, output_scale, output_zero_point, rectified
        )

    return batch_norm


for _axes in ("", "1d", "2d", "3d"):
    OPERATORS[f"batch_norm{_axes}"] = _norm(False)
    OPERATORS[f"batch_norm{_axes}_relu"] = _norm(True)


@_operator()
def layer_norm(
    input, normalized_shape, weight, bias, eps, output_scale, output_zero_point
):
    numbers = F.layer_norm(input.dequantize(), normalized_shape, weight, bias, eps)
    return _made(numbers, output_scale, output_zero_point, input)


@_operator()
def group_norm(qx, num_groups, weight, bias, eps, output_scale, output_zero_point):
    numbers = F.group_norm(qx.dequantize(), num_groups, weight, bias, eps)
    return _made(numbers, output_scale, output_zero_point, qx)


@_operator()
def instance_norm(input, weight, bias, eps, output_scale, output_zero_point):
    numbers = F.instance_norm(input.dequantize(), weight=weight, bias=bias, eps=eps)
    return _made(numbers, output_scale, output_zero_point, input)


@_operator()
def leaky_relu(qx, negative_slope, inplace, output_scale, output_zero_point):
    numbers = F.leaky_relu(qx.dequantize(), negative_slope)
    return _made(numbers, output_scale, output_zero_point, qx)


@_operator()
def elu(self, output_scale, output_zero_point, alpha=1.0, scale=1.0, input_scale=1.0):
    numbers = F.elu(self.dequantize() * input_scale, alpha) * scale
    return _made(numbers, output_scale, output_zero_point, self)


@_operator()
def celu(self, output_scale, output_zero_point, alpha=1.0):
    numbers = F.celu(self.dequantize(), alpha)
    return _made(numbers, output_scale, output_zero_point, self)


@_operator()
def hardswish(input, output_scale, output_zero_point):
    numbers = F.hardswish(input.dequantize())
    return _made(numbers, output_scale, output_zero_point, input)


@_operator()
def sigmoid(qx, output_scale, output_zero_point):
    numbers = qx.dequantize().sigmoid()
    return _made(numbers, output_scale, output_zero_point, qx)


@_operator()
def tanh(qx, output_scale, output_zero_point):
    numbers = qx.dequantize().tanh()
    return _made(numbers, output_scale, output_zero_point, qx)


@_operator()
def softmax(qx, dim, output_scale, output_zero_point):
    numbers = F.softmax(qx.dequantize(), dim)
    return _made(numbers, output_scale, output_zero_point, qx)


@_operator()
def prelu(qx, weight, output_scale, output_zero_point):
    numbers = F.prelu(qx.dequantize(), weight.dequantize())
    return _made(numbers, output_scale, output_zero_point, qx)


@_operator()
def dropout(self, output_scale, output_zero_point, p=0.5, training=False):
    return self


@_operator()
def relu6(qx, inplace: bool = False):
    return F.relu6(qx, inplace)


@_operator()
def clamp(qx, min=None, max=None):
    return hotaru.clamp(qx, min, max)


# -- tables --------------------------------------------------------------------


@_operator("embedding_bag_prepack")
def embedding_prepack(weight):
    return EmbeddingPacked(weight)


@_operator("embedding_bag_unpack")
def embedding_unpack(W_prepack):
    return W_prepack.unpack()


@_operator("embedding_byte", "embedding_4bit")
def embedding(weight, indices, pruned_weights: bool = False):
    return products.rows(weight.unpack(), indices)


@_operator("embedding_bag_byte", "embedding_bag_4bit")
def embedding_bag(
    weight,
    indices,
    offsets=None,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    pruned_weights: bool = False,
    per_sample_weights=None,
    compressed_indices_mapping=None,
    include_last_offset: bool = False,
):
    if compressed_indices_mapping is not None and pruned_weights:
        raise NotImplementedError(
            "quantized::embedding_bag: pruned tables are not there"
        )
    found = products.rows(weight.unpack(), indices.reshape(-1))
    places = hotaru.arange(found.size(0)).reshape(indices.shape)
    return F.embedding_bag(
        places,
        found,
        offsets,
        mode="sum",
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
    )


# -- recurrent networks --------------------------------------------------------


@_operator()
def make_quantized_cell_params_dynamic(
    w_ih, w_hh, bias_ih, bias_hh, reduce_range: bool = False
):
    weights, biases = (w_ih, w_hh), (bias_ih, bias_hh)
    return CellPacked("quantized_dynamic", weights, biases, reduce_range)


@_operator()
def make_quantized_cell_params_fp16(w_ih, w_hh):
    weights = (w_ih, w_hh)
    biases = [w.bias() for w in weights]
    return CellPacked("quantized_fp16", weights, biases)


def _gates(cell: CellPacked, place: int, x):
    # The bias is the packed weight's; those beside it are for files.
    return linear_of_floats(x, cell.weights[place], cell.reduce_range)


def _lstm_step(of_input, of_state, states: tuple) -> tuple:
    inner, forget, new, outer = (of_input + of_state).chunk(4, -1)
    cell = forget.sigmoid() * states[1] + inner.sigmoid() * new.tanh()
    return outer.sigmoid() * cell.tanh(), cell


def _gru_step(of_input, of_state, states: tuple) -> tuple:
    reset_in, update_in, new_in = of_input.chunk(3, -1)
    reset_state, update_state, new_state = of_state.chunk(3, -1)
    reset = (reset_in + reset_state).sigmoid()
    update = (update_in + update_state).sigmoid()
    new = (new_in + reset * new_state).tanh()
    return (new + update * (states[0] - new),)


def _layer(x, states, cell, step, backwards: bool, sizes):
    """One layer in one direction; `sizes` are those of the steps' batches."""
    gates = _gates(cell, 0, x)
    parts = list(gates.unbind(0) if sizes is None else gates.split(sizes))
    outputs = [None] * len(parts)
    order = range(len(parts))
    for n in reversed(order) if backwards else order:
        size = parts[n].size(0)
        now = tuple(s[:size] for s in states)
        now = step(parts[n], _gates(cell, 1, now[0]), now)
        outputs[n] = now[0]
        states = tuple(
            new if size == old.size(0) else hotaru.cat((new, old[size:]))
            for new, old in zip(now, states)
        )
    return (hotaru.stack if sizes is None else hotaru.cat)(outputs), states


def _recurrent(
    x, states, cells, step, num_layers, dropout, train, bidirectional, sizes
):
    directions = 2 if bidirectional else 1
    ends: list = []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            n = layer * directions + direction
            start = tuple(s[n] for s in states)
            made, end = _layer(x, start, cells[n], step, direction == 1, sizes)
            outputs.append(made)
            ends.append(end)
        x = hotaru.cat(outputs, -1) if bidirectional else outputs[0]
        if dropout and train and layer < num_layers - 1:
            x = F.dropout(x, dropout)
    return x, [hotaru.stack(parts) for parts in zip(*ends)]


def _network(step, hidden_of):
    def network(first, second, third, *rest, dtype=None, use_dynamic=False):
        # Sequences (input, hx, params, has_biases, …, batch_first) or packed
        # ones (data, batch_sizes, hx, params, has_biases, …).
        if isinstance(third, (list, tuple)) and isinstance(third[0], CellPacked):
            x, hx, cells, sizes = first, second, third, None
            _, layers, dropout, train, both, batch_first = rest
        else:
            x, hx, sizes = first, third, second.tolist()
            cells, _, layers, dropout, train, both = rest
            batch_first = False
        if batch_first:
            x = x.transpose(0, 1)
        output, ends = _recurrent(
            x, hidden_of(hx), cells, step, layers, dropout, train, both, sizes
        )
        return (output.transpose(0, 1) if batch_first else output, *ends)

    return network


ATEN["quantized_lstm"] = _network(_lstm_step, list)
ATEN["quantized_gru"] = _network(_gru_step, lambda hx: [hx])


def _cell(step, hidden_of):
    def cell(input, hx, w_ih, w_hh, b_ih, b_hh):
        made = CellPacked("quantized_dynamic", (w_ih, w_hh), (b_ih, b_hh))
        states = hidden_of(hx)
        gates = _gates(made, 0, input), _gates(made, 1, states[0])
        ends = step(*gates, tuple(states))
        return ends if len(ends) > 1 else ends[0]

    return cell


def _plain_step(name: str):
    def step(of_input, of_state, states: tuple) -> tuple:
        return (getattr(hotaru, name)(of_input + of_state),)

    return step


OPERATORS["quantized_lstm_cell_dynamic"] = _cell(_lstm_step, list)
for _name, _step in (
    ("gru", _gru_step),
    ("rnn_relu", _plain_step("relu")),
    ("rnn_tanh", _plain_step("tanh")),
):
    _made_cell = _cell(_step, lambda hx: [hx])
    OPERATORS[f"quantized_{_name}_cell_dynamic"] = _made_cell
