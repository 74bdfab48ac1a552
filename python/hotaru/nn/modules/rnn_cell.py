"""One step of a recurrent layer: input (N, input_size) or (input_size)."""

from __future__ import annotations

import math

from ... import Tensor, empty, ops, zeros
from .. import init
from ..parameter import Parameter
from .module import Module


class RNNCellBase(Module):
    """Parameters and text of the cells, as those of a layer without suffix."""

    _name = ""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        options = {"device": device, "dtype": dtype}
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), **options))
        self.weight_hh = Parameter(empty((rows, hidden_size), **options))
        if bias:
            self.bias_ih = Parameter(empty(rows, **options))
            self.bias_hh = Parameter(empty(rows, **options))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters, in their order, in ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _prepare(
        self, input: Tensor, hx: Tensor | None, what: str
    ) -> tuple[Tensor, Tensor]:
        """Input and state with a batch axis; ValueError for other ranks.

        A state that is left out is zero; `what` names it in errors.
        """
        if input.dim() not in (1, 2):
            self._report_rank("input", input)
        if hx is not None and hx.dim() not in (1, 2):
            self._report_rank(what, hx)
        batched = input.dim() == 2
        rows = input if batched else input.unsqueeze(0)
        if hx is None:
            shape = [rows.size(0), self.hidden_size]
            return rows, zeros(shape, dtype=input.dtype, device=input.device)
        if not batched and hx.dim() == 1:
            hx = hx.unsqueeze(0)
        return rows, hx

    def _report_rank(self, what: str, tensor: Tensor) -> None:
        raise ValueError(
            f"{self._name}: Expected {what} to be 1D or 2D, got {tensor.dim()}D instead"
        )

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        if nonlinearity != "tanh":
            text += f", nonlinearity={nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or with ReLU."""

    _name = "RNNCell"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        rows, state = self._prepare(input, hx, "hidden")
        if self.nonlinearity == "tanh":
            out = ops.rnn_tanh_cell(
                rows, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
            )
        else:
            out = ops.rnn_relu_cell(
                rows, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
            )
        return out if input.dim() == 2 else out.squeeze(0)


class GRUCell(RNNCellBase):
    """Gated recurrent unit (Cho et al. 2014)."""

    _name = "GRUCell"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        rows, state = self._prepare(input, hx, "hidden")
        out = ops.gru_cell(
            rows, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        )
        return out if input.dim() == 2 else out.squeeze(0)


class LSTMCell(RNNCellBase):
    """Long short-term memory; state and result are (hidden, cell)."""

    _name = "LSTMCell"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        if hx is None:
            rows, hidden = self._prepare(input, None, "hx[0]")
            cell = hidden
        else:
            hidden, cell = hx
            rows, hidden = self._prepare(input, hidden, "hx[0]")
            rows, cell = self._prepare(input, cell, "hx[1]")
        hidden, cell = ops.lstm_cell(
            rows,
            [hidden, cell],
            self.weight_ih,
            self.weight_hh,
            self.bias_ih,
            self.bias_hh,
        )
        if input.dim() == 2:
            return hidden, cell
        return hidden.squeeze(0), cell.squeeze(0)
