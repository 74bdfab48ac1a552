"""Recurrent layers as compiled code sees them; see `modules`.

Inputs are tensors: packed sequences stay with Python.
"""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor


def _check_state(state: Tensor, wanted: list[int], what: str) -> None:
    if state.size() != wanted:
        raise RuntimeError(f"Expected {what} size {wanted}, got {state.size()}")


class RNNBase:
    def _batched(self, input: Tensor) -> Tensor:
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError(
                f"{self.mode}: Expected input to be 2D or 3D, got "
                f"{input.dim()}D instead"
            )
        if input.dtype != self._flat_weights[0].dtype:
            raise ValueError("RNN input dtype does not match weight dtype")
        if input.dim() == 2:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.size(-1)}"
            )
        return input

    def _unbatched(self, output: Tensor) -> Tensor:
        return output.squeeze(0 if self.batch_first else 1)

    def _state_size(self, input: Tensor, size: int) -> list[int]:
        directions = 2 if self.bidirectional else 1
        batch = input.size(0 if self.batch_first else 1)
        return [self.num_layers * directions, batch, size]

    def _state(
        self, input: Tensor, hx: Tensor | None, batched: bool, size: int
    ) -> Tensor:
        wanted = self._state_size(input, size)
        if hx is None:
            return torch.zeros(wanted, dtype=input.dtype, device=input.device)
        if batched and hx.dim() != 3:
            raise RuntimeError(
                "For batched 3-D input, hx should also be 3-D but got "
                f"{hx.dim()}-D tensor"
            )
        if not batched and hx.dim() != 2:
            raise RuntimeError(
                "For unbatched 2-D input, hx should also be 2-D but got "
                f"{hx.dim()}-D tensor"
            )
        state = hx if batched else hx.unsqueeze(1)
        _check_state(state, wanted, "hidden")
        return state


class RNN:
    def forward(
        self, input: Tensor, hx: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        batched = input.dim() == 3
        input = self._batched(input)
        state = self._state(input, hx, batched, self.hidden_size)
        if self.mode == "RNN_TANH":
            output, hidden = torch.rnn_tanh(
                input,
                state,
                self._flat_weights,
                self.bias,
                self.num_layers,
                self.dropout,
                self.training,
                self.bidirectional,
                self.batch_first,
            )
        else:
            output, hidden = torch.rnn_relu(
                input,
                state,
                self._flat_weights,
                self.bias,
                self.num_layers,
                self.dropout,
                self.training,
                self.bidirectional,
                self.batch_first,
            )
        if batched:
            return output, hidden
        return self._unbatched(output), hidden.squeeze(1)


class GRU:
    def forward(
        self, input: Tensor, hx: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        batched = input.dim() == 3
        input = self._batched(input)
        state = self._state(input, hx, batched, self.hidden_size)
        output, hidden = torch.gru(
            input,
            state,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )
        if batched:
            return output, hidden
        return self._unbatched(output), hidden.squeeze(1)


class LSTM:
    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        batched = input.dim() == 3
        input = self._batched(input)
        size = self.hidden_size
        if self.proj_size > 0:
            size = self.proj_size
        if hx is None:
            hidden = self._state(input, None, batched, size)
            cell = self._state(input, None, batched, self.hidden_size)
        else:
            hidden = self._state(input, hx[0], batched, size)
            cell = self._state(input, hx[1], batched, self.hidden_size)
        output, hidden, cell = torch.lstm(
            input,
            [hidden, cell],
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )
        if batched:
            return output, (hidden, cell)
        return self._unbatched(output), (hidden.squeeze(1), cell.squeeze(1))
