"""Generator expressions in scripts, and numbers that elements give."""

# The generators are what is tested.
# ruff: noqa: C400, C402, UP006, UP035

from typing import List

import pytest

import hotaru as torch


def _of_generators(x: torch.Tensor, numbers: List[int]):
    parts = torch.cat(list(x * i for i in numbers))
    named = dict((str(i), i) for i in numbers)
    total = sum(i for i in numbers if i > 3)
    return parts, named, total, any(i > 4 for i in numbers)


def test_generator_expressions_are_lists():
    x, numbers = torch.ones(1), [3, 4, 5]
    parts, *others = torch.jit.script(_of_generators)(x, numbers)
    expected, *wanted = _of_generators(x, numbers)
    assert parts.tolist() == expected.tolist()
    assert others == wanted


def _given_back(numbers: List[int]):
    return (i + 1 for i in numbers)


def test_a_generator_that_is_given_back():
    assert torch.jit.script(_given_back)([1, 2]) == [2, 3]


def test_a_generator_among_other_arguments():
    with pytest.raises(RuntimeError, match="must be in parentheses"):
        torch.jit.CompilationUnit(
            "def f(x: List[int]):\n    return max(1, i for i in x)\n"
        )


def test_a_tuple_of_unknown_length():
    with pytest.raises(RuntimeError, match="length must be known"):
        torch.jit.CompilationUnit(
            "def f(x: List[int]):\n    return tuple(i for i in x)\n"
        )


def test_numbers_of_elements_are_sizes():
    @torch.jit.script
    def rows(x: torch.Tensor):
        n = x[0].item()
        return x.narrow(0, 0, n), torch.zeros(n, 3), x.repeat(n)

    first, zeros, repeated = rows(torch.tensor([2, 5, 7]))
    assert first.tolist() == [2, 5]
    assert zeros.shape == (2, 3)
    assert repeated.shape == (6,)
