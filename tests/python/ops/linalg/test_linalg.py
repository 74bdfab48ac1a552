"""Promises of factorisations about themselves: their product is the matrix and
their bases are orthonormal, for every dtype, shape and stride.
"""

from __future__ import annotations

import pytest

import hotaru as torch

L = torch.linalg
DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)
# Batches, wide, tall, a row, a column, no elements.
SHAPES = (
    (5, 5),
    (3, 7),
    (7, 3),
    (1, 4),
    (4, 1),
    (2, 3, 4, 3),
    (40, 33),
    (0, 3),
    (3, 0),
    (2, 0, 0),
    (0, 3, 3),
)
SQUARE = ((1, 1), (4, 4), (2, 3, 3), (33, 33), (0, 0), (0, 2, 2))


def numbers(shape, dtype, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=dtype)


def near(got, wanted, rounds=8):
    """Within `rounds` roundings an element of a row, of the largest element:
    factorisations are backward stable.
    """
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    if wanted.numel() == 0:
        return
    length = max(wanted.shape[-2:])
    size = max(float(wanted.abs().max()), 1e-30)
    bound = rounds * length * torch.finfo(wanted.dtype).eps * size
    assert float((got - wanted).abs().max()) <= bound


def orthonormal(q):
    unit = torch.eye(q.shape[-1], dtype=q.dtype)
    near(q.mH @ q, unit.expand(*q.shape[:-2], *unit.shape))


def strided(x):
    """The same matrices, every second column of others, rows reversed in
    memory order.
    """
    wide = torch.stack([x.mT, x.mT + 1], -1).flatten(-2)
    return wide[..., ::2].mT


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factors_of_any_matrix(shape, dtype):
    x = strided(numbers(shape, dtype))
    m, n = shape[-2:]
    k = min(m, n)
    for full in (False, True):
        U, S, Vh = L.svd(x, full_matrices=full)
        near(U[..., :k] * S.unsqueeze(-2).to(dtype) @ Vh[..., :k, :], x)
        orthonormal(U)
        orthonormal(Vh.mH)
        assert bool((S[..., :-1] >= S[..., 1:]).all())
        assert bool((S >= 0).all())
    near(L.svdvals(x).unsqueeze(-1), S.unsqueeze(-1))
    Q, R = L.qr(x)
    near(Q @ R, x)
    orthonormal(Q)
    if k:
        P, low, U = L.lu(x)
        near(P @ low @ U, x)
        assert bool((low.abs() <= 1.5).all())  # pivots were the largest
        near(
            torch.ormqr(*torch.geqrf(x), L.qr(x, "complete")[0], transpose=True),
            torch.eye(m, dtype=dtype).expand(*shape[:-2], m, m),
        )
    P = L.pinv(x)
    near(x @ P @ x, x, 30)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_eigenvectors(shape, dtype):
    x = numbers(shape, dtype)
    hermitian = strided(x + x.mH)
    for uplo in "LU":
        # Only that triangle is read, and the real part of its diagonal.
        half = hermitian.tril() if uplo == "L" else hermitian.triu()
        values, V = L.eigh(half, UPLO=uplo)
        orthonormal(V)
        near(hermitian @ V, V * values.unsqueeze(-2).to(dtype), 20)
        near(L.eigvalsh(half, UPLO=uplo).unsqueeze(-1), values.unsqueeze(-1))
        assert bool((values[..., :-1] <= values[..., 1:]).all())
    values, V = L.eig(strided(x))
    near(x.to(V.dtype) @ V, V * values.unsqueeze(-2), 40)
    lengths = (V.abs() ** 2).sum(-2)
    near(lengths.unsqueeze(-1), torch.ones_like(lengths).unsqueeze(-1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 6, 40])
def test_symmetric_indefinite_systems(n, hermitian, dtype):
    """Zeros on the diagonal ask for pivots of two rows."""
    torch.manual_seed(n)
    x = numbers((3, n, n), dtype, n)
    a = x + (x.mH if hermitian else x.mT)
    a = a - torch.diag_embed(a.diagonal(dim1=-2, dim2=-1)) * (n > 1)
    b = numbers((3, n, 2), dtype, 9)
    LD, pivots = L.ldl_factor(a.tril(), hermitian=hermitian)
    solved = L.ldl_solve(LD, pivots, b, hermitian=hermitian)
    condition = float(L.cond(a).max())
    near(a @ solved / condition, b / condition, 30 * n)
    assert n < 3 or bool((pivots < 0).any())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_least_squares_is_least(dtype):
    a, b = numbers((2, 9, 4), dtype), numbers((2, 9, 3), dtype, 1)
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        found = L.lstsq(a, b, driver=driver)
        # The residual is orthogonal to what can be reached.
        left = a.mH @ (a @ found.solution - b)
        assert float(left.abs().max()) < 200 * torch.finfo(dtype).eps


