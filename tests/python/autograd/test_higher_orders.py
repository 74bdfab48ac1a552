"""Derivatives of high order where a formula looks at the values."""

from __future__ import annotations

import itertools
import math

import pytest

import hotaru as torch


def chain(x):
    """The running products of a line, written out."""
    out = [x[0]]
    for element in x[1:]:
        out.append(out[-1] * element)
    return torch.stack(out)


PRODUCTS = {
    "cumprod": (lambda x: x.cumprod(0), chain),
    "prod": (lambda x: x.prod(), lambda x: chain(x)[-1]),
    "prod of a dimension": (lambda x: x[None].prod(1)[0], lambda x: chain(x)[-1]),
}


def orders(f, values, count):
    """The derivatives, each of a weighted sum of the one before."""
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    weights = torch.arange(1.0, len(values) + 1, dtype=torch.float64)
    y, found = f(x), []
    for _ in range(count):
        total = (y * weights).sum() if y.dim() else y
        (y,) = torch.autograd.grad(total, x, create_graph=True)
        found.append(y.detach())
    return found


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_any_number_of_zeros(name):
    """A formula that divides, or takes a zero out, is right for one order."""
    formula, written_out = PRODUCTS[name]
    for values in itertools.product((0.0, 2.0, 3.0), repeat=4):
        got = orders(formula, values, 4)
        for a, b in zip(got, orders(written_out, values, 4)):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


def test_complex_running_products():
    x = torch.tensor([1 + 2j, 0, 0.5j, 3], requires_grad=True)
    y = torch.cumprod(x, 0)
    (g,) = torch.autograd.grad(y.abs().square().sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(chain(x).abs().square().sum(), x)
    torch.testing.assert_close(g, h)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("value", [-60.0, -10.0, 0.5, 1.5, 10.0, 14.5, 40.0])
def test_logarithms_of_normal_probabilities(value, dtype):
    """With r the density over the probability: r, -r (x + r), and it is 0
    where the density is, whose quotient with erfcx is not a number.
    """
    x = torch.tensor(value, dtype=dtype, requires_grad=True)
    (first,) = torch.autograd.grad(torch.special.log_ndtr(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    density = math.exp(-value * value / 2) / math.sqrt(2 * math.pi)
    if value > -30:
        ratio = density / (math.erfc(-value / math.sqrt(2)) / 2)
        wanted = -ratio * (value + ratio)
        # The sum of ratio and value loses what they have in common.
        lost = abs(ratio * value) * 64 * torch.finfo(dtype).eps
    else:
        ratio, wanted, lost = 60.0166, -0.9994, 2e-3  # asymptotic series
    tolerance = 64 * torch.finfo(dtype).eps if value > -30 else 1e-5
    assert abs(first.item() - ratio) <= tolerance * ratio + 1e-37
    assert abs(second.item() - wanted) <= lost + tolerance * abs(wanted) + 1e-37
