"""Recurrent layers: RNN, LSTM and GRU over whole sequences.

Shapes: input (L, N, input_size), with `batch_first` (N, L, input_size),
unbatched (L, input_size), or a `PackedSequence`. States are (layers *
directions, N, hidden_size), unbatched without N, whatever `batch_first` is.
"""

from __future__ import annotations

import math
import operator
import warnings
import weakref

import hotaru

from ... import Tensor, empty, ops, zeros
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .rnn_cell import GRUCell as GRUCell
    from .rnn_cell import LSTMCell as LSTMCell
    from .rnn_cell import RNNCell as RNNCell
    from .rnn_cell import RNNCellBase as RNNCellBase

# Rows of the weights, in multiples of hidden_size.
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_OPERATORS = {
    "LSTM": "lstm",
    "GRU": "gru",
    "RNN_TANH": "rnn_tanh",
    "RNN_RELU": "rnn_relu",
}
# By layer, the list that was given out as its `_flat_weights`, or set, and the
# weights that it had by their names then.
_GIVEN = weakref.WeakKeyDictionary()


def given_weights(layer: RNNBase) -> list[Tensor] | None:
    """Returns what a program has put in the place of a layer's weights, or
    None.
    """
    used = layer._used_weights
    named = layer._named_weights()
    same = len(used) == len(named) and all(map(operator.is_, used, named))
    return None if same else used


def check_mode(mode: str, known) -> None:
    if mode not in known:
        raise ValueError(f"Unrecognized RNN mode: {mode}")


