"""Recurrent layers: RNN, LSTM and GRU over whole sequences.

Shapes: input (L, N, input_size), with `batch_first` (N, L, input_size),
unbatched (L, input_size), or a `PackedSequence`. States are (layers *
directions, N, hidden_size), unbatched without N, whatever `batch_first` is.
"""

from __future__ import annotations

import math
import warnings

from ... import Tensor, empty, ops, zeros
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

# Rows of the weights, in multiples of hidden_size.
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_OPERATORS = {
    "LSTM": "lstm",
    "GRU": "gru",
    "RNN_TANH": "rnn_tanh",
    "RNN_RELU": "rnn_relu",
}


class RNNBase(Module):
    """Parameters, checks and text of the recurrent layers.

    For layer k (and suffix "_reverse" backwards): weight_ih_lk (gates * hidden,
    input), weight_hh_lk (gates * hidden, output), bias_ih_lk, bias_hh_lk (gates
    * hidden), and with projection weight_hr_lk (proj, hidden); all uniform in
    ±1/√hidden_size at first.

    Args:
        dropout: probability on the output of every layer but the last.
        proj_size: LSTM only, size that the hidden state is projected to.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        _check_options(
            mode, input_size, hidden_size, num_layers, bias, dropout, proj_size
        )
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size

        rows = _GATES[mode] * hidden_size
        output = proj_size or hidden_size
        directions = 2 if bidirectional else 1
        options = {"device": device, "dtype": dtype}
        # Names a layer and direction, in the operators' order.
        self._all_weights = []
        for layer in range(num_layers):
            columns = input_size if layer == 0 else output * directions
            for direction in range(directions):
                shapes = {
                    "weight_ih": (rows, columns),
                    "weight_hh": (rows, output),
                }
                if bias:
                    shapes.update(bias_ih=(rows,), bias_hh=(rows,))
                if proj_size > 0:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                for name, shape in shapes.items():
                    self.register_parameter(
                        name + suffix, Parameter(empty(shape, **options))
                    )
                self._all_weights.append([name + suffix for name in shapes])
        self._flat_weights_names = [
            n for names in self._all_weights for n in names
        ]
        self._operator_name = _OPERATORS[mode]
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters, in their order."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: weights are packed by the kernels themselves."""

    @property
    def _flat_weights(self) -> list[Tensor]:
        params = self._parameters
        try:
            return [params[name] for name in self._flat_weights_names]
        except KeyError:
            # A parameter was replaced by a plain tensor.
            return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters, a list for each layer and direction."""
        return [
            [getattr(self, n) for n in names] for names in self._all_weights
        ]

    # -- checks ------------------------------------------------------------

    def get_expected_hidden_size(self, input: Tensor, batch_sizes) -> tuple:
        """Shape of the hidden state that goes with `input`."""
        return self._state_shape(
            self._batch_of(input, batch_sizes),
            self.proj_size or self.hidden_size,
        )

    def get_expected_cell_size(self, input: Tensor, batch_sizes) -> tuple:
        """Shape of the cell state that goes with `input`."""
        return self._state_shape(
            self._batch_of(input, batch_sizes), self.hidden_size
        )

    def _batch_of(self, input: Tensor, batch_sizes) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return input.size(0 if self.batch_first else 1)

    def _state_shape(self, batch: int, size: int) -> tuple:
        directions = 2 if self.bidirectional else 1
        return (self.num_layers * directions, batch, size)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """ValueError or RuntimeError for a wrong dtype, rank or last size."""
        weight = self._parameters.get(self._flat_weights_names[0])
        if weight is not None and input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype "
                f"({weight.dtype}). Convert input: input.to({weight.dtype}), "
                f"or convert model: model.to({input.dtype})"
            )
        rank = 2 if batch_sizes is not None else 3
        if input.dim() != rank:
            raise RuntimeError(
                f"input must have {rank} dimensions, got {input.dim()}"
            )
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.size(-1)}"
            )

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple,
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """RuntimeError if the state's shape is not the expected one."""
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(
                msg.format(expected_hidden_size, list(hx.size()))
            )

    def _check_rank(self, input: Tensor) -> bool:
        """True if batched."""
        rank = input.dim()
        if rank not in (2, 3):
            name = "RNN" if self.mode.startswith("RNN") else self.mode
            got = f"{rank}D tensor" if name == "RNN" else f"{rank}D"
            raise ValueError(
                f"{name}: Expected input to be 2D or 3D, got {got} instead"
            )
        return rank == 3

    def _zero_state(self, input: Tensor, batch: int, size: int) -> Tensor:
        shape = self._state_shape(batch, size)
        return zeros(shape, dtype=input.dtype, device=input.device)

    # -- forward -----------------------------------------------------------

    def forward(self, input, hx=None):
        """Returns (output, last state); packed output for packed input."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        batched = self._check_rank(input)
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        hx = self._prepare_state(input, hx, batched, None, None)
        self.check_input(input, None)
        self._check_state(input, hx, None)
        result = getattr(ops, self._operator_name)(
            input,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )
        output, state = result[0], self._pack_state(result[1:], None)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            state = self._map_state(state, lambda h: h.squeeze(1))
        return output, state

    def _forward_packed(self, input: PackedSequence, hx):
        data, batch_sizes, sorted_indices, unsorted_indices = input
        hx = self._prepare_state(data, hx, True, batch_sizes, sorted_indices)
        self.check_input(data, batch_sizes)
        self._check_state(data, hx, batch_sizes)
        result = getattr(ops, self._operator_name)(
            data,
            batch_sizes,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )
        output = PackedSequence(
            result[0], batch_sizes, sorted_indices, unsorted_indices
        )
        return output, self._pack_state(result[1:], unsorted_indices)

    def _map_state(self, state, fn):
        return fn(state)

    def _prepare_state(self, input, hx, batched, batch_sizes, order):
        """The first state, batched and in the order of a packed input."""
        if hx is None:
            size = self.proj_size or self.hidden_size
            return self._zero_state(
                input, self._batch_of(input, batch_sizes), size
            )
        if batch_sizes is None:
            _check_state_rank(hx, batched)
        if not batched:
            hx = hx.unsqueeze(1)
        return hx if order is None else hx.index_select(1, order)

    def _check_state(self, input, hx, batch_sizes) -> None:
        self.check_hidden_size(
            hx, self.get_expected_hidden_size(input, batch_sizes)
        )

    def _pack_state(self, states, order):
        (state,) = states
        return state if order is None else state.index_select(1, order)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        )
        for name, default in defaults:
            value = getattr(self, name)
            if value != default:
                text += f", {name}={value}"
        return text


def _check_options(
    mode, input_size, hidden_size, num_layers, bias, dropout, proj_size
) -> None:
    is_number = isinstance(dropout, (int, float)) and not isinstance(
        dropout, bool
    )
    if not is_number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the "
            "probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, "
            "so non-zero "
            "dropout expects num_layers greater than 1, but got "
            f"dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value, kind in (
        ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
        ("bias", bias, bool),
    ):
        if not isinstance(value, kind):
            raise TypeError(
                f"{name} should be of type {kind.__name__}, got: "
                f"{type(value).__name__}"
            )
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError(
            "proj_size should be a positive integer or zero to disable "
            "projections"
        )
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def _check_state_rank(hx: Tensor, batched: bool) -> None:
    rank, what = (3, "batched 3-D") if batched else (2, "unbatched 2-D")
    if hx.dim() != rank:
        raise RuntimeError(
            f"For {what} input, hx should also be {rank}-D but got "
            f"{hx.dim()}-D tensor"
        )


_NO_PROJECTION = "proj_size argument is only supported for LSTM, not RNN or GRU"


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or with ReLU (Elman 1990)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device=None,
        dtype=None,
        **others,
    ) -> None:
        if "proj_size" in others:
            raise ValueError(_NO_PROJECTION)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or "
                "'relu'."
            )
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
            **others,
        )
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Gated recurrent unit (Cho et al. 2014); gates in the order r, z, n."""

    def __init__(self, *args, **kwargs) -> None:
        if "proj_size" in kwargs:
            raise ValueError(_NO_PROJECTION)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter & Schmidhuber 1997); gates i, f, g, o.

    The state is a pair: hidden (…, proj_size or hidden_size), cell (…,
    hidden_size).
    """

    def __init__(self, *args, **kwargs) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _map_state(self, state, fn):
        return (fn(state[0]), fn(state[1]))

    def _prepare_state(self, input, hx, batched, batch_sizes, order):
        if hx is None:
            batch = self._batch_of(input, batch_sizes)
            hidden = self._zero_state(
                input, batch, self.proj_size or self.hidden_size
            )
            return (hidden, self._zero_state(input, batch, self.hidden_size))
        if batch_sizes is None:
            rank, what = (3, "batched 3-D") if batched else (2, "unbatched 2-D")
            if hx[0].dim() != rank or hx[1].dim() != rank:
                raise RuntimeError(
                    f"For {what} input, hx and cx should also be {rank}-D but "
                    f"got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
                )
        if not batched:
            return (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
        if order is None:
            return hx
        return (hx[0].index_select(1, order), hx[1].index_select(1, order))

    def _check_state(self, input, hx, batch_sizes) -> None:
        self.check_hidden_size(
            hx[0],
            self.get_expected_hidden_size(input, batch_sizes),
            "Expected hidden[0] size {}, got {}",
        )
        self.check_hidden_size(
            hx[1],
            self.get_expected_cell_size(input, batch_sizes),
            "Expected hidden[1] size {}, got {}",
        )

    def _pack_state(self, states, order):
        hidden, cell = states
        if order is None:
            return (hidden, cell)
        return (hidden.index_select(1, order), cell.index_select(1, order))
