"""Sums of many 16-bit numbers, forward and backward: each is made in floats
and rounded once. In the numbers' own type 5,000 ones give 2,048 and 256.
"""

from __future__ import annotations

import hotaru.nn.functional as F
import pytest

import hotaru as torch

N = 5000
HALVES = [torch.float16, torch.bfloat16]
ZEROS = torch.zeros(N, dtype=torch.long)


def gradient(f, *sizes):
    """The gradient of sum(f(ones)), as a function of the dtype."""

    def of(dtype):
        x = torch.ones(*sizes, dtype=dtype, requires_grad=True)
        f(x).sum().backward()
        return x.grad

    return of


def grid(dims, **options):
    def sample(x):
        shape = (1, 50, 100, dims) if dims == 2 else (1, 50, 100, 1, dims)
        points = torch.zeros(shape, dtype=x.dtype)
        options.setdefault("align_corners", False)
        return F.grid_sample(x, points, **options)

    return sample


def written(f, *sizes):
    """Applies f to zeros and ones, as a function of the dtype."""
    return lambda dtype: f(
        torch.zeros(*(1, *sizes), dtype=dtype), torch.ones(*(N, *sizes), dtype=dtype)
    )


def peak(window, *sizes):
    """One element that is the largest of all windows."""

    def of(dtype):
        x = torch.zeros(sizes, dtype=dtype)
        x[..., sizes[-1] // 2] = 1
        x.requires_grad_()
        F.max_pool1d(x, window, 1).sum().backward()
        return x.grad.max()

    return of


BACKWARD = {
    "gather": gradient(lambda x: x.gather(0, ZEROS), 1),
    "index_select": gradient(lambda x: x.index_select(0, ZEROS), 1, 2),
    "index": gradient(lambda x: x[ZEROS], 1, 2),
    "indices": gradient(lambda x: x[ZEROS, ZEROS], 1, 1),
    "take": gradient(lambda x: x.take(ZEROS), 1),
    "take_along_dim": gradient(lambda x: torch.take_along_dim(x, ZEROS, 0), 1),
    "expand": gradient(lambda x: x.expand(N, 2), 1, 2),
    "repeat": gradient(lambda x: x.repeat(N), 1),
    "repeat_interleave": gradient(lambda x: x.repeat_interleave(N), 1),
    "as_strided": gradient(lambda x: x.as_strided((N,), (0,)), 1),
    "unfold": gradient(lambda x: x.unfold(0, N // 2, 1), N),
    "embedding": gradient(lambda w: F.embedding(ZEROS, w), 1, 3),
    "embedding_bag": gradient(
        lambda w: F.embedding_bag(ZEROS.view(1, -1), w, mode="sum"), 1, 3
    ),
    "scale_grad_by_freq": gradient(
        lambda w: F.embedding(ZEROS, w, scale_grad_by_freq=True), 1, 3
    ),
    "sparse embedding": lambda dtype: gradient(
        lambda w: F.embedding(ZEROS, w, sparse=True), 1, 3
    )(dtype).to_dense(),
    "cummax": lambda dtype: gradient(
        lambda x: (x * torch.eye(1, N, dtype=dtype)[0]).cummax(0)[0], N
    )(dtype)[0],
    "max_pool": peak(2500, 1, 1, N),
    "adaptive_max_pool": gradient(lambda x: F.adaptive_max_pool1d(x, N), 1, 1, 1),
    "replicating pad": gradient(
        lambda x: F.pad(x, (N - 1, 0), mode="replicate"), 1, 1, 1
    ),
    "unfold2d": gradient(lambda x: F.unfold(x, (1, N // 2)), 1, 1, 1, N),
    "nearest": gradient(lambda x: F.interpolate(x, N), 1, 1, 1),
    "linear": gradient(lambda x: F.interpolate(x, N, mode="linear"), 1, 1, 1),
    "grid": gradient(grid(2), 1, 1, 1, 1),
    "grid of volumes": gradient(grid(3), 1, 1, 1, 1, 1),
    "nearest grid": gradient(grid(2, mode="nearest"), 1, 1, 1, 1),
    "cubic grid": gradient(grid(2, mode="bicubic", padding_mode="border"), 1, 1, 1, 1),
    "bias": lambda dtype: gradient(
        lambda b: F.linear(
            torch.ones(N, 2, dtype=dtype), torch.ones(3, 2, dtype=dtype), b
        ),
        3,
    )(dtype),
}

FORWARD = {
    "scatter_add": written(lambda y, x: y.scatter_add(0, ZEROS, x)),
    "scatter_add of columns": written(
        lambda y, x: y.scatter_add(0, ZEROS[:, None].expand(N, 2), x), 2
    ),
    "scatter_add along rows": lambda dtype: torch.zeros(2, 1, dtype=dtype).scatter_add(
        1, ZEROS.expand(2, N), torch.ones(2, N, dtype=dtype)
    ),
    "scatter_reduce": written(lambda y, x: y.scatter_reduce(0, ZEROS, x, "sum")),
    "scatter with add": written(lambda y, x: y.scatter(0, ZEROS, x, reduce="add")),
    "scatter of a number": written(lambda y, x: y.scatter(0, ZEROS, 1.0, reduce="add")),
    "mean": written(
        lambda y, x: y.scatter_reduce(0, ZEROS, x * 3, "mean", include_self=False)
    ),
    "product": written(
        lambda y, x: (y + 1).scatter_reduce(0, ZEROS[:200], x[:200] * 1.015625, "prod")
    ),
    "index_add": written(lambda y, x: y.index_add(0, ZEROS, x)),
    "index_add of rows": written(lambda y, x: y.index_add(0, ZEROS, x), 2),
    "index_reduce": written(
        lambda y, x: y.index_reduce(0, ZEROS, x * 3, "mean", include_self=False)
    ),
    "index_put": written(lambda y, x: y.index_put((ZEROS,), x, accumulate=True)),
    "index_put of rows": written(
        lambda y, x: y.index_put((ZEROS,), x, accumulate=True), 3
    ),
    "put": written(lambda y, x: y.put(ZEROS, x, accumulate=True)),
    "fold": lambda dtype: F.fold(
        torch.ones(1, N // 2, N // 2 + 1, dtype=dtype), (1, N), (1, N // 2)
    ),
    "to_dense": written(
        lambda y, x: torch.sparse_coo_tensor(ZEROS[None], x, (1,)).to_dense()
    ),
    "coalesce": written(
        lambda y, x: torch.sparse_coo_tensor(ZEROS[None], x, (1,)).coalesce().values()
    ),
    "dense and sparse": written(
        lambda y, x: y + torch.sparse_coo_tensor(ZEROS[None], x, (1,))
    ),
    "histc": written(lambda y, x: x.histc(1)),
    "cumsum": written(lambda y, x: x.cumsum(0)[-1]),
    "logcumsumexp": written(lambda y, x: (x - x).logcumsumexp(0)[-1]),
}
CASES = {**BACKWARD, **FORWARD}


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_sums_are_rounded_once(name, dtype):
    got, exact = CASES[name](dtype), CASES[name](torch.float64)
    assert got.dtype == dtype
    # Coefficients may be of 16 bits, and so be what is added.
    torch.testing.assert_close(
        got.double(), exact, rtol=2.0 * torch.finfo(dtype).eps, atol=0
    )


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_few_of_many_rows(dtype):
    """Few writes into a large target leave all else as it is."""
    table = torch.arange(40_000).remainder(97).to(dtype).view(20_000, 2)
    index = torch.tensor([7, 19_999, 7])
    got = table.index_add(0, index, torch.ones(3, 2, dtype=dtype))
    want = table.clone()
    want[7] += 2
    want[19_999] += 1
    assert torch.equal(got, want)
    gaps = torch.zeros(6, 4, dtype=dtype)
    gaps[:, ::2].index_add_(0, index.clamp(max=5), torch.ones(3, 2, dtype=dtype))
    assert gaps.sum(1).tolist() == [0, 0, 0, 0, 0, 6]
    assert gaps[:, 1::2].sum() == 0


@pytest.mark.parametrize("dtype", [*HALVES, torch.float32], ids=str)
def test_an_index_out_of_range_leaves_the_target(dtype):
    target = torch.ones(3, dtype=dtype)
    with pytest.raises(RuntimeError, match="out of bounds"):
        target.scatter_add_(0, torch.tensor([0, 9]), target.clone()[:2])
    assert target.dtype == torch.float32 or target.tolist() == [1, 1, 1]


def test_means_of_small_integers_do_not_wrap():
    index = torch.zeros(300, dtype=torch.long)
    threes = torch.full((300,), 3, dtype=torch.uint8)
    start = torch.zeros(1, dtype=torch.uint8)
    got = start.scatter_reduce(0, index, threes, "mean", include_self=False)
    assert got.tolist() == [3]
