"""`torch.lobpcg` beside `torch.linalg.eigh`."""

from __future__ import annotations

import pytest

import hotaru as torch


def _matrix(n: int = 60, *batch: int):
    torch.manual_seed(2)
    m = torch.randn(*batch, n, n, dtype=torch.float64)
    return m @ m.mT + torch.eye(n, dtype=torch.float64)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("k", "n"), [(1, None), (4, None), (2, 6)])
def test_pairs_of_a_matrix(largest, k, n):
    a = _matrix()
    values, vectors = torch.lobpcg(a, k, n=n, largest=largest, tol=1e-10)
    wanted = torch.linalg.eigvalsh(a)
    wanted = wanted.flip(0) if largest else wanted
    torch.testing.assert_close(values, wanted[:k])
    assert vectors.shape == (60, k)
    torch.testing.assert_close(a @ vectors, vectors * values, atol=1e-6, rtol=0)
    unit = torch.eye(k, dtype=torch.float64)
    torch.testing.assert_close(vectors.mT @ vectors, unit)


def test_two_matrices():
    a, b = _matrix(30), torch.diag(torch.linspace(1, 2, 30).double())
    values, x = torch.lobpcg(a, 2, b, method="basic", tol=1e-10)
    root = b.diagonal().rsqrt()
    wanted = torch.linalg.eigvalsh(root[:, None] * a * root).flip(0)[:2]
    torch.testing.assert_close(values, wanted)
    torch.testing.assert_close(a @ x, b @ x * values, atol=1e-6, rtol=0)
    unit = torch.eye(2, dtype=torch.float64)
    torch.testing.assert_close(x.mT @ b @ x, unit)


def test_batches_and_sparse_matrices():
    a = _matrix(12, 2, 3)
    values, vectors = torch.lobpcg(a, 2, tol=1e-10)
    wanted = torch.linalg.eigvalsh(a).flip(-1)[..., :2]
    torch.testing.assert_close(values, wanted)
    assert vectors.shape == (2, 3, 12, 2)
    chain = torch.diag(torch.arange(1.0, 21))
    chain[0, 1] = chain[1, 0] = 0.5
    for kept in (chain.to_sparse(), chain.to_sparse_csr()):
        found = torch.lobpcg(kept, 2, largest=False, tol=1e-6)[0]
        # PyTorch 2.13's.
        assert found.tolist() == pytest.approx([0.792893, 2.207107], abs=1e-5)


def test_a_preconditioner_saves_steps():
    a = _matrix()
    wanted = torch.linalg.eigvalsh(a)[:3]
    torch.manual_seed(0)
    start = torch.randn(60, 3, dtype=torch.float64)
    errors = [
        (torch.lobpcg(a, X=start, iK=inverse, niter=5, largest=False)[0] - wanted)
        .abs()
        .max()
        for inverse in (torch.linalg.inv(a), None)
    ]
    assert errors[0] < errors[1] / 10


def test_dependent_approximations_to_begin_with():
    a = _matrix(20)
    start = torch.ones(20, 3, dtype=torch.float64)
    values, _ = torch.lobpcg(a, X=start, tol=1e-10)
    wanted = torch.linalg.eigvalsh(a).flip(0)[:3]
    torch.testing.assert_close(values, wanted)


def test_gradients_are_those_of_all_pairs():
    weights = torch.arange(30.0, dtype=torch.float64)
    found = []
    for few in (True, False):
        a = _matrix(30).requires_grad_()
        if few:
            values, vectors = torch.lobpcg(a, 2, tol=1e-13)
        else:
            values, vectors = torch.linalg.eigh(a)
            values, vectors = values.flip(-1)[:2], vectors.flip(-1)[:, :2]
        part = values[0] + 2 * values[1] + (vectors.abs().mT @ weights).sum()
        part.backward()
        found.append((a.grad + a.grad.mT) / 2)
    torch.testing.assert_close(*found, rtol=1e-6, atol=1e-6)


def test_what_is_refused():
    a = _matrix(20)
    with pytest.raises(AssertionError, match="A must be square"):
        torch.lobpcg(a[:5])
    with pytest.raises(ValueError, match=r"\(=20\) is smaller than 3 x"):
        torch.lobpcg(a, 7)
    with pytest.raises(AssertionError, match="X shape mismatch"):
        torch.lobpcg(a, X=torch.ones(19, 1).double())
    with pytest.raises(NotImplementedError, match="set niter and tol"):
        torch.lobpcg(a, ortho_iparams={"i_max": 3})
    with pytest.raises(NotImplementedError, match=r"torch\.linalg\.eigh"):
        torch.lobpcg(a.requires_grad_(), B=torch.eye(20).double())


def test_what_a_tracker_is_told():
    a = torch.diag(torch.arange(1.0, 31, dtype=torch.float64))
    told = []

    def track(worker):
        residual = a @ worker.X - worker.X * worker.E
        torch.testing.assert_close(worker.R, residual)
        told.append((worker.ivars["istep"], worker.ivars["converged_count"]))
        good = worker.tvars["rerr"] < worker.fparams["tol"]
        assert told[-1][1] == int(good.long().cumprod(0).sum())

    torch.lobpcg(a, k=2, n=3, tracker=track, tol=1e-5)
    assert [step for step, _ in told] == list(range(1, len(told) + 1))
    assert all(count < 2 for _, count in told[:-1])
    assert told[-1][1] >= 2


def test_products_that_lobpcg_is_checked_with():
    from hotaru import _linalg_utils as utils

    a, x = _matrix(4), torch.ones(4, 2, dtype=torch.float64)
    torch.testing.assert_close(utils.qform(a, x), x.mT @ a @ x)
    assert utils.qform(None, x).tolist() == [[4, 4], [4, 4]]
    values, vectors = utils.symeig(a, largest=True)
    assert values[0] > values[-1]
    torch.testing.assert_close(a @ vectors, vectors * values)
    assert torch._lobpcg.lobpcg is torch.lobpcg
