"""Recurrent layers over sequences that compute in integers.

The input's gates of all steps are one product; a state's scale is found in
each step.
"""

from __future__ import annotations

import hotaru

from ...... import nn
from ......_quantized.products import kept_wide, linear_dynamic
from ......nn.modules.rnn import check_mode, check_sizes
from ......nn.utils.rnn import PackedSequence
from . import _scripted, _weights

__all__ = ["GRU", "LSTM"]

_GATES = {"LSTM": 4, "GRU": 3}


class PackedParameter(nn.Module):
    """The weights and biases of one layer and direction, as a part of a state.

    (weight_ih, weight_hh, bias_ih, bias_hh), biases in floats or None.
    """

    def __init__(self, param) -> None:
        super().__init__()
        self.param = param

    def _save_to_state_dict(self, destination, prefix, keep_vars) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "param"] = self.param

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, *rest
    ) -> None:
        self.param = tuple(state_dict.pop(prefix + "param"))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)


class RNNBase(nn.Module):
    """Weights, checks and text of the layers; as the float ones."""

    _FLOAT_MODULE: type

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        dtype=hotaru.qint8,
    ) -> None:
        super().__init__()
        check_mode(mode, _GATES)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.dtype = dtype
        self.training = False
        rows = _GATES[mode] * hidden_size
        directions = 2 if bidirectional else 1
        cells = []
        for layer in range(num_layers):
            columns = input_size if layer == 0 else hidden_size * directions
            for _ in range(directions):
                weights = [
                    _weights.drawn((rows, n), 0.1, dtype)
                    for n in (columns, hidden_size)
                ]
                biases = [hotaru.randn(rows) for _ in weights]
                kept = biases if bias else [None, None]
                cells.append(PackedParameter((*weights, *kept)))
        self._all_weight_values = nn.ModuleList(cells)

    def __prepare_scriptable__(self):
        return _scripted.recurrent(self)

    def _get_name(self) -> str:
        return f"DynamicQuantized{self.mode}"

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def get_weight(self) -> dict:
        """The quantised weights, by the float module's names."""
        return self._named(("weight_ih", 0), ("weight_hh", 1))

    def get_bias(self) -> dict:
        """The biases, by the float module's names."""
        return self._named(("bias_ih", 2), ("bias_hh", 3))

    def _named(self, *places) -> dict:
        found = {}
        for suffix, cell in zip(self._suffixes(), self._all_weight_values):
            for name, place in places:
                found[f"{name}{suffix}"] = cell.param[place]
        return found

    def _suffixes(self) -> list[str]:
        ends = ("", "_reverse") if self.bidirectional else ("",)
        return [f"_l{layer}{end}" for layer in range(self.num_layers) for end in ends]

    def set_weight_bias(self, weight_bias_dict: dict) -> None:
        """Takes other weights and biases, by the float module's names."""
        for suffix, cell in zip(self._suffixes(), self._all_weight_values):
            cell.param = tuple(
                weight_bias_dict[f"{name}{suffix}"]
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )

    def check_input(self, input, batch_sizes=None) -> None:
        """RuntimeError for another rank or size of the input."""
        check_sizes(input, batch_sizes, self.input_size)

    # -- computing -----------------------------------------------------------

    def _run(self, input, states: list | None):
        """The output and the states behind the last step."""
        order = batch_sizes = None
        if isinstance(input, PackedSequence):
            input, batch_sizes, order, _ = input
            self.check_input(input, batch_sizes)
            batch = int(batch_sizes[0])
        else:
            self.check_input(input)
            if self.batch_first:
                input = input.transpose(0, 1)
            batch = input.size(1)
        states = self._start(input, states, batch, order)
        ends: list = []
        directions = 2 if self.bidirectional else 1
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                n = layer * directions + direction
                cell = self._all_weight_values[n].param
                start = tuple(s[n] for s in states)
                output, end = self._layer(
                    input, start, cell, direction == 1, batch_sizes
                )
                outputs.append(output)
                ends.append(end)
            input = hotaru.cat(outputs, -1) if directions == 2 else outputs[0]
            if self.dropout and self.training and layer < self.num_layers - 1:
                input = nn.functional.dropout(input, self.dropout)
        last = [hotaru.stack(parts) for parts in zip(*ends)]
        if batch_sizes is None and self.batch_first:
            input = input.transpose(0, 1)
        return input, last

    def _start(self, input, states, batch, order) -> list:
        directions = 2 if self.bidirectional else 1
        shape = (self.num_layers * directions, batch, self.hidden_size)
        if states is None:
            zeros = hotaru.zeros(shape, device=input.device)
            return [zeros] * (2 if self.mode == "LSTM" else 1)
        for n, state in enumerate(states):
            if tuple(state.shape) != shape:
                label = f"[{n}]" if self.mode == "LSTM" else ""
                raise RuntimeError(
                    f"Expected hidden{label} size {shape}, got {tuple(state.shape)}"
                )
        if order is not None:
            states = [state.index_select(1, order) for state in states]
        return states

    def _layer(self, input, states, cell, backwards, batch_sizes):
        """One layer in one direction; a step's batch may be smaller than the
        first one's (packed input: longest sequences first).
        """
        weight_ih, weight_hh, bias_ih, bias_hh = cell
        gates = linear_dynamic(input, weight_ih, bias_ih)
        weight_hh = kept_wide(weight_hh)
        if batch_sizes is None:
            steps = list(gates.unbind(0))
        else:
            steps = list(gates.split(batch_sizes.tolist()))
        outputs = [None] * len(steps)
        order = range(len(steps))
        for n in reversed(order) if backwards else order:
            size = steps[n].size(0)
            now = tuple(s[:size] for s in states)
            of_state = linear_dynamic(now[0], weight_hh, bias_hh)
            if self.mode == "LSTM":
                now = _weights.lstm_step(steps[n] + of_state, now)
            else:
                now = (_weights.gru_step(steps[n], of_state, now[0]),)
            outputs[n] = now[0]
            states = tuple(
                new if size == old.size(0) else hotaru.cat((new, old[size:]))
                for new, old in zip(now, states)
            )
        joined = hotaru.stack if batch_sizes is None else hotaru.cat
        return joined(outputs), states

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module with a qconfig.

        RuntimeError for weights of other dtypes than qint8 and float16.
        """
        _weights.check_float(cls, mod, (cls._FLOAT_MODULE,))
        if getattr(mod, "proj_size", 0):
            raise NotImplementedError(
                "nn.quantized.dynamic.LSTM.from_float: proj_size is not there; "
                "leave the module in floats"
            )
        made = cls(
            mod.input_size,
            mod.hidden_size,
            mod.num_layers,
            mod.bias,
            mod.batch_first,
            mod.dropout,
            mod.bidirectional,
            dtype=_weights.dtype_of(mod),
        )
        given = {}
        for suffix in made._suffixes():
            for side in ("ih", "hh"):
                weight = getattr(mod, f"weight_{side}{suffix}")
                bias = getattr(mod, f"bias_{side}{suffix}", None)
                given[f"weight_{side}{suffix}"] = _weights.converted(weight, mod)
                given[f"bias_{side}{suffix}"] = None if bias is None else bias.detach()
        made.set_weight_bias(given)
        return made


def _restored(state, order):
    """A state in the order that the sequences had before they were packed."""
    return state if order is None else state.index_select(1, order)


class LSTM(RNNBase):
    """A long short-term memory over sequences (L, N, input_size)."""

    _FLOAT_MODULE = nn.LSTM

    def __init__(self, *args, **kwargs) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def forward(self, input, hx=None):
        """Returns (output, (hidden, cell))."""
        output, states = self._run(input, None if hx is None else list(hx))
        if isinstance(input, PackedSequence):
            output = PackedSequence(output, *input[1:])
            states = [_restored(s, input.unsorted_indices) for s in states]
        return output, tuple(states)


class GRU(RNNBase):
    """A gated recurrent unit over sequences (L, N, input_size)."""

    _FLOAT_MODULE = nn.GRU

    def __init__(self, *args, **kwargs) -> None:
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input, hx=None):
        """Returns (output, hidden)."""
        output, states = self._run(input, None if hx is None else [hx])
        if isinstance(input, PackedSequence):
            output = PackedSequence(output, *input[1:])
            states = [_restored(s, input.unsorted_indices) for s in states]
        return output, states[0]
