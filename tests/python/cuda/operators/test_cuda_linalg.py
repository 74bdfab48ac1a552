"""Dense linear algebra beside the CPU's, which other tests compare."""

from __future__ import annotations

import pytest

import hotaru as torch

linalg = torch.linalg
DTYPES = ("float32", "float64", "complex64", "complex128")
# Some with one warp, two and eight; odd sizes, batches and nothing at all.
SQUARES = ((0, 0), (1, 1), (3, 3), (2, 5, 5), (2, 3, 17, 17), (40, 40), (0, 4, 4))
OBLONGS = (
    (3, 0),
    (0, 3),
    (5, 3),
    (3, 5),
    (2, 20, 7),
    (2, 7, 20),
    (1, 70),
    (70, 1),
    (50, 33),
    (2, 0, 5),
)


def numbers(dtype, *shape, seed=0):
    torch.manual_seed(seed)
    dtype = getattr(torch, dtype)
    wide = torch.complex128 if dtype.is_complex else torch.float64
    return torch.randn(*shape, dtype=wide).to(dtype)


def adjoint(x):
    return x.mT.conj()


def positive(a):
    n = a.shape[-1]
    return a @ adjoint(a) + 2 * torch.eye(n, dtype=a.dtype)


def tuple_of(x):
    return (x,) if isinstance(x, torch.Tensor) else tuple(x)


def assert_same(call, *inputs, **options):
    """Results are the CPU's, but for some thousand roundings of the largest.

    That is what these sizes and condition numbers, up to some hundreds, make of
    one rounding error.
    """
    wants = tuple_of(call(*inputs, **options))
    gots = tuple_of(call(*(x.to("cuda") for x in inputs), **options))
    for got, want in zip(gots, wants):
        assert (got.device.type, got.dtype) == ("cuda", want.dtype)
        assert got.shape == want.shape
        got = got.cpu()
        if not (want.is_floating_point() or want.is_complex()):
            assert got.equal(want)
        elif want.numel():
            size = max(1, float(want.abs().max()))
            bound = 2**12 * torch.finfo(want.dtype).eps * size
            assert float((got - want).abs().max()) <= bound


def assert_same_error(call, *inputs):
    """Errors that the CPU raises at once CUDA raises when it is waited for."""

    def waited(*xs):
        call(*xs)
        torch.cuda.synchronize()

    with pytest.raises(RuntimeError) as want:
        call(*inputs)
    with pytest.raises(RuntimeError) as got:
        waited(*(x.to("cuda") for x in inputs))
    assert type(got.value) is type(want.value)
    assert str(got.value).startswith(str(want.value))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARES)
def test_systems(cuda, dtype, shape):
    a = numbers(dtype, *shape)
    b = numbers(dtype, *shape[:-1], 35, seed=1)
    assert_same(linalg.inv, a.mT)
    assert_same(linalg.solve, a, b)
    assert_same(linalg.det, a)
    assert_same(linalg.slogdet, a)
    assert_same(lambda x, y: linalg.lu_solve(*linalg.lu_factor(x), y), a, b)
    spd = positive(a)
    assert_same(linalg.cholesky, spd)
    for upper in (False, True):
        solve = linalg.solve_triangular
        assert_same(solve, spd, b, upper=upper)
        assert_same(solve, spd / 64, b, upper=upper, unitriangular=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARES + OBLONGS)
def test_lu(cuda, dtype, shape):
    a = numbers(dtype, *shape)
    assert_same(linalg.lu_factor, a)
    assert_same(linalg.lu, a)
    assert_same(lambda x: linalg.lu_factor_ex(x * 0)[2], a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 133, 133), (128, 200), (170, 160)])
