"""Classes that only hold static methods, in compiled code: sets of functions."""

from __future__ import annotations

import io

import pytest

import hotaru as torch


class Steps:
    """Functions without a state, one of which calls another."""

    @staticmethod
    def tile(x, times: list[int]):
        return x.repeat(times)

    @staticmethod
    def shape(x):
        return x.shape

    @staticmethod
    def twice(x):
        return Steps.tile(x, [2])


def _by_name(x):
    return Steps.twice(x), Steps.shape(x)


def _by_variable(x):
    steps = Steps
    return steps.tile(x, [2]), steps.shape(x)


@pytest.mark.parametrize("function", [_by_name, _by_variable])
def test_static_methods_are_functions(function):
    x = torch.arange(3.0)
    compiled = torch.jit.script(function)
    file = io.BytesIO()
    torch.jit.save(compiled, file)
    file.seek(0)
    for way in (compiled, torch.jit.load(file)):
        tiled, shape = way(x)
        assert tiled.tolist() == [0, 1, 2, 0, 1, 2]
        assert shape == [3]


def test_a_name_that_the_class_lacks():
    def missing(x):
        return Steps.nothing(x)

    with pytest.raises(RuntimeError, match="attribute"):
        torch.jit.script(missing)
