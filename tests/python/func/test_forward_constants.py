"""Tensors of one number where operators want a number, within `jvp`."""

from __future__ import annotations

import hotaru.nn.functional as F
import pytest

import hotaru as torch
from hotaru import func

X, T = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 10.0])

# With the tangent along T, in which the number is a constant.
CASES = {
    "full": (lambda x: torch.full((2,), x[0]), [0, 0]),
    "fill_value": (lambda x: torch.full([2], fill_value=x[0]) * x, [2, 20]),
    "new_full": (lambda x: x.new_full((2,), x[0]) * x, [2, 20]),
    "full_like": (lambda x: torch.full_like(x, x[0]) * x, [2, 20]),
    "arange": (lambda x: torch.arange(x[0]) * x[1], [0, 10]),
    "end": (lambda x: torch.arange(0, x[0], 1.0) * x[1], [0, 10]),
    "step": (lambda x: torch.arange(0.0, 4.0, x[0]) * x[1], [0, 20]),
    "alpha": (lambda x: torch.add(x, x, alpha=x[0]), [3, 30]),
    "subtracted": (lambda x: torch.sub(x, x, alpha=x[0]), [-1, -10]),
    "numbers": (lambda x: torch.add(x[1], x[1], alpha=x[0]), 30),
    "value": (lambda x: torch.addcmul(x, x, x, value=x[0]), [9, 130]),
    "pad": (lambda x: F.pad(x, (1, 1), value=x[0]), [0, 1, 10, 0]),
    "hardshrink": (lambda x: F.hardshrink(x, x[0]), [0, 10]),
    "leaky_relu": (lambda x: F.leaky_relu(-x, x[0]), [-2, -20]),
    "threshold": (lambda x: F.threshold(x, x[0], 0.0), [0, 10]),
    "hardtanh": (lambda x: F.hardtanh(x, -1.0, x[0]), [0, 0]),
    "softshrink": (lambda x: F.softshrink(x, x[0]), [0, 10]),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_tensors_are_constants(name):
    function, expected = CASES[name]
    output, tangent = func.jvp(function, (X,), (T,))
    assert torch.equal(output, function(X))
    assert tangent.tolist() == expected
    assert (func.jacfwd(function)(X) @ T).tolist() == expected


def test_elsewhere_they_are_refused():
    def function(x):
        return (torch.full((2,), x[0]) * x).sum()

    with pytest.raises(TypeError, match="'fill_value'"):
        func.grad(function)(X)
    func.jvp(function, (X,), (T,))
    with pytest.raises(TypeError, match="'fill_value'"):
        function(X.clone().requires_grad_())


def test_what_fits_no_number_is_refused_as_ever():
    def many(x):
        return torch.full((2,), x)

    def wrong(x):
        return torch.full((2,), x[0], dtype=x[1])

    for function in (many, wrong):
        with pytest.raises(TypeError, match="full"):
            func.jvp(function, (X,), (T,))


def test_traces_are_answered_too():
    func.jvp(CASES["full"][0], (X,), (T,))
    program = torch.jit.trace(lambda x: torch.full((2,), x.size(0)), X)
    assert program(torch.ones(5)).tolist() == [5, 5]


def test_logit_outside_of_its_domain():
    """Nothing there, NaN like the value; 0 where limits are given."""
    x, one = torch.tensor([2.0, -1.0, 0.5]), torch.ones(3)
    value, tangent = torch.func.jvp(torch.logit, (x,), (one,))
    assert value.isnan().tolist() == [True, True, False]
    assert tangent.isnan().tolist() == [True, True, False]
    assert tangent[2] == 4
    _, tangent = torch.func.jvp(lambda x: torch.logit(x, 0.1), (x,), (one,))
    assert tangent.tolist() == [0, 0, 4]
