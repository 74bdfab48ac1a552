"""`grad(is_grads_batched=True)`: one pass for each slice."""

import pytest

import hotaru as torch


def test_slices_are_the_gradients_of_single_passes():
    x = torch.randn(3, requires_grad=True)
    y, z = x.exp(), x * x
    gy, gz = torch.randn(4, 3), torch.randn(4, 3)
    (found,) = torch.autograd.grad((y, z), x, (gy, gz), is_grads_batched=True)
    expected = gy * x.detach().exp() + gz * 2 * x.detach()
    assert torch.allclose(found, expected)


def test_unused_inputs():
    x = torch.ones(3, requires_grad=True)
    other = torch.ones(2, requires_grad=True)
    seeds = torch.ones(2, 3)
    _, none = torch.autograd.grad(
        x * 2, (x, other), seeds, allow_unused=True, is_grads_batched=True
    )
    assert none is None
    _, zeros = torch.autograd.grad(
        x * 2, (x, other), seeds, materialize_grads=True, is_grads_batched=True
    )
    assert torch.equal(zeros, torch.zeros(2, 2))


def test_shapes_are_checked():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="we interpret the first dimension"):
        torch.autograd.grad(x * 2, x, torch.ones(3), is_grads_batched=True)
