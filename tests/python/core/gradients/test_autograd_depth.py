"""Graphs deeper than any stack: they are run and freed in loops."""

import subprocess
import sys

import pytest

PROLOGUE = """
import hotaru as torch
x = torch.ones(2, requires_grad=True)
y = x
class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        ctx.a = a
        return a * 2
    @staticmethod
    def backward(ctx, grad):
        return grad
def hooked(y):
    z = (torch.ones(2, requires_grad=True) * 2)
    z.register_hook(lambda grad, y=y: None)
    return z
def graded(y):
    z = torch.ones(2, requires_grad=True)
    z.grad = y if y is not x else None
    return z
def written(y):
    z = y * 1
    z[:1].mul_(y[1:])
    return z
"""

SHAPES = {
    "branches": (150_000, "y + y * 1e-6"),
    "squares": (150_000, "y * y"),
    "saved": (50_000, "torch.where(y > 0, y.exp() * y, y.sin() + y)"),
    "functions": (20_000, "Kept.apply(y)"),
    "hooks": (20_000, "hooked(y)"),
    "gradients": (100_000, "graded(y)"),
    "writes": (20_000, "written(y)"),
}


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + program],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("shape", SHAPES)
def test_freeing(shape):
    """In another process: a stack that overflows takes its process along."""
    count, step = SHAPES[shape]
    out = run(f"for _ in range({count}): y = {step}\ny = None\nprint('freed')")
    assert out == "freed\n"


def test_passes_over_branches():
    out = run(
        "for _ in range(30_000): y = y * 0.5 + y * 0.5\n"
        "y.sum().backward()\nprint(x.grad.tolist())"
    )
    assert out == "[1.0, 1.0]\n"


def test_second_derivative():
    out = run(
        "for _ in range(5_000): y = y * y / y\n"
        "g, = torch.autograd.grad(y.sum(), x, create_graph=True)\n"
        "(g * g).sum().backward()\nprint(x.grad.tolist())"
    )
    assert out == "[0.0, 0.0]\n"
