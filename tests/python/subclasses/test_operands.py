"""Operators of subclasses beside operands that are no tensors."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import hotaru as torch


class Plain(torch.Tensor):
    pass


class Refusing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise TypeError("not this one")


ARITHMETIC = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
]


@pytest.mark.parametrize("cls", [Plain, Refusing])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_what_nobody_knows_is_an_unsupported_operand(cls, name):
    x = torch.ones(2, dtype=torch.int64).as_subclass(cls)
    for other in (None, object()):
        for pair in ((x, other), (other, x)):
            with pytest.raises(TypeError, match="unsupported operand type"):
                getattr(operator, name)(*pair)


@pytest.mark.parametrize("cls", [Plain, Refusing])
def test_nothing_else_is_equal(cls):
    x = torch.ones(2).as_subclass(cls)
    for other in (None, object(), "text", [1]):
        assert (x == other) is False
        assert (x != other) is True
        with pytest.raises(TypeError, match="not supported between"):
            x < other  # noqa: B015


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
def test_arrays_on_the_right_give_the_class(name):
    x = torch.full((2, 3), 4.0).as_subclass(Plain)
    array = np.full((2, 3), 2.0, dtype=np.float32)
    found = getattr(operator, name)(x, array)
    assert type(found) is Plain
    want = getattr(operator, name)(torch.full((2, 3), 4.0), torch.from_numpy(array))
    assert torch.equal(found.as_subclass(torch.Tensor), want)
