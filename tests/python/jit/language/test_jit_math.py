"""Functions of Python's math in compiled functions, beside Python."""

import math
from math import remainder

import pytest

import hotaru as torch


def test_parts_of_floats():
    @torch.jit.script
    def parts(x: float):
        return math.modf(x), math.frexp(x)

    for value in (0.0, 2.75, -1e10, 1e-300, float("inf")):
        assert parts(value) == (math.modf(value), math.frexp(value))


def test_remainders_of_math(tmp_path):
    """That of the nearest multiple, which % does not give."""

    @torch.jit.script
    def rest(a: float, b: float, i: int):
        return math.remainder(a, b), math.remainder(i, 3), math.fmod(a, b)

    path = tmp_path / "rest.pt"
    torch.jit.save(rest, path)
    for function in (rest, torch.jit.load(path)):
        assert function(-7.0, 3.0, 5) == (-1.0, -1.0, -1.0)
        assert function(5.5, 2.0, -4) == (-0.5, -1.0, 1.5)


def test_functions_of_math_take_numbers(tmp_path):
    """However they are named, and not the operators of tensors."""

    @torch.jit.script
    def parts(a: float, i: int):
        return remainder(a, 4.0), math.ldexp(a, i), math.tau, math.log(a, 2)

    path = tmp_path / "parts.pt"
    torch.jit.save(parts, path)
    for function in (parts, torch.jit.load(path)):
        found = function(7.0, -2)
        assert found == (-1.0, 1.75, math.tau, math.log(7.0, 2))
        assert function(1e-300, 1500)[1] == math.ldexp(1e-300, 1500)


def test_functions_of_math_that_are_not_there_are_refused():
    def nearest(a: float):
        return math.nextafter(a, 0.0)

    def length(a: float):
        return math.hypot(a, a)

    def least(a: int):
        return math.lcm(a, 3)

    def close(a: float):
        return math.isclose(a, a)

    for function in (nearest, length, least, close):
        with pytest.raises(RuntimeError, match="is currently not supported"):
            torch.jit.script(function)