def test_exponential_of_a_rotation():
    """e^[[0, -t], [t, 0]] turns by t, however often it is halved."""
    for turn in (1e-9, 0.5, 3.0, 40.0):
        t = torch.tensor(turn, dtype=torch.float64)
        got = torch.matrix_exp(torch.tensor([[0, -turn], [turn, 0]]).double())
        wanted = torch.stack([t.cos(), -t.sin(), t.sin(), t.cos()])
        near(got, wanted.reshape(2, 2), 100)
    assert torch.matrix_exp(torch.full((2, 2), float("nan"))).isnan().all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [2, 7, 8, 40])
def test_exponential_of_any_length(n, dtype):
    """Every degree of the polynomial and squarings, beside eigenvalues of
    Hermitian matrices; each length is its own matrix of one batch. Squarings
    double the error, about once for each unit of length.
    """
    lengths = torch.tensor([0, 1e-9, 1e-5, 3e-4, 0.03, 0.2, 0.9, 1.4, 3, 9])
    x = numbers((len(lengths), n, n), dtype)
    x = x + x.mH
    x = x / x.abs().sum(-1).amax(-1)[:, None, None]
    x = x * lengths.to(x.real.dtype)[:, None, None]
    got = torch.matrix_exp(x)
    values, vectors = L.eigh(x.to(torch.promote_types(dtype, torch.float64)))
    wanted = (vectors * values.exp()[:, None]) @ vectors.mH
    for i, length in enumerate(lengths.tolist()):
        near(got[i], wanted[i].to(dtype), 8 + 4 * length)
    if n > 2:
        near(torch.matrix_exp(x.mT), got.mT.contiguous(), 8 + 4 * 9)


def test_info_instead_of_errors():
    singular = torch.tensor([[[1.0, 2], [2, 4]], [[1.0, 0], [0, 1]]])
    assert L.inv_ex(singular).info.tolist() == [2, 0]
    assert L.solve_ex(singular, torch.ones(2, 2, 1)).info.tolist() == [2, 0]
    assert L.lu_factor_ex(singular).info.tolist() == [2, 0]
    assert L.cholesky_ex(-singular).info.tolist() == [1, 1]
    with pytest.raises(L.LinAlgError, match="Batch element 0"):
        L.inv_ex(singular, check_errors=True)
    with pytest.raises(L.LinAlgError, match="not positive-definite"):
        L.cholesky_ex(-singular, check_errors=True)
    for f in (L.svd, L.eigh):
        with pytest.raises(L.LinAlgError, match="failed to converge"):
            f(torch.full((3, 3), float("nan")))


def test_pivots_are_checked():
    with pytest.raises(RuntimeError, match="pivots passed to lu_unpack"):
        torch.lu_unpack(torch.eye(2), torch.tensor([1, 9], dtype=torch.int32))
    for pivots in ([1, 2, 1], 1):
        more = torch.tensor(pivots, dtype=torch.int32)
        with pytest.raises(RuntimeError, match="as many elements as LU has"):
            torch.lu_unpack(torch.eye(2), more)
    wrong = torch.tensor([-1, 9], dtype=torch.int32)
    with pytest.raises(RuntimeError, match="not those of ldl_factor"):
        L.ldl_solve(torch.eye(2), wrong, torch.ones(2, 1))


def some_of_all(x, s):
    """A number from each factorisation that is unique."""
    U, S, Vh = L.svd(x)
    return [
        U @ Vh,
        S,
        L.eigh(s)[1].abs(),
        L.eigvalsh(s),
        L.lu(x)[1],
        L.pinv(x),
        torch.matrix_exp(s * 0.1),
        L.eigvals(x).abs().sum(),
        L.ldl_solve(*L.ldl_factor(s), x),
        L.matrix_norm(x, 2),
        L.cond(x),
        L.lu_solve(*L.lu_factor(x), s),
        L.lstsq(x, s).solution,
        L.householder_product(*torch.geqrf(x)),
        L.solve_ex(x, s)[0],
    ]


def test_queued_and_graphed_equal_eager():
    x = numbers((2, 6, 6), torch.float64)
    s = x @ x.mT
    eager = some_of_all(x, s)
    stream = torch.cpu.Stream()
    with stream:
        queued = some_of_all(x, s)
    stream.synchronize()
    graph = torch.graphs.Graph()
    with torch.graphs.graph(graph):
        found = some_of_all(x, s)
    graph.replay()
    for a, b, c in zip(eager, queued, found, strict=True):
        assert torch.equal(a, b)
        assert torch.equal(a, c)


