"""Recurrent layers, each direction of a layer a loop over time."""

from __future__ import annotations

from .. import int64
from .table import row
from .values import NotWritten, Val, refuse_dropout


def _linear(w, x: Val, weight: Val, bias) -> Val:
    out = w.dot(x, weight, over=([x.rank - 1], [1]))
    return out if bias is None else w.binary("add", out, bias)


def _lstm_step(w, gates: Val, states, weight, bias) -> list[Val]:
    h, c = states
    gates = w.binary("add", gates, _linear(w, h, weight, bias))
    n = h.shape[-1]
    i, f, g, o = (w.cut(gates, 1, k * n, (k + 1) * n) for k in range(4))
    kept = w.binary("multiply", w.unary("logistic", f), c)
    new = w.binary("multiply", w.unary("logistic", i), w.unary("tanh", g))
    c = w.binary("add", kept, new)
    return [w.binary("multiply", w.unary("logistic", o), w.unary("tanh", c)), c]


def _gru_step(w, gates: Val, states, weight, bias) -> list[Val]:
    (h,) = states
    inner = _linear(w, h, weight, bias)
    n = h.shape[-1]

    def part(x, k):
        return w.cut(x, 1, k * n, (k + 1) * n)

    def gate(k):
        return w.unary("logistic", w.binary("add", part(gates, k), part(inner, k)))

    reset, update = gate(0), gate(1)
    turned = w.binary("multiply", reset, part(inner, 2))
    new = w.unary("tanh", w.binary("add", part(gates, 2), turned))
    apart = w.binary("subtract", h, new)
    return [w.binary("add", new, w.binary("multiply", apart, update))]


def _plain_step(op: str):
    def step(w, gates: Val, states, weight, bias) -> list[Val]:
        (h,) = states
        total = w.binary("add", gates, _linear(w, h, weight, bias))
        return [
            w.unary("tanh", total) if op == "tanh" else w.binary("maximum", total, 0)
        ]

    return step


def _direction(w, x: Val, states, weights, step, back: bool):
    """One direction over x (time, batch, features): outputs and states."""
    weight_x, weight_h, bias_x, bias_h = weights
    gates = _linear(w, x, weight_x, bias_x)
    time, batch, width = gates.shape
    states = [w.cast(s, x.dtype) for s in states]
    outputs = w.full(0, (time, batch, states[0].shape[-1]), x.dtype)
    # Outside of the loop, so that what is made of views is not made in it.
    for value in (gates, weight_h, bias_h, *states):
        if value is not None:
            w.use(value)

    def body(i: Val, values) -> list[Val]:
        *before, seen = values
        if back:
            i = w.binary("subtract", w.full(time - 1, (), int64), i)
        zero = w.full(0, (), int64)
        at = f"{i.name}, {zero.name}, {zero.name}"
        places = (i, zero, zero)
        now = w.op(
            f"dynamic_slice {gates.name}, {at}, sizes = [1, {batch}, {width}]",
            (gates, *places),
            (1, batch, width),
            x.dtype,
        )
        after = step(w, w.reshape(now, (batch, width)), before, weight_h, bias_h)
        one = w.reshape(after[0], (1, *after[0].shape))
        seen = w.op(
            f"dynamic_update_slice {w.use(seen)}, {one.name}, {at}",
            (seen, one, *places),
            seen.shape,
            x.dtype,
        )
        return [*after, seen]

    *states, outputs = w.repeat(time, [*states, outputs], body)
    return outputs, states


def _layers(
    w,
    x,
    states,
    params,
    step,
    has_biases,
    num_layers,
    dropout,
    train,
    bidirectional,
    batch_first,
):
    """All layers; states are (layers * directions, batch, hidden)."""
    if train and num_layers > 1:
        refuse_dropout(dropout)
    batched = x.rank == 3
    if not batched:
        x = w.reshape(x, (x.shape[0], 1, x.shape[1]))
        states = [w.reshape(s, (s.shape[0], 1, s.shape[1])) for s in states]
    elif batch_first:
        x = w.transpose(x, (1, 0, 2))
    directions = 2 if bidirectional else 1
    each = 4 if has_biases else 2
    if len(params) != each * directions * num_layers:
        raise NotWritten("projections of its states")
    ends: list = [[] for _ in states]
    for layer in range(num_layers):
        outputs = []
        for d in range(directions):
            k = layer * directions + d
            mine = [*params[each * k : each * (k + 1)], None, None][:4]
            first = [w.reshape(w.cut(s, 0, k, k + 1), s.shape[1:]) for s in states]
            out, last = _direction(w, x, first, mine, step, d == 1)
            outputs.append(out)
            for end, value in zip(ends, last):
                end.append(w.reshape(value, (1, *value.shape)))
        x = w.concatenate(outputs, 2)
    ends = [w.concatenate(end, 0) for end in ends]
    if not batched:
        x = w.reshape(x, (x.shape[0], x.shape[2]))
        ends = [w.reshape(e, (e.shape[0], e.shape[2])) for e in ends]
    elif batch_first:
        x = w.transpose(x, (1, 0, 2))
    return (x, *ends)


@row("lstm")
def lstm(
    w,
    input,
    hx,
    params,
    has_biases,
    num_layers,
    dropout,
    train,
    bidirectional,
    batch_first,
):
    return _layers(
        w,
        input,
        hx,
        params,
        _lstm_step,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
        batch_first,
    )


def _one_state(name: str, step) -> None:
    @row(name)
    def write(
        w,
        input,
        hx,
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
        batch_first,
    ):
        return _layers(
            w,
            input,
            [hx],
            params,
            step,
            has_biases,
            num_layers,
            dropout,
            train,
            bidirectional,
            batch_first,
        )


_one_state("gru", _gru_step)
_one_state("rnn_tanh", _plain_step("tanh"))
_one_state("rnn_relu", _plain_step("relu"))


@row("lstm_cell")
def lstm_cell(w, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    gates = _linear(w, input, w_ih, b_ih)
    return tuple(_lstm_step(w, gates, hx, w_hh, b_hh))


@row("gru_cell")
def gru_cell(w, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    gates = _linear(w, input, w_ih, b_ih)
    return _gru_step(w, gates, [hx], w_hh, b_hh)[0]
