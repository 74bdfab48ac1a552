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
        with pytest.raises(L.LinAlgError, match=r"Batch element 1.*converge"):
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


SHAPES = (
    (1, 1),
    (2, 2),
    (3, 2),
    (2, 3),
    (31, 31),
    (32, 33),
    (33, 32),
    (34, 34),
    (64, 64),
    (65, 66),
    (100, 60),
    (60, 100),
    (97, 5),
    (5, 97),
    (130, 130),
    (257, 257),
)


def with_singular_values(m, n, values, dtype):
    k = min(m, n)
    u = L.qr(numbers(m, k, dtype))[0]
    v = L.qr(numbers(n, k, dtype, 7))[0]
    return (u * values(torch.arange(k).double()).to(dtype)) @ v.mH


def bidiagonal(m, n, diagonal, beside, dtype):
    a = torch.zeros(m, n, dtype=dtype)
    k = min(m, n)
    a.diagonal().copy_(diagonal(torch.arange(k).double()).to(dtype))
    above = a.diagonal(1)
    above.copy_(beside(torch.arange(above.numel()).double()).to(dtype))
    return a


def graded_rectangle(m, n, dtype):
    rows = 10.0 ** torch.linspace(-10, 7.5, m).double()
    columns = 10.0 ** torch.linspace(-10, 7.5, n).double()
    scale = rows.unsqueeze(-1) * columns
    return numbers(m, n, dtype) * scale.to(dtype)


RECTANGLES = {
    "random": numbers,
    "zero": lambda m, n, dtype: torch.zeros(m, n, dtype=dtype),
    "identity": lambda m, n, dtype: torch.eye(m, n, dtype=dtype),
    "rank one": lambda m, n, dtype: torch.ones(m, n, dtype=dtype),
    "repeated": lambda m, n, dtype: with_singular_values(m, n, lambda i: i % 3, dtype),
    "clustered": lambda m, n, dtype: with_singular_values(
        m, n, lambda i: 1 + 1e-9 * i, dtype
    ),
    "geometric": lambda m, n, dtype: with_singular_values(
        m, n, lambda i: 10.0 ** (i * (-30 / min(m, n))), dtype
    ),
    "graded": graded_rectangle,
    "graded, reversed": lambda m, n, dtype: graded_rectangle(m, n, dtype).flip(0, 1),
    "Jordan": lambda m, n, dtype: bidiagonal(
        m, n, lambda i: i * 0, lambda i: i * 0 + 1, dtype
    ),
    "Kahan": lambda m, n, dtype: bidiagonal(
        m, n, lambda i: 0.9**i, lambda i: -(0.9**i), dtype
    ),
    "glued": lambda m, n, dtype: bidiagonal(
        m,
        n,
        lambda i: 1 + i % 21,
        lambda i: torch.where(i % 21 == 20, 1e-6, 1.0),
        dtype,
    ),
    "small": lambda m, n, dtype: numbers(m, n, dtype) * 1e-30,
    "large": lambda m, n, dtype: numbers(m, n, dtype) * 1e30,
}


def assert_singular_vectors(a):
    m, n = a.shape
    k, size = min(m, n), float(L.svdvals(a).max())
    limit = bound(max(m, n), a.dtype, size)
    for full in (False, True):
        U, S, Vh = L.svd(a, full_matrices=full)
        assert U.shape == (m, m if full else k)
        assert Vh.shape == (n if full else k, n)
        assert_orthonormal(U)
        assert_orthonormal(Vh.mH)
        product = U[:, :k] * S.to(a.dtype) @ Vh[:k]
        assert largest(product - a) <= limit
        assert bool((S[1:] <= S[:-1]).all())
        assert float(S.min()) >= 0
        assert largest(L.svdvals(a) - S) <= limit


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", RECTANGLES)
def test_singular_vectors(kind, dtype):
    for m, n in SHAPES:
        assert_singular_vectors(RECTANGLES[kind](m, n, dtype))


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_many_singular_vectors(dtype):
    assert_singular_vectors(numbers(600, 600, dtype))


def test_known_singular_values():
    # Values of the difference matrix: 2 sin(k pi / (2 (2 n + 1))), k odd.
    n = 200
    a = bidiagonal(n, n, lambda i: i * 0 + 1, lambda i: i * 0 - 1, torch.float64)
    k = torch.arange(2 * n - 1, 0, -2).double()
    wanted = 2 * torch.sin(k * (math.pi / (2 * (2 * n + 1))))
    assert largest(L.svd(a)[1] - wanted) <= bound(n, a.dtype, 2.0)
    assert largest(L.svdvals(a) - wanted) <= bound(n, a.dtype, 2.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (70, 70)])
def test_rectangles_of_no_numbers(shape, bad):
    a = torch.ones(3, *shape)
    a[1, shape[0] - 1, 0] = bad
    for f in (L.svd, L.svdvals):
        with pytest.raises(L.LinAlgError, match=r"Batch element 1.*non-finite"):
            f(a)


# Around blocks that are solved by themselves (24), and where the number of
# shifts changes (60, 150).
SQUARE_SIZES = (1, 2, 3, 5, 24, 25, 26, 33, 59, 61, 66, 100, 151, 257)


