"""Modules that compiled code has in the place of dynamically quantised ones.

They hold integers and scales as plain tensors.
"""

from __future__ import annotations

import hotaru

from ...... import nn


class Linear(nn.Module):
    """y = x Aᵀ + b of floats by integers, with a rectifier or without one."""

    def __init__(self, weight, bias, rectified: bool) -> None:
        super().__init__()
        scale, zero = weight._scale, weight._zero_point
        if weight._axis is None:
            scale = hotaru.full([1], scale)
            zero = hotaru.full([1], zero, dtype=hotaru.int8) if zero else None
        else:
            scale, zero = scale.float(), zero.to(hotaru.int8)
        self.register_buffer("weight", weight._integers)
        self.register_buffer("scale", scale)
        self.register_buffer("zero_point", zero)
        self.register_buffer("bias", bias)
        self.rectified = rectified

    def forward(self, x):
        made = hotaru.ops.hotaru.linear_dynamic(
            x.detach(), self.weight, self.scale, self.zero_point, self.bias
        )
        return made.relu() if self.rectified else made


class HalfLinear(nn.Module):
    """The same by a weight of float16, whose numbers it holds as float32."""

    def __init__(self, weight, bias, rectified: bool) -> None:
        super().__init__()
        self.register_buffer("weight", weight.float())
        self.register_buffer("bias", bias)
        self.rectified = rectified

    def forward(self, x):
        made = nn.functional.linear(x, self.weight, self.bias)
        return made.relu() if self.rectified else made


class _Recurrent(nn.Module):
    """A recurrent network over sequences, evaluating, by integers."""

    def __init__(self, given) -> None:
        super().__init__()
        self.num_layers = given.num_layers
        self.bidirectional = given.bidirectional
        self.batch_first = given.batch_first
        self.hidden_size = given.hidden_size
        self.cells = given.num_layers * (2 if given.bidirectional else 1)
        self.weights: list[hotaru.Tensor] = []
        self.scales: list[hotaru.Tensor] = []
        self.biases: list[hotaru.Tensor] = []
        for cell in given._all_weight_values:
            for weight, bias in zip(cell.param[:2], cell.param[2:]):
                scale = weight._scale
                if weight._axis is None:
                    scale = hotaru.full([1], scale)
                self.weights.append(weight._integers)
                self.scales.append(scale.float())
                self.biases.append(bias)

    def start(self, x):
        """A state of zeros."""
        batch = x.size(0) if self.batch_first else x.size(1)
        return hotaru.zeros([self.cells, batch, self.hidden_size], device=x.device)


class LSTM(_Recurrent):
    """A long short-term memory."""

    def forward(self, input, hx: tuple[hotaru.Tensor, hotaru.Tensor] | None = None):
        if hx is None:
            zeros = self.start(input)
            hx = (zeros, zeros)
        output, hidden, cell = hotaru.ops.hotaru.lstm_dynamic(
            input,
            [hx[0], hx[1]],
            self.weights,
            self.scales,
            self.biases,
            self.num_layers,
            self.bidirectional,
            self.batch_first,
        )
        return output, (hidden, cell)


class GRU(_Recurrent):
    """A gated recurrent unit."""

    def forward(self, input, hx: hotaru.Tensor | None = None):
        if hx is None:
            hx = self.start(input)
        output, hidden = hotaru.ops.hotaru.gru_dynamic(
            input,
            hx,
            self.weights,
            self.scales,
            self.biases,
            self.num_layers,
            self.bidirectional,
            self.batch_first,
        )
        return output, hidden


def recurrent(given):
    """The counterpart of a network, or itself where there is none: weights of
    float16, zero points, missing biases, dropout while training.
    """
    for cell in given._all_weight_values:
        weights, biases = cell.param[:2], cell.param[2:]
        whole = all(
            w.dtype is hotaru.qint8
            and bool(hotaru.as_tensor(w._zero_point).eq(0).all())
            for w in weights
        )
        if not whole or any(b is None for b in biases):
            return given
    if given.training and given.dropout:
        return given
    return {"LSTM": LSTM, "GRU": GRU}[given.mode](given)
