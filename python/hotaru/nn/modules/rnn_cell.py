"""One step of a recurrent layer: input (N, input_size) or (input_size)."""

from __future__ import annotations

import math

from ... import Tensor, empty, ops, zeros
from .. import init
from ..parameter import Parameter
from .module import Module


class RNNCellBase(Module):
    """Parameters and text of the cells, as those of a layer without suffix."""

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

    def _step(self, operator, input: Tensor, hx, is_pair: bool = False):
        """Checks ranks, adds and removes the batch axis, fills in the state."""
        self._check_rank("input", input)
        if hx is not None:
            if is_pair:
                for i, state in enumerate(hx):
                    self._check_rank(f"hx[{i}]", state)
            else:
                self._check_rank("hidden", hx)
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            shape = (input.size(0), self.hidden_size)
            state = zeros(shape, dtype=input.dtype, device=input.device)
            hx = (state, state) if is_pair else state
        elif not batched:
            if is_pair:
                hx = tuple(s.unsqueeze(0) if s.dim() == 1 else s for s in hx)
            elif hx.dim() == 1:
                hx = hx.unsqueeze(0)
        result = operator(
            input,
            hx,
            self.weight_ih,
            self.weight_hh,
            self.bias_ih,
            self.bias_hh,
        )
        if batched:
            return result
        if is_pair:
            return tuple(state.squeeze(0) for state in result)
        return result.squeeze(0)

    def _check_rank(self, what: str, tensor: Tensor) -> None:
        if tensor.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected {what} to be 1D or 2D, got "
                f"{tensor.dim()}D instead"
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
        tanh = self.nonlinearity == "tanh"
        operator = ops.rnn_tanh_cell if tanh else ops.rnn_relu_cell
        return self._step(operator, input, hx)


class GRUCell(RNNCellBase):
    """Gated recurrent unit (Cho et al. 2014)."""

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
        return self._step(ops.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    """Long short-term memory; state and result are (hidden, cell)."""

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
        return self._step(ops.lstm_cell, input, hx, is_pair=True)
