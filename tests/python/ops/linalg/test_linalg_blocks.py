"""Factorisations by blocks: sizes around those of blocks, panels and strips.

Bounds are those of backward stable algorithms (N. Higham, "Accuracy and
stability of numerical algorithms", 9.3, 10.1 and 19.3): residuals of at most
c n eps |A|, with c = 8, growth of pivots included.
"""

import numpy as np
import pytest

import hotaru as torch

DTYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
# Columns of one go are 8 or 16, blocks 32, panels 64, strips 96.
SIZES = [7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 97, 130, 257]
SHAPES = [(n, n) for n in SIZES] + [
    (200, 70),
    (70, 200),
    (129, 8),
    (8, 129),
    (300, 33),
    (33, 300),
    (1, 70),
    (70, 1),
]


def operand(shape, dtype, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=dtype, generator=generator)


def bound(a):
    scale = torch.linalg.norm(a).item()
    return 8 * max(a.shape) ** 0.5 * torch.finfo(a.dtype).eps * scale


def residual(a, b):
    return torch.linalg.norm(a - b).item()


def dominant(n, dtype):
    """A well-conditioned matrix."""
    return operand((n, n), dtype) + 2 * n**0.5 * torch.eye(n, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_lu(shape, dtype):
    a = operand(shape, dtype)
    p, l, u = torch.linalg.lu(a)
    assert residual(p @ (l @ u), a) < bound(a) * 4
    assert torch.equal(u, u.triu())
    assert torch.equal(l, l.tril())
    assert l.abs().max() <= 1.5  # a pivot is the largest |re| + |im|
    assert torch.equal(l.diagonal(), torch.ones_like(l.diagonal()))
    assert torch.equal(p.sum(0).real, torch.ones(shape[0], dtype=p.real.dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(shape, dtype, mode):
    a = operand(shape, dtype)
    q, r = torch.linalg.qr(a, mode=mode)
    eye = torch.eye(q.shape[1], dtype=dtype)
    assert residual(q @ r, a) < bound(a)
    assert residual(q.mH @ q, eye) < bound(eye)
    assert torch.equal(r, r.triu())
    assert not dtype.is_complex or torch.all(r.diagonal().imag == 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reflections_are_applied_as_they_are_stored(shape, dtype):
    a = operand(shape, dtype)
    v, tau = torch.geqrf(a)
    q, r = torch.linalg.qr(a)
    k = min(shape)
    assert residual(v.triu()[:k], r) < bound(a)
    if shape[0] >= shape[1]:
        assert residual(torch.linalg.householder_product(v, tau), q) < bound(q)
        few = torch.linalg.householder_product(v, tau[: k // 2])
        assert residual(few[:, : k // 2], q[:, : k // 2]) < bound(q)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n, dtype):
    a = operand((n, n), dtype)
    a = a @ a.mH + n * torch.eye(n, dtype=dtype)
    l = torch.linalg.cholesky(a.tril())  # what is above is not read
    assert residual(l @ l.mH, a) < bound(a)
    assert torch.equal(l, l.tril())
    assert residual(torch.linalg.cholesky(a, upper=True), l.mH) < bound(l) * n


@pytest.mark.parametrize("column", [1, 16, 17, 40, 64, 100, 129])
def test_cholesky_names_the_first_bad_column(column):
    a = torch.eye(130, dtype=torch.float64) * 4
    a[column - 1, column - 1] = -1
    a[-1, -1] = -1
    assert torch.linalg.cholesky_ex(a).info.item() == column
    with pytest.raises(torch.linalg.LinAlgError, match=f"order {column} is"):
        torch.linalg.cholesky(a)
    a[column - 1, column - 1] = float("nan")
    assert torch.linalg.cholesky_ex(a).info.item() == column


@pytest.mark.parametrize("column", [1, 8, 9, 33, 64, 65, 129, 130])
def test_lu_names_the_first_zero_pivot(column):
    a = dominant(130, torch.float64)
    a[:, column - 1] = 0
    a[:, -1] = 0
    assert torch.linalg.lu_factor_ex(a).info.item() == column
    with pytest.raises(torch.linalg.LinAlgError, match=f"element {column} is"):
        torch.linalg.inv(a)
    assert torch.linalg.det(a) == 0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_systems(n, dtype):
    a = dominant(n, dtype)
    for k in (1, 3, n):
        b = operand((n, k), dtype, seed=1)
        x = torch.linalg.solve(a, b)
        assert residual(a @ x, b) < bound(a) * torch.linalg.norm(x).item()
        left = torch.linalg.solve(a, b.mT, left=False)
        assert residual(left @ a, b.mT) < (bound(a) * torch.linalg.norm(left).item())
    eye = torch.eye(n, dtype=dtype)
    inverse = torch.linalg.inv(a)
    assert residual(inverse @ a, eye) < (bound(a) * torch.linalg.norm(inverse).item())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_triangular_systems(n, unit, upper, dtype):
    a = dominant(n, dtype)
    if unit:
        a = a / (4 * n)
    whole = a.clone()
    a = a.triu() if upper else a.tril()
    if unit:
        a.diagonal().fill_(1)
    for b in (operand((n, 1), dtype), operand((n, 37), dtype)):
        x = torch.linalg.solve_triangular(whole, b, upper=upper, unitriangular=unit)
        assert residual(a @ x, b) < bound(a) * torch.linalg.norm(x).item()


def test_determinants_of_permutations():
    generator = torch.Generator().manual_seed(3)
    for n in (9, 65, 200):
        order = torch.randperm(n, generator=generator)
        a = torch.eye(n, dtype=torch.float64)[order]
        sign = round(np.linalg.det(a.numpy()))
        assert torch.linalg.det(a).item() == sign
        assert torch.linalg.slogdet(a).sign.item() == sign
        assert torch.equal(torch.linalg.inv(a), a.T)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize(
    ("m", "n", "k"), [(1, 9, 9), (4, 8, 8), (5, 9, 8), (33, 70, 129), (64, 1, 50)]
)
def test_complex_products(m, n, k, dtype):
    a, b = operand((m, k), dtype), operand((k, n), dtype, seed=1)
    c = operand((m, n), dtype, seed=2)
    want = a.numpy().astype(complex) @ b.numpy().astype(complex)
    # Each part is a sum of 2k products.
    eps = 2 * k * torch.finfo(dtype).eps

    def close(got, wanted):
        got = got.numpy()
        assert np.abs(got - wanted).max() <= eps * np.abs(wanted).max()

    close(a @ b, want)
    close(a.mT.contiguous().mT @ b, want)
    close(a.conj() @ b, a.numpy().conj().astype(complex) @ b.numpy())
    close(a @ b.mH.contiguous().mH, want)
    close(torch.addmm(c, a, b), want + c.numpy())
    close(torch.addmm(c, a, b, beta=2 - 1j, alpha=1j), (2 - 1j) * c.numpy() + 1j * want)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(90, 40), (40, 90), (130, 130), (1, 70)])
def test_least_squares_by_both_ways(shape, dtype):
    """Gelsy works by QR if the rank is beyond doubt, gelsd never does."""
    m, n = shape
    whole = operand(shape, dtype) + 2 * m**0.5 * torch.eye(m, n, dtype=dtype)
    b = operand((2, m, 3), dtype, seed=2)
    for rank in {max(1, min(shape) // 3), min(shape)}:
        low = whole[:, :rank] @ operand((rank, n), dtype, 1)
        a = torch.stack([low if rank < min(shape) else whole, whole])
        by_qr = torch.linalg.lstsq(a, b)
        by_svd = torch.linalg.lstsq(a, b, driver="gelsd")
        assert by_qr.rank.tolist() == [rank, min(shape)]
        assert torch.equal(by_qr.rank, by_svd.rank)
        for x, y, matrix in zip(by_qr.solution, by_svd.solution, a):
            largest = torch.linalg.norm(matrix, 2)
            least = torch.linalg.svdvals(matrix)[: torch.linalg.matrix_rank(matrix)][-1]
            # Each is off by cond^2 at most (Higham, 20.1).
            eps = torch.finfo(dtype).eps * max(shape)
            off = 4 * eps * (largest / least).item() ** 2
            assert residual(x, y) <= off * torch.linalg.norm(y).item()


def test_least_squares_of_what_is_no_number():
    a = torch.full((70, 9), float("nan"))
    with pytest.raises(torch.linalg.LinAlgError, match="non-finite values"):
        torch.linalg.lstsq(a, torch.ones(70, 1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(300, 270), (270, 300)], ids=str)
def test_least_squares_of_almost_full_rank(shape, dtype):
    """A least singular value of half and of twice the limit: the rank, and the
    least solution of it, whether probes of the inverse, the inverse or the
    singular values decide.
    """
    k, limit = min(shape), 1e-3
    u = torch.linalg.qr(operand((shape[0], k), dtype)).Q
    v = torch.linalg.qr(operand((shape[1], k), dtype, 1)).Q
    b = operand((shape[0], 3), dtype, 2)
    for least, rank in ((0.5, k), (2 * limit, k), (limit / 2, k - 1), (0, k - 1)):
        values = torch.linspace(1, 0.5, k).to(u.real.dtype)
        values[-1] = least
        a = (u * values) @ v.mH
        found = torch.linalg.lstsq(a, b, rcond=limit, driver="gelsy")
        assert found.rank.item() == rank
        kept = values[:rank]
        wanted = v[:, :rank] @ ((u[:, :rank].mH @ b) / kept[:, None])
        # Changes with the square of the condition (Higham, 20.1).
        error = residual(found.solution, wanted)
        size = torch.linalg.norm(wanted).item()
        assert error <= bound(a) * size / kept[-1].item() ** 2


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_factors_do_not_depend_on_the_number_of_threads(dtype):
    a, b = operand((300, 300), dtype), operand((300, 170), dtype, 1)
    found, threads = [], torch.get_num_threads()
    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            factors = torch.linalg.lu_factor(a)
            found.append((*factors, torch.linalg.solve(a, b)))
    finally:
        torch.set_num_threads(threads)
    for other in found[1:]:
        assert all(map(torch.equal, found[0], other))