def check_sizes(input: Tensor, batch_sizes: Tensor | None, input_size: int) -> None:
    """RuntimeError for another rank or last size of the input."""
    rank = 2 if batch_sizes is not None else 3
    if input.dim() != rank:
        raise RuntimeError(f"input must have {rank} dimensions, got {input.dim()}")
    if input.size(-1) != input_size:
        raise RuntimeError(
            "input.size(-1) must be equal to input_size. "
            f"Expected {input_size}, got {input.size(-1)}"
        )


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
        check_mode(mode, _GATES)
        _check_options(
            {
                "bias": (bias, bool),
                "batch_first": (batch_first, bool),
                "input_size": (input_size, int),
                "hidden_size": (hidden_size, int),
            },
            num_layers,
            dropout,
            proj_size,
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
                shapes = {"weight_ih": (rows, columns), "weight_hh": (rows, output)}
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
        self._flat_weights_names = [n for names in self._all_weights for n in names]
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
        """Tensors that the operator is given: the weights, or what a program
        has put into their list or in its place. Once a weight is another
        tensor, or the layer is converted, it is the weights again; copies have
        their own.
        """
        weights = self._used_weights
        if self not in _GIVEN:
            _GIVEN[self] = weights, list(weights)
        return weights

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Tensor]) -> None:
        _GIVEN[self] = weights, self._named_weights()

    @property
    def _used_weights(self) -> list[Tensor]:
        weights = self._named_weights()
        if not _GIVEN or self not in _GIVEN:
            return weights
        given, before = _GIVEN[self]
        if any(new is not old for new, old in zip(weights, before)):
            del _GIVEN[self]
            return weights
        return given

    def _named_weights(self) -> list[Tensor]:
        params = self._parameters
        try:
            return [params[name] for name in self._flat_weights_names]
        except KeyError:
            # A parameter was replaced by a plain tensor.
            return [getattr(self, name, None) for name in self._flat_weights_names]

    def __prepare_scriptable__(self):
        if given_weights(self) is not None:
            raise RuntimeError(
                f"{type(self).__name__}: a layer whose `_flat_weights` are not "
                "its weights cannot be compiled; set the weights themselves"
            )
        return self

    def _apply(self, fn, recurse: bool = True):
        super()._apply(fn, recurse)
        _GIVEN.pop(self, None)
        return self

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, n) for n in names] for names in self._all_weights]

    # -- checks ------------------------------------------------------------

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Shape of the hidden state that goes with `input`."""
        return self._state_shape(
            self._batch_of(input, batch_sizes), self._output_size()
        )

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Shape of the cell state that goes with `input`."""
        return self._state_shape(self._batch_of(input, batch_sizes), self.hidden_size)

    def _output_size(self) -> int:
        return self.proj_size if self.proj_size > 0 else self.hidden_size

    def _batch_of(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        if batch_sizes is not None:
            first = batch_sizes[0]
            if not hotaru.jit.is_scripting():
                return hotaru.jit._tracing.traced.size_of(first)
            return int(first)
        return input.size(0 if self.batch_first else 1)

    def _state_shape(self, batch: int, size: int) -> tuple[int, int, int]:
        directions = 2 if self.bidirectional else 1
        return (self.num_layers * directions, batch, size)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """ValueError or RuntimeError for a wrong dtype, rank or last size."""
        weight = self.weight_ih_l0
        # PyTorch's compiled code can't ask for the autocast of a device.
        if (
            not hotaru.jit.is_scripting()
            and input.dtype != weight.dtype
            and not hotaru.is_autocast_enabled(input.device.type)
        ):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype "
                f"({weight.dtype}). Convert input: input.to({weight.dtype}), "
                f"or convert model: model.to({input.dtype})"
            )
        check_sizes(input, batch_sizes, self.input_size)

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """RuntimeError if the state's shape is not the expected one."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(
        self, input: Tensor, hidden: Tensor, batch_sizes: Tensor | None
    ) -> None:
        """Raises the errors of `check_input` and `check_hidden_size`."""
        self.check_input(input, batch_sizes)
        self._check_states(input, [hidden], batch_sizes)

    def permute_hidden(self, hx: Tensor, permutation: Tensor | None) -> Tensor:
        """The state with its batch in another order; None keeps it."""
        if permutation is None:
            return hx
        return hx.index_select(1, permutation)

    def _check_rank(self, input: Tensor) -> bool:
        """True if batched."""
        rank = input.dim()
        if rank != 2 and rank != 3:
            name = "RNN" if self.mode.startswith("RNN") else self.mode
            got = f"{rank}D tensor" if name == "RNN" else f"{rank}D"
            raise ValueError(
                f"{name}: Expected input to be 2D or 3D, got {got} instead"
            )
        return rank == 3

    def _check_state_ranks(self, states: list[Tensor], batched: bool) -> None:
        rank = 3 if batched else 2
        what = "batched 3-D" if batched else "unbatched 2-D"
        if self.mode == "LSTM":
            hidden, cell = states[0].dim(), states[1].dim()
            if hidden != rank or cell != rank:
                raise RuntimeError(
                    f"For {what} input, hx and cx should also be {rank}-D but "
                    f"got ({hidden}-D, {cell}-D) tensors"
                )
        elif states[0].dim() != rank:
            raise RuntimeError(
                f"For {what} input, hx should also be {rank}-D but got "
                f"{states[0].dim()}-D tensor"
            )

    def _check_states(
        self, input: Tensor, states: list[Tensor], batch_sizes: Tensor | None
    ) -> None:
        expected = self.get_expected_hidden_size(input, batch_sizes)
        if self.mode == "LSTM":
            self.check_hidden_size(
                states[0], expected, "Expected hidden[0] size {}, got {}"
            )
            self.check_hidden_size(
                states[1],
                self.get_expected_cell_size(input, batch_sizes),
                "Expected hidden[1] size {}, got {}",
            )
        else:
            self.check_hidden_size(states[0], expected)

    # -- forward, in the subset of Python that jit.script compiles ----------
    # The state of an RNN or GRU is a list of one tensor here, that of an LSTM
    # a list of two, and none is an empty list.

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Returns (output, last state); packed output for packed input."""
        states: list[Tensor] = [] if hx is None else [hx]
        results = self._run(input, states)
        return results[0], results[1]

    def _run(self, input: Tensor, states: list[Tensor]) -> list[Tensor]:
        """The output, and the last state."""
        scripting = hotaru.jit.is_scripting()
        if not scripting and isinstance(input, PackedSequence):
            return self._run_packed(input, states)
        batched = self._check_rank(input)
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if len(states) == 0:
            self.check_input(input, None)
            states = self._zero_states(input, None)
        else:
            self._check_state_ranks(states, batched)
            if not batched:
                states = [state.unsqueeze(1) for state in states]
            self.check_input(input, None)
            self._check_states(input, states, None)
        results = self._call_operator(input, states)
        if batched:
            return results
        output = results[0].squeeze(0 if self.batch_first else 1)
        return [output] + [state.squeeze(1) for state in results[1:]]

    def _zero_states(self, input: Tensor, batch_sizes: Tensor | None) -> list[Tensor]:
        hidden = zeros(
            self.get_expected_hidden_size(input, batch_sizes),
            dtype=input.dtype,
            device=input.device,
        )
        if self.mode != "LSTM":
            return [hidden]
        cell = zeros(
            self.get_expected_cell_size(input, batch_sizes),
            dtype=input.dtype,
            device=input.device,
        )
        return [hidden, cell]

    def _call_operator(self, input: Tensor, states: list[Tensor]) -> list[Tensor]:
        if hotaru.jit.is_scripting():
            weights = self._flat_weights
        else:
            weights = self._used_weights
        options = (
            weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )
        if self.mode == "LSTM":
            output, hidden, cell = ops.lstm(input, states, *options)
            return [output, hidden, cell]
        if self.mode == "GRU":
            output, hidden = ops.gru(input, states[0], *options)
        elif self.mode == "RNN_TANH":
            output, hidden = ops.rnn_tanh(input, states[0], *options)
        else:
            output, hidden = ops.rnn_relu(input, states[0], *options)
        return [output, hidden]

    def _run_packed(self, input: PackedSequence, states: list) -> list:
        data, batch_sizes, order, original_order = input
        if not states:
            states = self._zero_states(data, batch_sizes)
        elif order is not None:
            states = [state.index_select(1, order) for state in states]
        self.check_input(data, batch_sizes)
        self._check_states(data, states, batch_sizes)
        output, *states = getattr(ops, _OPERATORS[self.mode])(
            data,
            batch_sizes,
            states if self.mode == "LSTM" else states[0],
            self._used_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )
        if original_order is not None:
            states = [s.index_select(1, original_order) for s in states]
        packed = PackedSequence(output, batch_sizes, order, original_order)
        return [packed, *states]

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