def test_panels(cuda, dtype, shape):
    """Larger matrices have several blocks that work on one."""
    a = numbers(dtype, *shape) / 16
    assert_same(linalg.lu_factor, a)
    m = shape[-2]
    assert_same(linalg.lu_factor, a + a.shape[-1] * torch.eye(m, shape[-1]))
    a = a[..., : min(shape[-2:]), : min(shape[-2:])]
    spd = positive(a)
    assert_same(linalg.cholesky, spd)
    assert_same(linalg.inv, spd)
    assert_same(linalg.slogdet, spd)
    spd[..., 100, 100] = -1
    got = linalg.cholesky_ex(spd.to(cuda))
    assert got.info.unique().tolist() == [101]
    assert_same_error(linalg.cholesky, spd)
    a[..., :, 70] = 0
    assert linalg.lu_factor_ex(a.to(cuda)).info.unique().tolist() == [71]
    assert_same_error(linalg.inv, a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", OBLONGS)
def test_qr(cuda, dtype, shape):
    a = numbers(dtype, *shape)
    for mode in ("reduced", "complete", "r"):
        assert_same(linalg.qr, a, mode=mode)
    assert_same(torch.geqrf, a)
    if shape[-2] >= shape[-1]:
        assert_same(lambda x: linalg.householder_product(*torch.geqrf(x)), a)
    assert_same(lambda x: linalg.qr(x)[1], a * 0)


@pytest.mark.parametrize("n", [1, 20, 140])
def test_lu_without_pivots(cuda, n):
    """Which the CPU has no code for."""
    a = (numbers("float64", 2, n, n) / 64 + torch.eye(n)).to(cuda)
    p, l, u = linalg.lu(a, pivot=False)
    assert p.numel() == 0
    assert float((l @ u - a).abs().max()) < 1e-14
    _, pivots, info = linalg.lu_factor_ex(a, pivot=False)
    assert pivots.tolist() == [list(range(1, n + 1))] * 2
    assert not info.any()


def test_qr_of_tiny_and_huge_numbers(cuda):
    a = numbers("float64", 7, 5)
    for scale in (1e-310, 1e-200, 1e200):
        assert_same(lambda x: linalg.qr(x)[0], a * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARES)
@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl(cuda, dtype, shape, hermitian):
    a = numbers(dtype, *shape)
    a = a + (adjoint(a) if hermitian else a.mT)
    b = numbers(dtype, *shape[:-1], 35, seed=1)

    def factor(x):
        return linalg.ldl_factor_ex(x, hermitian=hermitian)

    assert_same(factor, a)
    assert_same(lambda x: factor(x * 0), a)
    if a.numel():
        assert_same(
            lambda x, y: linalg.ldl_solve(*factor(x)[:2], y, hermitian=hermitian), a, b
        )


def test_what_cannot_be_solved(cuda):
    a = torch.eye(3).repeat(4, 1, 1)
    a[2, 1, 1] = a[3, 0, 0] = 0
    b = torch.ones(4, 3, 2)
    assert_same_error(linalg.solve, a, b)
    assert_same_error(linalg.solve, a[2], b[2])
    for f in (linalg.inv, linalg.lu_factor, linalg.cholesky, linalg.ldl_factor):
        assert_same_error(f, a)
        assert_same_error(f, a[3])
    info = [0, 0, 2, 1]
    assert linalg.inv_ex(a.to(cuda)).info.tolist() == info
    assert linalg.lu_factor_ex(a.to(cuda)).info.tolist() == info
    assert linalg.cholesky_ex(a.to(cuda)).info.tolist() == info
    assert linalg.ldl_factor_ex(a.to(cuda)).info.tolist() == info


def test_pivots_that_are_none(cuda):
    a, b = torch.eye(3).repeat(2, 1, 1), torch.ones(2, 3, 1)
    for wrong in (0, 4):
        pivots = torch.tensor([[1, 2, 3], [1, wrong, 3]], dtype=torch.int32)
        assert_same_error(linalg.lu_solve, a, pivots, b)
        assert_same_error(torch.lu_unpack, a, pivots)
        assert_same_error(linalg.ldl_solve, a, pivots, b)


def test_strides(cuda):
    a = numbers("float64", 9, 2, 10, 6)[1::4, :, ::2, 1:].transpose(0, 1)
    for x in (a, a.mT, a[:1].expand(2, 2, 5, 5)):
        y = x.flip(-1).mT
        for f in (linalg.inv, linalg.det, linalg.lu_factor, linalg.qr, eig):
            assert_same(f, x)
        assert_same(linalg.solve, x, y)
        assert_same(lambda z: spread(*linalg.eigh(z)), x)
        assert_same(svd, x, full_matrices=False)


def test_more_columns_than_blocks(cuda):
    x = torch.arange(8192 * 32 + 50.0, device=cuda).unsqueeze(0)
    two = torch.full((1, 1), 2.0, device=cuda)
    assert linalg.solve_triangular(two, x, upper=True).equal(x / 2)


def test_gradients(cuda):
    a = numbers("float64", 2, 4, 4)
    b = numbers("float64", 2, 4, 3)

    def gradients(x, y):
        x.requires_grad_()
        out = linalg.solve(x, y).sum() + linalg.slogdet(x)[1].sum()
        out = out + linalg.qr(x)[1].sum() + linalg.cholesky(x @ x.mT).sum()
        out.backward()
        return x.grad

    assert_same(lambda x, y: gradients(x.clone(), y), a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARES)
def test_matrix_exp(cuda, dtype, shape):
    a = numbers(dtype, *shape) / max(1, shape[-1]) ** 0.5
    for norm in (1e-9, 1e-5, 1e-2, 0.3, 1, 5):  # each has a degree of its own
        assert_same(linalg.matrix_exp, a * norm)
    assert linalg.matrix_exp((a * torch.nan).to(cuda)).isnan().all()


def spread(values, vectors):
    """The matrix of these, and what orthonormal vectors make the identity."""
    turned = adjoint(vectors)
    return (vectors * values.unsqueeze(-2)) @ turned, turned @ vectors


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARES)
def test_eigh(cuda, dtype, shape):
    a = numbers(dtype, *shape)
    a = a + adjoint(a)
    tiny = 1e-30 if dtype in {"float32", "complex64"} else 1e-200
    assert_same(lambda x: linalg.eigvalsh(x) / tiny, a * tiny)
    for scale in (1, tiny, 0):
        assert_same(linalg.eigvalsh, a * scale)
        assert_same(lambda x: spread(*linalg.eigh(x)), a * scale)
    assert_same(lambda x: spread(*linalg.eigh(x, "U")), a.triu())


