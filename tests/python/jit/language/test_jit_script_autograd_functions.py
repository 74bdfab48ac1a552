"""Static methods of classes of derivatives in compiled code."""

import pytest

import hotaru as torch


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if not torch.jit.is_scripting() and not torch.jit.is_tracing():
            ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2

    @staticmethod
    def for_all(x):
        if torch.jit.is_scripting() or torch.jit.is_tracing():
            return Twice.forward(torch.empty(0), x)
        return Twice.apply(x)


def twice(x: torch.Tensor):
    return Twice.for_all(x) + 1


def test_its_methods_are_functions():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    wanted = twice(x)
    found = torch.jit.script(twice)(x)
    assert found.tolist() == wanted.tolist() == [3, 5]
    (gradient,) = torch.autograd.grad(found.sum(), x)
    assert gradient.tolist() == [2, 2]


def test_what_it_has_not():
    def absent(x: torch.Tensor):
        return Twice.thrice(x)

    with pytest.raises(RuntimeError, match="thrice"):
        torch.jit.script(absent)
