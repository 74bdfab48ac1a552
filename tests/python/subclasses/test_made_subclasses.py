"""Classes with `__torch_dispatch__` whose tensors have memory of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hotaru as torch

LOG: list[str] = []


class Noted(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        LOG.append(func.__name__)
        with torch._C._DisableTorchDispatch():
            found = func(*args, **(kwargs or {}))
        return found.as_subclass(cls) if isinstance(found, torch.Tensor) else found


WAYS = {
    "_make_subclass": lambda x: torch.Tensor._make_subclass(Noted, x),
    "as_subclass": lambda x: x.as_subclass(Noted),
    "constructor": lambda x: Noted(x),
}


@pytest.mark.parametrize("way", WAYS)
def test_operators_are_asked(way):
    x = WAYS[way](torch.tensor([1.0, -2.0]))
    LOG.clear()
    found = torch.relu(x + 1)
    assert LOG == ["add.Tensor", "relu.default"]
    assert type(found) is Noted
    with torch._C._DisableTorchDispatch():
        assert found.tolist() == [2.0, 0.0]
    x.add_(1)
    assert LOG[2:] == ["add_.Tensor"]


def test_gradients_go_by_the_class():
    x = torch.Tensor._make_subclass(Noted, torch.tensor([1.0, 2.0]), True)
    y = (x * 3).sum()
    assert y.requires_grad
    y.backward()
    with torch._C._DisableTorchDispatch():
        assert x.grad.tolist() == [3.0, 3.0]


def test_nobody_is_asked_until_the_switch_is_gone():
    x = torch.ones(2).as_subclass(Noted)
    switch = torch._C._DisableTorchDispatch()
    LOG.clear()
    x + 1
    assert LOG == []
    del switch
    x + 1
    assert LOG == ["add.Tensor"]


def test_the_first_class_of_a_process_is_asked():
    done = subprocess.run(
        [sys.executable, "-c", _FIRST], check=True, capture_output=True, text=True
    )
    assert done.stdout == "add.Tensor\n"


_FIRST = """
import hotaru as torch

class First(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        print(func.__name__)
        with torch._C._DisableTorchDispatch():
            return func(*args, **(kwargs or {}))

torch.ones(2).as_subclass(First) + 1
"""
