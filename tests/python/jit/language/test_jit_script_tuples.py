"""`torch.nn.modules.utils` in compiled code and outside it."""

from typing import NamedTuple

import pytest
from hotaru.nn.modules import utils
from hotaru.nn.modules.utils import (
    _list_with_default,
    _pair,
    _quadruple,
    _single,
    _triple,
)

import hotaru as torch


def one_int(x: int):
    return _single(x), _pair(x), _triple(x), _quadruple(x)


def one_float(x: float):
    return _single(x), _pair(x), _triple(x), _quadruple(x)


def ints(x: list[int]):
    return _single(x), _pair(x), _triple(x), _quadruple(x)


def floats(x: list[float]):
    return _single(x), _pair(x), _triple(x), _quadruple(x)


def pair_of_ints(x: tuple[int, int]):
    return _pair(x)


@pytest.mark.parametrize(
    ("function", "value"),
    [(one_int, 2), (one_float, 2.5), (ints, [1, 2]), (floats, [1.5, 2.5])],
)
def test_the_same_numbers_as_outside(function, value):
    found = torch.jit.script(function)(value)
    assert [tuple(x) for x in found] == list(function(value))
    assert all(isinstance(x, list) for x in found)


def test_a_tuple_is_a_list():
    assert torch.jit.script(pair_of_ints)((1, 2)) == [1, 2]


def test_what_pytorch_refuses():
    def flags(x: bool):
        return _pair(x)

    with pytest.raises(RuntimeError, match="Arguments for call are not valid"):
        torch.jit.script(flags)


def test_sizes_with_defaults():
    def sized(x: list[int], y: list[int]):
        return _list_with_default(x, y)

    assert torch.jit.script(sized)([5], [1, 2]) == [5]
    assert _list_with_default([None, 5], [1, 2, 3]) == [2, 5]
    assert _list_with_default(7, [1]) == 7
    with pytest.raises(ValueError, match="should be at least 3"):
        _list_with_default([1, 2], [1, 2])


def test_the_rest_of_the_module():
    assert utils._ntuple(5)(1) == (1,) * 5
    assert utils._ntuple(2, "two").__name__ == "two"
    assert utils._ntuple(2)([1, 2, 3]) == (1, 2, 3)
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)


class Numbered(NamedTuple):
    a: int


def test_values_of_dicts_keep_their_names():
    def f(n: int):
        table: dict[str, Numbered] = {"k": Numbered(n)}
        return table, [table]

    found, (inner,) = torch.jit.script(f)(3)
    assert found["k"].a == 3
    assert inner["k"] == Numbered(3)
    assert type(inner["k"]) is type(found["k"])


def test_characters_by_their_numbers():
    f = torch.jit.CompilationUnit(r"def f():" "\n" r'    return "\xe9\u00e9"').f
    assert f() == "\xe9\u00e9"
