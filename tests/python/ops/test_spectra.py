"""Eigen- and singular values of matrices that are hard for the algorithms:
equal, close and graded values, sizes at the ends of blocks, numbers near the
ends of the range.

Bounds are `ROUNDS * n` roundings of the largest value. Theory bounds the error
of reductions and of divide and conquer by a small multiple of n eps |A|; it is
a tenth of that for nearly all of these.
"""

from __future__ import annotations

import math

import pytest

import hotaru as torch

L = torch.linalg
REAL = (torch.float32, torch.float64)
DTYPES = (*REAL, torch.complex64, torch.complex128)
# At the ends of leaves (32), panels (32) and blocks of reflections (64).
SIZES = (1, 2, 3, 31, 32, 33, 34, 63, 64, 65, 66, 100, 257)
ROUNDS = 4


def numbers(rows, columns, dtype, seed=0):
    torch.manual_seed(seed + 1000 * rows + columns)
    return torch.randn(rows, columns, dtype=dtype)


def bound(n, dtype, size=1.0):
    return ROUNDS * max(n, 4) * torch.finfo(dtype).eps * max(size, 1e-37)


def largest(x):
    return float(x.abs().max()) if x.numel() else 0.0


def assert_orthonormal(q):
    n = q.shape[-1]
    error = q.mH @ q - torch.eye(n, dtype=q.dtype)
    assert largest(error) <= bound(q.shape[-2], q.dtype)


def tridiagonal(diagonal, beside, dtype):
    d, e = diagonal.to(dtype), beside.to(dtype)
    if d.numel() == 1:
        return d.reshape(1, 1)
    return torch.diag(d) + torch.diag(e, 1) + torch.diag(e, -1)


def with_values(values, dtype):
    n = values.numel()
    q = L.qr(numbers(n, n, dtype))[0]
    a = (q * values.to(dtype)) @ q.mH
    return (a + a.mH) / 2


def graded(n, dtype):
    """Elements from 1e-20 to 1e15, the large ones last."""
    x = numbers(n, n, dtype)
    scale = (10.0 ** torch.linspace(-10, 7.5, n).double()).to(dtype)
    return (x + x.mH) * scale * scale.unsqueeze(-1)


def glued(n, dtype):
    """Wilkinson's W21+, again and again, with next to nothing between."""
    places = torch.arange(n)
    beside = torch.where(places[1:] % 21 == 0, 1e-6, 1.0)
    return tridiagonal((places % 21 - 10).abs(), beside, dtype)


def one(n):
    return torch.ones(n, dtype=torch.float64)


HERMITIAN = {
    "random": lambda n, dtype: numbers(n, n, dtype) + numbers(n, n, dtype).mH,
    "zero": lambda n, dtype: torch.zeros(n, n, dtype=dtype),
    "identity": lambda n, dtype: torch.eye(n, dtype=dtype),
    "rank one": lambda n, dtype: torch.ones(n, n, dtype=dtype),
    "repeated": lambda n, dtype: with_values(torch.arange(n) % 3, dtype),
    "clustered": lambda n, dtype: with_values(
        1 + 1e-9 * torch.arange(n).double(), dtype
    ),
    "geometric": lambda n, dtype: with_values(
        10.0 ** (torch.arange(n).double() * (-30 / n)), dtype
    ),
    "graded": graded,
    "graded, reversed": lambda n, dtype: graded(n, dtype).flip(0, 1),
    "Wilkinson": lambda n, dtype: tridiagonal(
        (torch.arange(n) - n // 2).abs(), one(n - 1), dtype
    ),
    "glued": glued,
    "Laplace": lambda n, dtype: tridiagonal(2 * one(n), -one(n - 1), dtype),
    "small": lambda n, dtype: HERMITIAN["random"](n, dtype) * 1e-30,
    "large": lambda n, dtype: HERMITIAN["random"](n, dtype) * 1e30,
}


def assert_eigenvectors(a):
    n = a.shape[-1]
    values, V = L.eigh(a)
    size = largest(values)
    assert_orthonormal(V)
    error = a @ V - V * values.to(a.dtype)
    assert largest(error) <= bound(n, a.dtype, size)
    assert bool((values[1:] >= values[:-1]).all())
    assert largest(L.eigvalsh(a) - values) <= bound(n, a.dtype, size)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", HERMITIAN)
def test_hermitian_eigenvectors(kind, dtype):
    for n in SIZES:
        assert_eigenvectors(HERMITIAN[kind](n, dtype))


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_many_eigenvectors(dtype):
    assert_eigenvectors(HERMITIAN["random"](1000, dtype))


def test_known_eigenvalues():
    # 4 sin^2(k pi / 2 (n + 1)).
    n = 200
    a = HERMITIAN["Laplace"](n, torch.float64)
    k = torch.arange(1, n + 1).double()
    wanted = 4 * torch.sin(k * (math.pi / (2 * (n + 1)))) ** 2
    assert largest(L.eigh(a)[0] - wanted) <= bound(n, a.dtype, 4.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("n", [1, 5, 70])
def test_hermitian_of_no_numbers(n, bad):
    a = torch.eye(n).repeat(3, 1, 1)
    a[1, n - 1, 0] = bad
    for f in (L.eigh, L.eigvalsh):
        with pytest.raises(L.LinAlgError, match="Batch element 1.*converge"):
            f(a)
    if n > 1:  # the other triangle is not looked at
        a = torch.eye(n)
        a[0, n - 1] = bad
        assert L.eigvalsh(a).tolist() == [1.0] * n


def test_threads_change_nothing():
    """Matrices of a batch are worked on together, in any order."""
    a = torch.stack([HERMITIAN["random"](40, torch.float64)] * 5)
    a = a * torch.arange(1.0, 6).double().reshape(5, 1, 1)
    for i, (values, V) in enumerate(zip(*L.eigh(a), strict=True)):
        single, own = L.eigh(a[i])
        assert torch.equal(values, single)
        assert torch.equal(V, own)
