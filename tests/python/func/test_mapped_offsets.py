"""Offsets into memory within `vmap` are the first slice's, as in PyTorch."""

from __future__ import annotations

import pytest
from hotaru.func import grad, vmap

import hotaru as torch

X = torch.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("name", ["as_strided", "as_strided_copy"])
def test_an_offset_is_that_of_the_slice(name):
    call = getattr(torch, name)
    found = vmap(lambda t: call(t, [2], [1], 1))(X)
    assert found.tolist() == [[1.0, 2.0], [13.0, 14.0]]
    assert vmap(lambda t: call(t, [2], [2], 0), in_dims=1)(X).tolist() == [
        [0.0, 2.0],
        [4.0, 6.0],
        [8.0, 10.0],
    ]


def test_maps_within_maps_and_views():
    nested = vmap(vmap(lambda t: t.as_strided([2], [1], 1)))(X)
    assert nested.tolist() == [
        [[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]],
        [[13.0, 14.0], [17.0, 18.0], [21.0, 22.0]],
    ]
    turned = vmap(lambda t: t.as_strided([2], [1], 1))(X.transpose(1, 2))
    assert turned.tolist() == [[1.0, 2.0], [13.0, 14.0]]
    inner = vmap(lambda t: t[1].as_strided([2], [1], 5))(X)
    assert inner.tolist() == [[5.0, 6.0], [17.0, 18.0]]
    one = X[1:].expand(2, 3, 4)  # every slice is the same
    assert vmap(lambda t: t.as_strided([1], [1], 13))(one).tolist() == [[13.0], [13.0]]


def test_offsets_that_are_asked_for_fit():
    def same(t):
        return t[1:].as_strided([2], [1], t[1:].storage_offset())

    assert vmap(same)(X).tolist() == [[4.0, 5.0], [16.0, 17.0]]


def test_what_the_function_makes_has_offsets_of_its_own():
    found = vmap(lambda t: (t * 2).as_strided([2], [1], 1))(X)
    assert found.tolist() == [[2.0, 4.0], [26.0, 28.0]]


def test_gradients_reach_the_slice():
    found = vmap(grad(lambda t: (t.as_strided([2], [1], 1) ** 2).sum()))(X)
    want = torch.zeros(2, 3, 4)
    want[:, 0, 1:3] = 2 * X[:, 0, 1:3]
    assert torch.equal(found, want)


def test_memory_shared_in_two_ways_is_refused():
    square = torch.arange(9.0).reshape(3, 3)
    with pytest.raises(RuntimeError, match="share in different ways"):
        vmap(lambda a, b: a.as_strided([1], [1], 0))(square, square.t())
