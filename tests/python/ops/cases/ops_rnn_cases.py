"""Cases of recurrent cells and layers, and of attention."""

from __future__ import annotations

from ops_eval import cases

_CELLS = [
    "list(T.lstm_cell(x(2, 3), [x(2, 2), x(2, 2)], x(8, 3), x(8, 2), x(8), x(8)))",
    "list(T.lstm_cell(x(2, 3), [x(2, 2), x(2, 2)], x(8, 3), x(8, 2)))",
    "list(T.lstm_cell(x(1, 40), [x(1, 40), x(1, 40)], x(160, 40), x(160, 40)))",
    "T.gru_cell(x(2, 3), x(2, 2), x(6, 3), x(6, 2), x(6), x(6))",
    "T.rnn_tanh_cell(x(2, 3), x(2, 2), x(2, 3), x(2, 2), x(2), x(2))",
    "T.rnn_relu_cell(x(2, 3), x(2, 2), x(2, 3), x(2, 2))",
]

_STATE = "[x(4, 2, 2), x(4, 2, 2, start=5)]"


def _weights(gates: int, sizes: list[tuple[int, int]], biases: bool) -> str:
    """Parameters of layers of the given (input, hidden) sizes."""
    out = []
    for n, (inputs, hidden) in enumerate(sizes):
        rows = gates * hidden
        out.append(f"x({rows}, {inputs}, start={n})")
        out.append(f"x({rows}, {hidden}, start={n + 9})")
        if biases:
            out += [f"x({rows}, start={n})", f"x({rows}, start={n + 7})"]
    return "[" + ", ".join(out) + "]"


_ONE = [(3, 2)]
_DEEP = [(3, 2), (3, 2), (4, 2), (4, 2)]  # two layers, both directions
_LAYERS = [
    "list(T.lstm(x(3, 2, 3), [x(1, 2, 2), x(1, 2, 2)], "
    f"{_weights(4, _ONE, True)}, True, 1, 0.0, False, False, False))",
    f"list(T.lstm(x(2, 3, 3), {_STATE}, {_weights(4, _DEEP, True)}, True, 2, "
    "0.0, False, True, True))",
    f"list(T.lstm(x(3, 2, 3), {_STATE}, {_weights(4, _DEEP, False)}, False, "
    "2, 0.0, False, True, False))",
    f"list(T.gru(x(3, 2, 3), x(4, 2, 2), {_weights(3, _DEEP, True)}, True, 2, "
    "0.0, False, True, False))",
    f"list(T.rnn_tanh(x(3, 2, 3), x(1, 2, 2), {_weights(1, _ONE, True)}, "
    "True, 1, 0.0, False, False, False))",
    f"list(T.rnn_relu(x(3, 2, 3), x(1, 2, 2), {_weights(1, _ONE, False)}, "
    "False, 1, 0.0, False, False, False))",
]

_GRADIENTS = [
    "grad(lambda *a: list(T.lstm_cell(a[0], [a[1], a[2]], *a[3:])), d(1, 2), "
    "d(1, 2), d(1, 2), d(8, 2), d(8, 2), d(8), d(8))",
    "grad(T.gru_cell, d(1, 2), d(1, 2), d(6, 2), d(6, 2), d(6), d(6))",
    "grad(T.rnn_tanh_cell, d(1, 2), d(1, 2), d(2, 2), d(2, 2), d(2), d(2))",
    "grad(lambda a, h, c, *w: T.lstm(a, [h, c], w, True, 1, 0.0, True, False, "
    "False)[0] * 1, d(2, 1, 2), d(1, 1, 2), d(1, 1, 2), d(8, 2), d(8, 2), "
    "d(8), d(8))",
    "grad(lambda a, h, *w: T.gru(a, h, w, True, 1, 0.0, True, False, "
    "False)[0] * 1, d(2, 1, 2), d(1, 1, 2), d(6, 2), d(6, 2), d(6), d(6))",
    "grad2(T.gru_cell, d(1, 2), d(1, 2), d(6, 2), d(6, 2), d(6), d(6))",
]

_ATTENTION = [
    "F.scaled_dot_product_attention(x(1, 3, 4), x(1, 2, 4), x(1, 2, 3))",
    "F.scaled_dot_product_attention(x(1, 2, 3, 4), x(1, 2, 3, 4), x(1, 2, 3, "
    "4), is_causal=True)",
    "F.scaled_dot_product_attention(x(2, 3), x(2, 3), x(2, 3), x(2, 2) > 0)",
    "F.scaled_dot_product_attention(x(2, 3), x(2, 3), x(2, 3), x(2, 2))",
    "F.scaled_dot_product_attention(x(2, 3), x(2, 3), x(2, 3), x(2, 2) > 9)",
    "F.scaled_dot_product_attention(x(2, 3), x(2, 3), x(2, 3), scale=2.0)",
    "F.scaled_dot_product_attention(x(1, 4, 2, 3), x(1, 2, 2, 3), x(1, 2, 2, "
    "3), enable_gqa=True)",
    "grad(lambda *a: F.scaled_dot_product_attention(*a) * 1, d(2, 3), d(2, "
    "3), d(2, 3))",
    "grad(lambda *a: F.scaled_dot_product_attention(*a, x(2, 2) > 0) * 1, "
    "d(2, 3), d(2, 3), d(2, 3))",
    "grad2(lambda *a: F.scaled_dot_product_attention(*a), d(2, 3), d(2, 3), d(2, 3))",
]

_ERRORS = [
    "T.lstm_cell(x(2, 3), [x(2, 4)], x(16, 3), x(16, 4))",
    "T.lstm_cell(x(2, 3), [x(2, 4), x(2, 4)], x(15, 3), x(16, 4))",
    "T.lstm_cell(x(2, 3), [x(2, 4), x(2, 4)], x(16, 2), x(16, 4))",
    "T.lstm_cell(x(2, 3), [x(2, 5), x(2, 4)], x(16, 3), x(16, 4))",
    "T.lstm_cell(x(2, 3), [x(3, 4), x(3, 4)], x(16, 3), x(16, 4))",
    "T.gru_cell(x(2, 3), x(2, 4), x(11, 3), x(12, 4))",
    "F.scaled_dot_product_attention(x(3), x(2, 3), x(2, 3))",
    "F.scaled_dot_product_attention(x(1, 2, 3), x(1, 2, 3), d(1, 2, 3))",
    "F.scaled_dot_product_attention(x(1, 2, 3), x(1, 2, 3), x(1, 2, 3), x(2, "
    "2), is_causal=True)",
]

CASES = cases(_CELLS, _LAYERS, _GRADIENTS, _ATTENTION, _ERRORS)
