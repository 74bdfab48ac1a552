"""Changes between calls of what is equal and not the same."""

from __future__ import annotations

import functools

import pytest

import hotaru as torch


def _of_both(make):
    """Results of the function that `make` gives, plain and compiled, with the
    changes that it gives in between.
    """
    results = []
    for wrap in (lambda f: f, torch.compile):
        function, changes = make()
        function = wrap(function)
        got = []
        for change in (lambda: None, *changes):
            change()
            for x in (torch.ones(3), torch.arange(3.0), -torch.ones(3)):
                got.append(function(x))
        results.append(got)
    return results


def _bits(tensor) -> list:
    values = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return [float(v).hex() for v in values.flatten()]


def _complex_closure():
    k = [0j]
    zeros = (complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0))
    changes = [functools.partial(k.__setitem__, 0, zero) for zero in zeros]
    return lambda x: x * k[0], changes


def _keys():
    d = {1: 2}

    def change():
        d.clear()
        d[True] = 2

    return lambda x: x * (5 if next(iter(d)) is True else 3), [change]


def _members():
    s = {1}

    def change():
        s.clear()
        s.add(True)

    return lambda x: x * (5 if next(iter(s)) is True else 3), [change]


@pytest.mark.parametrize(
    "make", [_complex_closure, _keys, _members], ids=["complex", "keys", "members"]
)
def test_changes_between_what_is_equal(make):
    plain, compiled = _of_both(make)
    assert [_bits(t) for t in plain] == [_bits(t) for t in compiled]


@pytest.mark.parametrize("nested", [False, True])
def test_complex_arguments_are_told_apart_by_their_bits(nested):
    def function(x, k):
        return x * (k[0]["a"] if nested else k)

    compiled = torch.compile(function)
    x = torch.arange(3.0) - 1
    zeros = [complex(a, b) for a in (0.0, -0.0, 1.0) for b in (0.0, -0.0)]
    for k in (*zeros, *zeros, 0, 0.0, 0j):
        given = ({"a": k},) if nested else k
        assert _bits(compiled(x, given)) == _bits(function(x, given)), k


def test_keys_of_arguments_are_told_apart_by_their_type():
    def function(d):
        return d, [type(key) for key in d]

    compiled = torch.compile(function)
    for key in (1, True, 1.0, 1, 0.0, -0.0):
        given = {key: torch.ones(2)}
        found, kinds = compiled(given)
        assert kinds == [type(key)]
        assert repr(list(found)) == repr([key])
