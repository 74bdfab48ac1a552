"""Cells of recurrent networks that compute in integers."""

from __future__ import annotations

import hotaru

from ......_quantized.products import linear_dynamic
from ......nn.modules import rnn_cell as _floats
from ....quantized.modules.linear import LinearPackedParams
from . import _weights


class RNNCellBase(_floats.RNNCellBase):
    """Weights, checks and text of the cells."""

    _FLOAT_MODULE: type
    _gates = 1

    def __init__(
        self, input_size, hidden_size, bias=True, num_chunks=4, dtype=hotaru.qint8
    ) -> None:
        hotaru.nn.Module.__init__(self)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_dtype = dtype
        rows = num_chunks * hidden_size
        sizes = (input_size, hidden_size)
        weights = [_weights.drawn((rows, n), 1.0, dtype) for n in sizes]
        biases = [hotaru.randn(rows) if bias else None for _ in sizes]
        for side, *parts in zip(("ih", "hh"), weights, biases):
            packed = LinearPackedParams(dtype)
            packed.set_weight_bias(*parts)
            self.add_module(f"_packed_weight_{side}", packed)

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def get_weight(self) -> dict:
        """The quantised weights."""
        return {
            "weight_ih": self._packed_weight_ih._weight_bias()[0],
            "weight_hh": self._packed_weight_hh._weight_bias()[0],
        }

    def get_bias(self) -> dict:
        """The biases, in floats."""
        return {
            "bias_ih": self._packed_weight_ih._weight_bias()[1],
            "bias_hh": self._packed_weight_hh._weight_bias()[1],
        }

    def set_weight_bias(self, weight_bias_dict: dict) -> None:
        """Takes other weights and biases, by these names."""
        for side in ("ih", "hh"):
            getattr(self, f"_packed_weight_{side}").set_weight_bias(
                weight_bias_dict[f"weight_{side}"], weight_bias_dict[f"bias_{side}"]
            )

    def check_forward_input(self, input) -> None:
        """RuntimeError for another size of the input."""
        if input.size(1) != self.input_size:
            raise RuntimeError(
                "input has inconsistent input_size: got "
                f"{input.size(1)}, expected {self.input_size}"
            )

    def check_forward_hidden(self, input, hx, hidden_label: str = "") -> None:
        """RuntimeError for another size of a state."""
        if input.size(0) != hx.size(0):
            raise RuntimeError(
                f"Input batch size {input.size(0)} doesn't match hidden"
                f"{hidden_label} batch size {hx.size(0)}"
            )
        if hx.size(1) != self.hidden_size:
            raise RuntimeError(
                f"hidden{hidden_label} has inconsistent hidden_size: got "
                f"{hx.size(1)}, expected {self.hidden_size}"
            )

    def _gates_of(self, input, state):
        return (
            linear_dynamic(input, *self._packed_weight_ih._weight_bias()),
            linear_dynamic(state, *self._packed_weight_hh._weight_bias()),
        )

    def _first(self, input):
        return hotaru.zeros(input.size(0), self.hidden_size, device=input.device)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float cell with a qconfig."""
        _weights.check_float(cls, mod, (cls._FLOAT_MODULE,))
        dtype = _weights.dtype_of(mod)
        options = {"dtype": dtype}
        if hasattr(mod, "nonlinearity"):
            options["nonlinearity"] = mod.nonlinearity
        made = cls(mod.input_size, mod.hidden_size, mod.bias, **options)
        made.set_weight_bias(
            {
                **{
                    f"weight_{side}": _weights.converted(
                        getattr(mod, f"weight_{side}"), mod
                    )
                    for side in ("ih", "hh")
                },
                "bias_ih": mod.bias_ih,
                "bias_hh": mod.bias_hh,
            }
        )
        return made


class RNNCell(RNNCellBase):
    """A step of a plain recurrent network."""

    _FLOAT_MODULE = _floats.RNNCell

    def __init__(
        self,
        input_size,
        hidden_size,
        bias=True,
        nonlinearity="tanh",
        dtype=hotaru.qint8,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        self.check_forward_input(input)
        hx = self._first(input) if hx is None else hx
        self.check_forward_hidden(input, hx)
        of_input, of_state = self._gates_of(input, hx)
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return getattr(of_input + of_state, self.nonlinearity)()


class LSTMCell(RNNCellBase):
    """A step of a long short-term memory."""

    _FLOAT_MODULE = _floats.LSTMCell

    def __init__(self, input_size, hidden_size, bias=True, dtype=hotaru.qint8) -> None:
        super().__init__(input_size, hidden_size, bias, 4, dtype)

    def forward(self, input, hx=None):
        self.check_forward_input(input)
        if hx is None:
            hx = (self._first(input), self._first(input))
        self.check_forward_hidden(input, hx[0], "[0]")
        self.check_forward_hidden(input, hx[1], "[1]")
        of_input, of_state = self._gates_of(input, hx[0])
        return _weights.lstm_step(of_input + of_state, hx)


class GRUCell(RNNCellBase):
    """A step of a gated recurrent unit."""

    _FLOAT_MODULE = _floats.GRUCell

    def __init__(self, input_size, hidden_size, bias=True, dtype=hotaru.qint8) -> None:
        super().__init__(input_size, hidden_size, bias, 3, dtype)

    def forward(self, input, hx=None):
        self.check_forward_input(input)
        hx = self._first(input) if hx is None else hx
        self.check_forward_hidden(input, hx)
        return _weights.gru_step(*self._gates_of(input, hx), hx)