def test_singular_input_fails_when_it_is_waited_for():
    stream = torch.cpu.Stream()
    with stream:
        L.inv(torch.zeros(2, 2))
    with pytest.raises(L.LinAlgError, match="singular"):
        stream.synchronize()


def test_low_rank():
    torch.manual_seed(3)
    a = torch.randn(30, 4).double() @ torch.randn(4, 20).double()
    U, S, V = torch.svd_lowrank(a, q=4)
    near(U * S @ V.mT, a, 50)
    U, S, V = torch.pca_lowrank(a, q=4)
    near(U * S @ V.mT, a - a.mean(0, keepdim=True), 50)
    with pytest.raises(ValueError, match="not greater than"):
        torch.pca_lowrank(a, q=21)


def test_chain_costs_least():
    """Products of a thin matrix in the middle are made first."""
    parts = [torch.randn(n, m) for n, m in ((2, 9), (9, 1), (1, 9), (9, 3))]
    wanted = (parts[0] @ parts[1]) @ (parts[2] @ parts[3])
    assert torch.equal(L.multi_dot(parts), wanted)
    assert torch.equal(torch.chain_matmul(*parts), wanted)


def test_symmetric_indefinite_nan_stays_within_the_matrix():
    """Pivots and info are LAPACK's; one NaN was taken for a block of two."""
    nan = float("nan")
    for a, pivots, info in (
        ([[nan]], [1], 1),
        ([[2.0, 0.0], [0.0, nan]], [1, 2], 2),
        ([[nan, 1.0], [1.0, 2.0]], [2, 2], 2),
    ):
        got = L.ldl_factor_ex(torch.tensor(a))
        assert got.pivots.tolist() == pivots
        assert got.info.item() == info


@pytest.mark.parametrize("upper", [False, True])
def test_inverse_by_a_singular_factor(upper):
    factor = torch.eye(3).repeat(2, 1, 1)
    factor[1, 1, 1] = 0
    text = (
        r"cholesky_inverse: \(Batch element 1\): The diagonal element 2 is "
        "zero, the inversion could not be completed because the input matrix "
        "is singular."
    )
    with pytest.raises(torch.linalg.LinAlgError, match=text):
        torch.cholesky_inverse(factor, upper=upper)
    # A solution is none that has to exist.
    ones = torch.ones(2, 3, 1)
    assert not torch.cholesky_solve(ones, factor).isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES[:2])
def test_singular_matrices_of_small_integers_are_found(dtype):
    """With products that are not rounded before they are added, a third of
    them has a pivot of some 1e-7 in place of zero, and an inverse of 1e7.
    """
    columns = torch.arange(-7, 8, dtype=dtype)
    columns = columns[columns != 0].unfold(0, 4, 1)
    outer = columns[:, None, :, None] * columns[None, :, None, :]
    assert (L.inv_ex(outer).info > 0).all()
    assert (L.lu_factor_ex(outer.mT).info > 0).all()
    rows = torch.cartesian_prod(*[torch.arange(-3, 4, dtype=dtype)] * 3)
    pair = torch.stack([rows[:-1], rows[1:]], 1)
    dependent = torch.cat([pair, pair.sum(1, keepdim=True)], 1)
    for matrices in (dependent, dependent.mT):
        found = (L.inv_ex(matrices).info > 0).double().mean()
        assert found > 0.7
    grid = torch.arange(1, 10, dtype=torch.float32).reshape(3, 3)
    assert L.det(grid) == 0


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_a_factor_is_one_triangle(dtype, upper):
    """Elements of the other one have no part in the derivatives."""
    torch.manual_seed(0)
    factor = torch.randn(2, 3, 3, dtype=dtype) + 3 * torch.eye(3)
    factor.requires_grad_()
    b = torch.randn(3, 2, dtype=dtype, requires_grad=True)

    def inverse(a):
        return torch.cholesky_inverse(a, upper)

    def solution(a, b):
        return torch.cholesky_solve(b, a, upper)

    for f, inputs in ((inverse, (factor,)), (solution, (factor, b))):
        assert torch.autograd.gradcheck(f, inputs, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(f, inputs)
        grad = torch.autograd.grad(f(*inputs).abs().sum(), factor)[0]
        other = grad.tril(-1) if upper else grad.triu(1)
        assert not other.any()