def jordan(n, dtype, value=0.0):
    return torch.diag(torch.full((n,), value, dtype=dtype)) + torch.ones(
        n, n, dtype=dtype
    ).tril(1).triu(1)


def companion(n, dtype):
    """Companion matrix of a polynomial with random coefficients."""
    a = jordan(n, dtype)
    a[n - 1] = numbers(1, n, dtype)[0]
    return a


def cyclic(n, dtype):
    """All eigenvalues have length 1, so that no shift comes by itself."""
    a = jordan(n, dtype)
    a[n - 1, 0] = 1
    return a


def grcar(n, dtype):
    ones = torch.ones(n, n, dtype=dtype)
    return ones.triu().tril(3) - ones.tril(-1).triu(-1)


def similar_jordan(n, dtype):
    q = L.qr(numbers(n, n, dtype))[0]
    return q @ jordan(n, dtype, 1.0) @ q.mH


GENERAL = {
    "random": lambda n, dtype: numbers(n, n, dtype),
    "hermitian": HERMITIAN["random"],
    "zero": HERMITIAN["zero"],
    "identity": HERMITIAN["identity"],
    "rank one": HERMITIAN["rank one"],
    "graded": graded,
    "upper triangular": lambda n, dtype: numbers(n, n, dtype).triu(),
    "lower triangular": lambda n, dtype: numbers(n, n, dtype).tril(),
    "Hessenberg": lambda n, dtype: numbers(n, n, dtype).triu(-1),
    "orthogonal": lambda n, dtype: L.qr(numbers(n, n, dtype))[0],
    "Jordan": jordan,
    "Jordan, transposed": lambda n, dtype: jordan(n, dtype, 2.0).mT,
    "similar to Jordan": similar_jordan,
    "companion": companion,
    "cyclic": cyclic,
    "Grcar": grcar,
    "small": lambda n, dtype: numbers(n, n, dtype) * 1e-30,
    "large": lambda n, dtype: numbers(n, n, dtype) * 1e30,
}


def assert_general_vectors(a):
    n = a.shape[0]
    values, V = L.eig(a)
    top = max(largest(a), 1e-37)
    # Bounds are of the whole matrix: eigenvalues may be far smaller.
    size = top * float(((a.abs() / top) ** 2).sum()) ** 0.5
    limit = bound(n, a.dtype, size)
    assert largest(a.to(V.dtype) @ V - V * values) <= limit
    lengths = (V.abs() ** 2).sum(-2)
    assert largest(lengths - 1) <= bound(n, a.dtype)
    alone = L.eigvals(a)
    trace = a.diagonal().sum()
    assert largest(alone.sum() - trace) <= n * limit
    assert largest(values.sum() - trace) <= n * limit
    if not a.dtype.is_complex:  # pairs follow each other, the positive first
        imag = values.imag
        pairs = torch.nonzero(imag > 0).flatten()
        assert torch.equal(values[pairs + 1], values[pairs].conj())
        assert torch.equal(V[:, pairs + 1], V[:, pairs].conj())
        assert int((imag < 0).sum()) == pairs.numel()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", GENERAL)
def test_general_eigenvectors(kind, dtype):
    for n in SQUARE_SIZES:
        assert_general_vectors(GENERAL[kind](n, dtype))


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_many_general_eigenvectors(dtype):
    assert_general_vectors(numbers(700, 700, dtype))


def test_known_general_eigenvalues():
    # Triangular in some order of rows: exact, though as defective as can be.
    a = jordan(40, torch.float64, 3.0).mT
    order = torch.randperm(40)
    assert L.eigvals(a[order][:, order]).tolist() == [3.0] * 40
    # Eigenvalues of a circulant matrix: roots of 1, and real ones are real.
    n = 90
    values = L.eigvals(cyclic(n, torch.float64))
    angles = torch.sort(torch.angle(values))[0]
    wanted = (torch.arange(n).double() - (n / 2 - 1)) * (2 * math.pi / n)
    assert largest(values.abs() - 1) <= bound(n, torch.float64)
    assert largest(angles.cos() - wanted.cos()) <= bound(n, torch.float64)
    assert int((values.imag == 0).sum()) == 2


def test_balancing():
    """A similar matrix with elements from 1e-16 to 1e16 has the same values."""
    n = 60
    x = numbers(n, n, torch.float64)
    scale = 2.0 ** torch.linspace(-26, 26, n).double().round()
    found = L.eigvals(x * (scale / scale.unsqueeze(-1)))
    wanted = L.eigvals(x)

    def sort(values):
        return values[(values.real + 0.7 * values.imag).argsort()]

    # Values of a random matrix move by some hundred times a change of it.
    limit = 200 * bound(n, x.dtype, largest(wanted))
    assert largest(sort(found) - sort(wanted)) <= limit


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("n", [1, 5, 70])
def test_squares_of_no_numbers(n, bad):
    a = torch.ones(2, n, n)
    a[1, n - 1, 0] = bad
    for f in (L.eig, L.eigvals):
        with pytest.raises(RuntimeError, match="should not contain infs"):
            f(a)
