"""The store of compiled classes that libraries take classes out of."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru import nn

STORE = torch.jit._recursive.concrete_type_store.type_store


def first(self, x):
    return x + 1


def second(self, x):
    return x * 10


@pytest.mark.parametrize("fresh", [True, False])
def test_classes_are_shared_until_they_are_taken_out(fresh):
    class Chain(nn.Module):
        """Gets a `forward` for each module, as PyTorch Geometric's Sequential."""

    x = torch.ones(2)
    Chain.forward = first
    assert torch.jit.script(Chain())(x).tolist() == [2.0, 2.0]
    Chain.forward = second
    if fresh:
        STORE.pop(Chain)
    got = torch.jit.script(Chain())(x).tolist()
    assert got == ([10.0, 10.0] if fresh else [2.0, 2.0])


def test_the_store_tells_what_is_compiled():
    class Plain(nn.Module):
        def __init__(self, count):
            super().__init__()
            self.count = count

        def forward(self, x):
            return x * self.count

    assert Plain not in STORE
    with pytest.raises(KeyError):
        STORE[Plain]
    torch.jit.script(Plain(1))
    torch.jit.script(Plain(2))
    assert len(STORE[Plain]) == 1
    torch.jit.script(Plain(1.5))
    assert len(STORE[Plain]) == 2
    assert Plain in list(STORE)
    del STORE[Plain]
    assert Plain not in STORE
    STORE[Plain] = []
    with pytest.raises(TypeError, match="compiled by"):
        STORE[Plain] = [1]
