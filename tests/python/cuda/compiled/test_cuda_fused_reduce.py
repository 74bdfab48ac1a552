"""Reductions of what elementwise calls compute, as their first kernel."""

from __future__ import annotations

import pytest
from fused import check, fused

import hotaru as torch

F = torch.nn.functional


pytestmark = pytest.mark.usefixtures("compiler")


def tensors(cuda, *shapes, dtype=torch.float32):
    torch.manual_seed(0)
    return [torch.randn(shape, device=cuda).to(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("numel", [5000, 5003, 70000])
def test_a_loss(cuda, dtype, numel):
    dtype = getattr(torch, dtype)
    x, y = tensors(cuda, (numel,), (numel,), dtype=dtype)

    def f():
        return (((x - y) * 0.5).pow(2).mean(),)

    before, after = check(f)
    splits = before - 4
    assert after == 1 + splits


@pytest.mark.parametrize(
    "name", ["sum", "mean", "amax", "amin", "prod", "norm", "any", "all"]
)
def test_every_reduction_of_columns(cuda, name):
    x, y = tensors(cuda, (70, 33), (70, 33))

    def f():
        z = getattr(x * y + 0.25, name)(dim=0)
        return (z.float(),)

    before, after = check(f)
    assert after == before - 2


def test_what_others_read_is_written(cuda):
    x, y, scale = tensors(cuda, (6, 5000), (6, 5000), (1,))

    def f():
        z = (x + y).relu() * scale
        return z, z.sum(), x + y

    check(f)


def test_casts_before_the_sum(cuda):
    (x,) = tensors(cuda, (9000,), dtype=torch.float16)

    def f():
        return (x > 0).sum(), (x * 2).float().sum(), x.abs().double().mean()

    check(f)


def test_other_dimensions_and_strides(cuda):
    x, y = tensors(cuda, (4, 30, 7), (4, 30, 7))
    a, b = x.permute(2, 0, 1), y.permute(2, 0, 1)

    def f():
        return (a * b).sum(1), (x * y).sum((0, 2)), (a - b).amax()

    check(f)


def test_operands_that_lie_otherwise_stay_apart(cuda):
    x, y, w = tensors(cuda, (70, 60), (60, 70), (60,))

    def f():
        return (x * y.t()).sum(0), ((x + w) * 2).sum(0)

    check(f)


def test_what_is_written_in_place(cuda):
    x, y = tensors(cuda, (5000,), (5000,))

    def f():
        z = x * 2
        z.add_(y).mul_(3)
        total = z.sum()
        z.sub_(1)
        return z, total

    check(f)


def test_unaligned_operands(cuda):
    x, y = tensors(cuda, (5001,), (5001,))

    def f():
        return (x[1:] * y[1:]).sum(), (x[1:] * y[:-1]).sum()

    check(f)


def test_arguments_that_move_and_numbers_that_change(cuda):
    scale = torch.tensor(2.0)

    def f(x):
        return ((x * scale).exp().sum(),)

    (x,) = tensors(cuda, (1 << 14,))
    g, (y,) = fused(f, x)
    for value in (2.0, -1.0, 0.5):
        scale.fill_(value)
        x.normal_()
        g.replay()
        assert y.equal(f(x)[0])
    x.resize_(0)
    x.resize_(1 << 14)
    x.normal_()
    g.replay()
    assert y.equal(f(x)[0])
    assert g._launches()[0] <= 2


def test_a_training_step(cuda):
    """Forward, loss and gradients, the sums of biases among them."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(20, 40), torch.nn.ReLU(), torch.nn.Linear(40, 3)
    ).cuda()
    x, y = tensors(cuda, (16, 20), (16, 3))

    def f():
        loss = ((net(x) - y) ** 2).mean()
        return loss.detach(), *torch.autograd.grad(loss, net.parameters())

    check(f)
