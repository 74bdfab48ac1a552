"""Recurrent layers step by step, for gradients by sample.

Every product with a weight is a call of `linear`, whose rule does the rest.
"""

from __future__ import annotations

from .... import Tensor, cat, int64, ops, sigmoid, stack, tanh, where
from ... import functional as F
from .expanded_weights_impl import implements_per_sample_grads


def _plain_step(activation):
    def step(gates, states, recur):
        return (activation(gates + recur(states[0])),)

    return step


def _lstm_step(gates, states, recur):
    into, forget, new, out = (gates + recur(states[0])).chunk(4, -1)
    cell = sigmoid(forget) * states[1] + sigmoid(into) * tanh(new)
    return sigmoid(out) * tanh(cell), cell


def _gru_step(gates, states, recur):
    reset, update, new = gates.chunk(3, -1)
    reset_h, update_h, new_h = recur(states[0]).chunk(3, -1)
    new = tanh(new + sigmoid(reset + reset_h) * new_h)
    return (new + sigmoid(update + update_h) * (states[0] - new),)


class _Layers:
    """One call of a recurrent function.

    Args:
        step: a cell: gates of the input, states, and what a state adds to the
            gates; gives the next states.
        options: has_biases, num_layers, dropout, train, bidirectional.
    """

    def __init__(self, step, params, options) -> None:
        self._step = step
        biases, self._count, dropout, train, both = options
        self._dropout = dropout if train else 0.0
        self._directions = 2 if both else 1
        self._biases = biases
        size = len(params) // (self._count * self._directions)
        self._weights = [params[i : i + size] for i in range(0, len(params), size)]

    def run(self, x, states, there=None):
        """Outputs and last states of ``[T, B, I]``.

        Args:
            states: tensors ``[layers * directions, B, H]``.
            there: ``[T, B, 1]``, False behind a sequence's end, or None.
        """
        last = []
        for layer in range(self._count):
            if layer and self._dropout:
                x = F.dropout(x, self._dropout)
            outputs = []
            for direction in range(self._directions):
                i = layer * self._directions + direction
                first = tuple(state[i] for state in states)
                one, end = self._sweep(i, x, first, there, direction == 1)
                outputs.append(one)
                last.append(end)
            x = cat(outputs, -1)
        return x, [stack(parts) for parts in zip(*last)]

    def _sweep(self, i: int, x, states, there, backwards: bool):
        inner, recurrent, *rest = self._weights[i]
        bias = rest[:2] if self._biases else (None, None)
        project = rest[-1] if len(rest) % 2 else None
        # Samples first, as rules have them.
        gates = F.linear(x.transpose(0, 1), inner, bias[0]).transpose(0, 1)
        outputs = [None] * len(x)
        order = range(len(x))
        for t in reversed(order) if backwards else order:
            new = self._step(
                gates[t], states, lambda h: F.linear(h, recurrent, bias[1])
            )
            if project is not None:
                new = (F.linear(new[0], project), *new[1:])
            if there is not None:
                new = tuple(map(where, [there[t]] * len(new), new, states))
            states, outputs[t] = new, new[0]
        return stack(outputs), states


def _recurrent(step):
    """A function with the arguments of the recurrent operators.

    Those are (input, states, weights, ..., batch_first), or for packed
    sequences (data, batch sizes, states, weights, ...).
    """

    def call(first, second, *rest):
        packed = isinstance(second, Tensor) and second.dtype is int64
        run = _packed_call if packed else _padded_call
        return run(step, first, second, *rest)

    return call


def _padded_call(step, x, states, params, *options):
    *options, batch_first = options
    x = x.transpose(0, 1) if batch_first else x
    states = states if isinstance(states, (list, tuple)) else (states,)
    out, last = _Layers(step, params, options).run(x, states)
    return (out.transpose(0, 1) if batch_first else out, *last)


def _packed_call(step, data, sizes, states, params, *options):
    states = states if isinstance(states, (list, tuple)) else (states,)
    counts = sizes.tolist()
    steps = data.split(counts)
    x = stack([F.pad(part, (0, 0, 0, counts[0] - len(part))) for part in steps])
    places = stack([sizes > i for i in range(counts[0])], 1).to(data.device)
    out, last = _Layers(step, params, options).run(x, states, places.unsqueeze(-1))
    return (out[places], *last)


implements_per_sample_grads(ops.rnn_tanh)(_recurrent(_plain_step(tanh)))
implements_per_sample_grads(ops.rnn_relu)(_recurrent(_plain_step(F.relu)))
implements_per_sample_grads(ops.lstm)(_recurrent(_lstm_step))
implements_per_sample_grads(ops.gru)(_recurrent(_gru_step))
