"""Numbers with a point that scale tensors of integers: what is written is of
the tensor's dtype, whatever the number's.
"""

import math

import pytest

import hotaru as torch
from hotaru.autograd import gradcheck

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("alpha", [2.0, 2.5, 2, complex(2, 0)])
@pytest.mark.parametrize("dim", [0, 1])
def test_index_add(dtype, alpha, dim):
    x = torch.arange(9, dtype=dtype).view(3, 3)
    index = torch.tensor([0, 2, 2])
    want = x.index_add(dim, index, x).add(x.index_add(dim, index, x) - x)
    found = x.index_add(dim, index, x, alpha=alpha)
    assert found.dtype is dtype
    assert torch.equal(found, want)
    assert torch.equal(x.clone().index_add_(dim, index, x, alpha=alpha), want)
    out = torch.empty(0, dtype=dtype)
    assert torch.equal(torch.index_add(x, dim, index, x, alpha=alpha, out=out), want)


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.bool])
def test_renorm_is_of_floats(dtype):
    with pytest.raises(RuntimeError, match="floating point or complex tensor"):
        torch.renorm(torch.ones(3, 3).to(dtype), 2, 0, 1.0)


@pytest.mark.parametrize("base", [-1, -2.5, 3, 0.5, complex(-2, 1)])
def test_numbers_to_the_power_of_complex_tensors(base):
    exponent = torch.tensor([0.3 + 0.2j, -0.5 + 1j], dtype=torch.complex128)
    exponent.requires_grad_()
    assert gradcheck(lambda e: torch.pow(base, e), (exponent,))
    grad = torch.autograd.grad(torch.pow(base, exponent).abs().sum(), exponent)[0]
    assert math.isfinite(grad.abs().sum().item())
