"""State dicts whose values are no tensors but override torch's functions."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru import nn


class Later:
    """A tensor that is read when a function asks for it."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.reads = 0

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*(a.read() if isinstance(a, cls) else a for a in args))

    def read(self):
        self.reads += 1
        return self.tensor

    def __getattr__(self, name: str):
        if name in ("shape", "size", "is_meta", "requires_grad"):
            return getattr(self.tensor, name)
        raise AttributeError(name)

    def __getitem__(self, index):
        return self.read()[index]


def test_values_are_read_as_they_are_copied():
    layer, other = nn.Linear(2, 3), nn.Linear(2, 3)
    state = {name: Later(value) for name, value in other.state_dict().items()}
    assert layer.load_state_dict(state) == ([], [])
    assert layer.weight.equal(other.weight)
    assert layer.bias.equal(other.bias)
    assert [value.reads for value in state.values()] == [1, 1]


def test_scalars_of_old_archives_and_sizes_that_differ():
    layer = nn.Module()
    layer.scale = nn.Parameter(torch.tensor(1.0))
    layer.load_state_dict({"scale": Later(torch.tensor([4.0]))})
    assert layer.scale.item() == 4
    with pytest.raises(RuntimeError, match="size mismatch for scale"):
        layer.load_state_dict({"scale": Later(torch.ones(2))})


@pytest.mark.parametrize("value", [1.5, [1.0], "text", None])
def test_other_objects_are_refused(value):
    layer = nn.Module()
    layer.register_buffer("scale", torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="or Tensor-like object from checkpoint"):
        layer.load_state_dict({"scale": value})
