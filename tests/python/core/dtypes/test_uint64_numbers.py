"""Numbers of uint64 beyond int64, given where a number is asked for."""

import math

import pytest

import hotaru as torch

LARGE = 2**64 - 1


@pytest.fixture
def x():
    return torch.tensor(LARGE, dtype=torch.uint64)


def test_they_are_exact_where_an_integer_is_asked_for(x):
    assert int(x) == x.item() == LARGE
    assert x.__index__() == LARGE
    assert int(torch.tensor(7, dtype=torch.uint64)) == 7


def test_they_are_floats_where_a_float_is_asked_for(x):
    assert float(x) == float(LARGE)
    assert math.sqrt(x) == 2.0**32


@pytest.mark.parametrize(
    "f",
    [
        lambda x: torch.ones(1).add(torch.ones(1), alpha=x),
        lambda x: torch.addcmul(torch.zeros(1), torch.ones(1), torch.ones(1), value=x),
        lambda x: torch.full_like(torch.ones(1), x),
        lambda x: torch.ones(1).new_full((1,), x),
        lambda x: torch.tensor([x, 1.0])[:1],
        lambda x: torch.nn.functional.pad(torch.ones(1), (1, 1), value=x)[:1],
        lambda x: torch.linspace(0, x, 3)[2:],
    ],
)
def test_they_are_floats_as_numbers_of_operators(f, x):
    assert f(x).tolist() == [float(LARGE)]
