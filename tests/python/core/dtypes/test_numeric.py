"""Numeric operators made of others, against numpy and their definitions."""

import math

import numpy as np
import pytest

import hotaru as torch


def values(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def test_isclose_treats_infinities_and_nan_as_numpy_does():
    inf, nan = math.inf, math.nan
    a = torch.tensor([1.0, inf, inf, -inf, nan, 1e10])
    b = torch.tensor([1.0 + 1e-6, inf, -inf, 1.0, nan, 1.00001e10])
    for equal_nan in (False, True):
        found = torch.isclose(a, b, equal_nan=equal_nan).tolist()
        wanted = np.isclose(a.numpy(), b.numpy(), equal_nan=equal_nan)
        assert found == wanted.tolist()
    assert not torch.allclose(a, b)
    assert torch.allclose(a[:2], b[:2])


def test_isclose_wants_one_dtype():
    with pytest.raises(RuntimeError, match=r"torch.float32 did not match"):
        torch.isclose(torch.ones(1), torch.ones(1, dtype=torch.float64))


@pytest.mark.parametrize(
    ("ours", "numpys", "shapes"),
    [
        ("kron", np.kron, [(2, 3), (3, 2)]),
        ("kron", np.kron, [(3,), (2, 2)]),
        ("cross", np.cross, [(4, 3), (4, 3)]),
        ("logaddexp2", np.logaddexp2, [(5,), (5,)]),
    ],
)
def test_two_operands_against_numpy(ours, numpys, shapes):
    a, b = (values(*s, seed=i) for i, s in enumerate(shapes))
    found = getattr(torch, ours)(torch.tensor(a), torch.tensor(b))
    np.testing.assert_allclose(found.numpy(), numpys(a, b), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_gcd_against_numpy(dtype):
    a = np.arange(-12, 12).astype(dtype)
    b = np.arange(-6, 6).astype(dtype)[:, None]
    found = torch.gcd(torch.tensor(a), torch.tensor(b))
    np.testing.assert_array_equal(found.numpy(), np.gcd(a, b))
    assert torch.tensor([12, -9]).gcd_(torch.tensor(6)).tolist() == [6, 3]
    with pytest.raises(NotImplementedError, match="gcd"):
        torch.gcd(torch.ones(2), torch.ones(2))


@pytest.mark.parametrize("name", ["sinc", "deg2rad", "rad2deg", "signbit"])
def test_one_operand_against_numpy(name):
    x = np.concatenate([values(9), [0.0, -0.0, 1.0]])
    found = getattr(torch, name)(torch.tensor(x)).numpy()
    np.testing.assert_allclose(found, getattr(np, name)(x), rtol=1e-12, atol=1e-15)


def test_nan_to_num_replaces_each_kind():
    x = torch.tensor([math.nan, math.inf, -math.inf, 2.0])
    largest = torch.finfo(torch.float32).max
    assert torch.nan_to_num(x).tolist() == [0.0, largest, -largest, 2.0]
    assert torch.nan_to_num(x, 1, 2, 3).tolist() == [1.0, 2.0, 3.0, 2.0]


def test_complex_views_share_memory_and_pass_gradients():
    pairs = torch.tensor([[1.0, 2.0], [3.0, -1.0]], requires_grad=True)
    z = torch.view_as_complex(pairs)
    assert z.tolist() == [1 + 2j, 3 - 1j]
    (z * z).real.sum().backward()
    # d Re(z^2) = 2 x dx - 2 y dy
    assert pairs.grad.tolist() == [[2.0, -4.0], [6.0, 2.0]]
    plain = torch.tensor([1 + 2j])
    plain.real[0] = 5
    assert plain.tolist() == [5 + 2j]


def test_isreal_looks_at_imaginary_parts():
    z = torch.tensor([1 + 1j, 2, complex(math.nan, 0), complex(0, math.nan)])
    assert torch.isreal(z).tolist() == [False, True, True, False]
    assert z.real.isreal().tolist() == [True] * 4


def test_complex_from_parts():
    z = torch.complex(torch.tensor([1.0, 2.0]), torch.tensor(3.0))
    assert z.dtype is torch.complex64
    assert z.tolist() == [1 + 3j, 2 + 3j]
    turned = torch.polar(torch.tensor([2.0]), torch.tensor([math.pi / 2]))
    assert abs(turned.item() - 2j) < 1e-6


@pytest.mark.parametrize(
    ("alias", "original"),
    [("arccos", "acos"), ("greater", "gt"), ("fix", "trunc"), ("less", "lt")],
)
def test_other_names(alias, original):
    x = torch.tensor([0.1, -0.5, 0.9])
    arguments = () if alias in ("arccos", "fix") else (0.2,)
    found = getattr(torch, alias)(x, *arguments)
    assert found.tolist() == getattr(torch, original)(x, *arguments).tolist()


def test_splits_of_numpy():
    x = torch.arange(16).reshape(2, 8)
    for found, wanted in zip(torch.hsplit(x, 4), np.hsplit(x.numpy(), 4)):
        assert found.tolist() == wanted.tolist()
    sizes = [tuple(p.shape) for p in torch.hsplit(x, [1, 3])]
    assert sizes == [(2, 1), (2, 2), (2, 5)]


def test_unique_with_all_it_can_tell():
    x = torch.tensor([3, 1, 3, 2])
    found = torch.unique(x, return_inverse=True, return_counts=True)
    assert [t.tolist() for t in found] == [[1, 2, 3], [2, 0, 2, 1], [1, 1, 2]]


def test_result_types_and_shapes():
    assert torch.result_type(torch.ones(1, dtype=torch.int32), 1.0) is torch.float32
    assert torch.broadcast_shapes((2, 1), (3,), 1) == (2, 3)


def test_derivatives_of_log_gamma():
    x = torch.tensor([0.3, 1.0, 4.5, -1.3], dtype=torch.float64)
    x.requires_grad_()
    step = 1e-6
    for function in (torch.lgamma, torch.digamma):
        (found,) = torch.autograd.grad(function(x).sum(), x)
        with torch.no_grad():
            wanted = (function(x + step) - function(x - step)) / (2 * step)
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-7)
    # psi(1) is minus Euler's constant.
    assert abs(torch.digamma(x)[1].item() + 0.5772156649015329) < 1e-15


def test_missing_derivatives_say_so():
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(NotImplementedError, match="'igamma: input' is not"):
        torch.igamma(x, x).sum().backward()


def test_integer_ranges_of_broken_ends():
    assert torch.arange(2.7, dtype=torch.int64).tolist() == [0, 1]


def test_python_types_as_dtypes():
    found = [torch.zeros(1, dtype=t).dtype for t in (float, int, bool, complex)]
    wanted = [torch.float64, torch.int64, torch.bool, torch.complex128]
    assert found == wanted