def _check_options(typed: dict, num_layers, dropout, proj_size) -> None:
    """`typed` has a value and its type for each name; ints are sizes."""
    is_number = isinstance(dropout, (int, float)) and not isinstance(dropout, bool)
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
    for name, (value, kind) in typed.items():
        if not isinstance(value, kind):
            raise TypeError(
                f"{name} should be of type {kind.__name__}, got: {type(value).__name__}"
            )
        if kind is int and value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError(
            "proj_size should be a positive integer or zero to disable projections"
        )
    if proj_size >= typed["hidden_size"][0]:
        raise ValueError("proj_size has to be smaller than hidden_size")


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
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
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

    def check_forward_args(
        self, input: Tensor, hidden: tuple[Tensor, Tensor], batch_sizes: Tensor | None
    ) -> None:
        """Raises if something is wrong with the input or one of the states."""
        self.check_input(input, batch_sizes)
        self._check_states(input, list(hidden), batch_sizes)

    def permute_hidden(
        self, hx: tuple[Tensor, Tensor], permutation: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Both states with their batch in another order; None keeps it."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Returns (output, (hidden, cell)); packed output for packed input."""
        states: list[Tensor] = [] if hx is None else [hx[0], hx[1]]
        results = self._run(input, states)
        return results[0], (results[1], results[2])
