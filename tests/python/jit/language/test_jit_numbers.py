"""Quotients and rests of numbers in scripts: as Python has them."""

import math

import pytest

import hotaru as torch

FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    2.5,
    -7.5,
    3e300,
    1e-300,
    math.inf,
    -math.inf,
    math.nan,
]
INTS = [0, 1, -1, 3, -7, 2**40, -(2**62)]


@pytest.mark.parametrize("expression", ["a // b", "a % b", "divmod(a, b)"])
@pytest.mark.parametrize("a_type", ["int", "float"])
@pytest.mark.parametrize("b_type", ["int", "float"])
def test_quotients_and_rests(expression, a_type, b_type):
    """To the signs of zeros; no number by zero."""
    source = f"def f(a: {a_type}, b: {b_type}):\n    return {expression}\n"
    f = torch.jit.CompilationUnit(source).f
    values = {"int": INTS, "float": FLOATS}
    for a in values[a_type]:
        for b in values[b_type]:
            if b == 0:
                with pytest.raises(Exception, match="ZeroDivisionError"):
                    f(a, b)
            else:
                expected = eval(expression, {"a": a, "b": b})
                assert repr(f(a, b)) == repr(expected), (a, b)


def test_a_power_of_zero_that_is_no_number():
    f = torch.jit.CompilationUnit("def f(a: float, b: float):\n    return a**b\n").f
    assert math.isnan(f(0.0, math.nan))
    assert f(math.nan, 0.0) == 1
