"""Traces that are made within autocast have its casts, wherever they run."""

from __future__ import annotations

import io

import hotaru.nn as nn
import hotaru.nn.functional as F
import pytest

import hotaru as torch

LOW = torch.bfloat16


def product(x):
    return x @ x.t()


# Casts of autocast, one each: to its dtype, to float32, to the widest, a dtype
# that is filled in, nothing.
PROGRAMS = {
    "linear": nn.Linear(4, 3),
    "operators": lambda x: (x @ x.t(), torch.mm(x, x.t()), 2 - product(x)),
    "float": lambda x: (product(x) ** 2, 2 ** product(x), product(x).abs().log()),
    "widest": lambda x: torch.cat([product(x), torch.ones(2, 2)]),
    "same width": lambda x: torch.stack([product(x), product(x)]),
    "dtype": lambda x: (F.softmax(product(x), -1), product(x).sum()),
    "off within": lambda x: (
        torch.autocast("cpu", enabled=False)(product)(x),
        product(x),
    ),
    "network": nn.Sequential(
        nn.Unflatten(1, (1, 4)),
        nn.Conv1d(1, 3, 2),
        nn.GELU(),
        nn.Flatten(),
        nn.LayerNorm(9),
        nn.Linear(9, 4),
        nn.LogSoftmax(-1),
    ),
    "attention": nn.TransformerEncoderLayer(4, 2, 8).eval(),
    "lstm": nn.LSTM(4, 2),
}


def leaves(nest):
    if isinstance(nest, torch.Tensor):
        return [nest]
    return [leaf for item in nest for leaf in leaves(item)]


@pytest.mark.parametrize("name", PROGRAMS)
@torch.no_grad()
def test_casts_are_part_of_the_trace(name):
    program, x = PROGRAMS[name], torch.randn(2, 4)
    with torch.autocast("cpu", dtype=LOW, cache_enabled=False):
        expected = leaves(program(x))
        traced = torch.jit.trace(program, x, check_trace=False)
    file = io.BytesIO()
    torch.jit.save(traced, file)
    file.seek(0)
    for compiled in (traced, torch.jit.load(file)):
        got = leaves(compiled(x))
        assert [t.dtype for t in got] == [t.dtype for t in expected]
        assert all(map(torch.equal, got, expected))


def test_weights_of_traces_stay_in_their_own_dtype():
    layer = nn.Linear(4, 3)
    with torch.autocast("cpu", dtype=LOW):
        traced = torch.jit.trace(layer, torch.ones(2, 4), check_trace=False)
    assert traced.weight.dtype == torch.float32
    before = traced(torch.ones(2, 4))
    before.sum().backward()
    assert layer.weight.grad.dtype == torch.float32
    with torch.no_grad():
        layer.weight.mul_(2)
        layer.bias.mul_(2)
    assert torch.equal(traced(torch.ones(2, 4)), 2 * before)


@pytest.mark.parametrize("layer", [nn.GRU, nn.RNN, nn.LSTMCell])
def test_casts_within_an_operator_are_refused(layer):
    """A call of the operator is all that the trace could write down."""
    refused = pytest.raises(NotImplementedError, match="casts what it computes")
    with torch.autocast("cpu", dtype=LOW), refused:
        torch.jit.trace(layer(4, 2), torch.ones(2, 4), check_trace=False)
