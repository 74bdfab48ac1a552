"""In-place operators on what has a history, where a dispatch mode sees them."""

from __future__ import annotations

import pytest
from hotaru.utils._python_dispatch import TorchDispatchMode

import hotaru as torch


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def _gradient(write, mode):
    w = torch.arange(6.0).reshape(2, 3, 1).requires_grad_()
    with mode:
        x = w * 1
        y = write(x)
        weights = torch.arange(float(y.numel())).reshape(y.shape)
        (y * weights).sum().backward()
    return y.shape, w.grad


# They change sizes; the operator that PyTorch tells a mode of.
SHAPES = {
    "transpose": (lambda x: x.transpose_(0, 1), "aten.transpose_.default"),
    "unsqueeze": (lambda x: x.unsqueeze_(0), "aten.unsqueeze_.default"),
    "squeeze": (lambda x: x.squeeze_(), "aten.squeeze_.default"),
    "squeeze of one": (lambda x: x.squeeze_(2), "aten.squeeze_.dim"),
    "as_strided": (lambda x: x.as_strided_((2,), (1,)), "aten.as_strided_.default"),
    "twice": (lambda x: x.squeeze_(2).t_(), "aten.t_.default"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_changed_sizes_keep_the_history(name):
    write, operator = SHAPES[name]
    seen = Seen()
    found = _gradient(write, seen)
    wanted = _gradient(write, torch.enable_grad())
    assert found[0] == wanted[0]
    assert torch.equal(found[1], wanted[1])
    assert operator in seen.names