def test_eigh_of_what_is_not_finite(cuda):
    a = torch.eye(5).repeat(3, 1, 1)
    a[1, 3, 2] = torch.nan
    for f in (linalg.eigvalsh, linalg.eigh):
        assert_same_error(f, a)
        assert_same_error(f, a[1])


# Rotations are many barriers, which take long on a GPU in software.
SMALL = (
    (0, 0),
    (1, 1),
    (2, 3, 3),
    (3, 0),
    (0, 3),
    (5, 3),
    (2, 3, 5),
    (1, 40),
    (40, 1),
    (17, 6),
    (2, 0, 5),
)


def svd(x, full_matrices):
    """Values, the matrix of them, and what orthonormal vectors make."""
    u, s, vh = linalg.svd(x, full_matrices=full_matrices)
    k = s.shape[-1]
    again = (u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :]
    return s, again, adjoint(u) @ u, vh @ adjoint(vh)


def low_rank(a):
    """One of rank 1, some of whose columns are equal to the bit."""
    return a[..., :1].expand(a.shape) if a.numel() else a


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SMALL)
def test_svd(cuda, dtype, shape):
    a = numbers(dtype, *shape)
    tiny = 1e-30 if dtype in {"float32", "complex64"} else 1e-200
    for x in (a, low_rank(a), a * 0, a * tiny, a / tiny):
        assert_same(linalg.svdvals, x)
        for full in (False, True):
            assert_same(svd, x, full_matrices=full)


def test_singular_values_of_all_sizes(cuda):
    q = linalg.qr(numbers("float32", 70, 24))[0]
    values = torch.logspace(0, -12, 24)
    assert_same(svd, q * values, full_matrices=False)
    assert_same(svd, (q * values) @ q.mT, full_matrices=True)
    # Jacobi's rotations find each value of graded columns exactly.
    got = linalg.svdvals((q * values).to(cuda)).cpu()
    assert float((got / values - 1).abs().max()) < 1e-5


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SMALL)
def test_least_squares(cuda, dtype, shape):
    a = numbers(dtype, *shape)
    b = numbers(dtype, *shape[:-1], 3, seed=1)

    def solve(x, y):
        driver = "gelsy" if x.device.type == "cpu" else None
        out = linalg.lstsq(x, y, driver=driver)
        return out.solution, out.rank

    assert_same(solve, a, b)
    assert_same(solve, low_rank(a), b)
    assert_same(solve, a * 0, b)


def test_svd_of_what_is_not_finite(cuda):
    a = torch.ones(3, 4, 2)
    a[2, 1, 1] = torch.inf
    for f in (linalg.svdvals, linalg.svd, linalg.pinv, lambda x: linalg.lstsq(x, x)):
        assert_same_error(f, a)
        assert_same_error(f, a[2])


def eig(x):
    """Residuals of the equations, lengths, and sums of the values' powers,
    since they come in any order.
    """
    values, vectors = linalg.eig(x)
    left = x.to(vectors.dtype) @ vectors - vectors * values.unsqueeze(-2)
    sums = [(values**k).sum(-1) for k in (1, 2, 3)]
    only = linalg.eigvals(x).sum(-1)
    return (left, (vectors.abs() ** 2).sum(-2), only, *sums)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SMALL[:3], (2, 2), (2, 3, 9, 9), (24, 24)])
def test_eig(cuda, dtype, shape):
    a = numbers(dtype, *shape)
    unit = max(1.0, shape[-1]) ** 0.5  # values up to about 1
    assert_same(eig, a / unit)
    assert_same(eig, a.triu() / unit)
    assert_same(eig, a.tril() / unit)
    assert_same(eig, a * 0)
    turned = torch.eye(shape[-1], dtype=a.dtype).roll(1, -1)
    assert_same(eig, turned)  # without other shifts QR leaves it as it is


def test_eig_of_pairs_and_scales(cuda):
    a = torch.tensor([[0.0, 2.0], [-2.0, 0.0]], dtype=torch.float64)
    values, vectors = linalg.eig(a.to(cuda))
    assert values.tolist() == [2j, -2j]
    assert vectors[:, 0].conj().equal(vectors[:, 1])
    d = torch.logspace(-60, 60, 6, dtype=torch.float64)
    b = numbers("float64", 6, 6)
    scaled = d.unsqueeze(1) * b / d
    got, want = (linalg.eigvals(x).abs().sort()[0].cpu() for x in (scaled.to(cuda), b))
    assert float((got / want - 1).abs().max()) < 1e-10


def test_eig_of_what_is_not_finite(cuda):
    a = torch.ones(3, 2, 2)
    a[2, 1, 1] = torch.inf
    assert_same_error(linalg.eig, a)
    assert_same_error(linalg.eigvals, a[2])
