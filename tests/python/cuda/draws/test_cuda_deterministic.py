"""`use_deterministic_algorithms` on CUDA: sums in one order, the CPU's.

Numbers are chosen so that another order gives other bits, and the GPU in
software runs blocks and threads in a random one.
"""

from __future__ import annotations

import warnings
from functools import partial

import pytest
from hotaru.nn import functional as F

import hotaru as torch

DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.complex128,
]
REAL = DTYPES[:4]
WORDS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def mixed(*shape, dtype=torch.float32):
    """Draws numbers of sizes so different that sums depend on their order."""
    torch.manual_seed(sum(shape))
    if dtype.is_complex:
        part = torch.empty(0, dtype=dtype).real.dtype
        return torch.complex(
            mixed(*shape, dtype=part), mixed(*shape, 1, dtype=part)[..., 0]
        )
    top = 1e4 if dtype == torch.float16 else 1e8
    sizes = torch.tensor([top, 1, -top, 1e-3])
    return (torch.randn(shape) * sizes[torch.randint(0, 4, shape)]).to(dtype)


def indices(*shape, below=7, dtype=torch.int64):
    torch.manual_seed(below)
    return torch.randint(0, below, shape).to(dtype)


def bits(x):
    x = x.detach().cpu().contiguous()
    if x.is_complex():
        x = torch.view_as_real(x)
    return x.view(WORDS[x.element_size()]) if x.is_floating_point() else x


def moved(x):
    """To CUDA, with the strides that it has."""
    if not isinstance(x, torch.Tensor):
        return x
    whole = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
    return whole.cuda().as_strided(x.shape, x.stride(), x.storage_offset())


def assert_same(f, *given):
    """Results, one or several, have the bits that the CPU gives."""
    there = [moved(x) for x in given]
    want, got = f(*given), f(*there)
    if isinstance(want, torch.Tensor):
        want, got = [want], [got]
    assert len(want) == len(got) > 0
    for x, y in zip(want, got):
        assert y.device.type == "cuda"
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        assert bits(x).equal(bits(y))


def assert_same_gradients(f, *given):
    """Asserts the same gradients for all floating tensors of these."""

    def gradients(*given):
        leaves = []
        for x in given:
            if x.is_floating_point() or x.is_complex():
                leaves.append(x.detach().requires_grad_())
        queue = iter(leaves)
        out = f(
            *(
                next(queue) if x.is_floating_point() or x.is_complex() else x
                for x in given
            )
        )
        grad = mixed(*out.shape, dtype=out.dtype).to(out.device)
        return torch.autograd.grad(out, leaves, grad)

    assert_same(gradients, *given)


# --- the numbers -------------------------------------------------------------


def test_the_numbers_tell_orders_apart():
    """Else these tests would find nothing; 16-bit sums, which are made in
    floats and rounded once, hide their order.
    """
    for dtype in set(DTYPES) - {torch.float16, torch.bfloat16}:
        x, at = mixed(3000, dtype=dtype), indices(3000)
        zero = torch.zeros(7, dtype=dtype)
        there = zero.index_add(0, at, x)
        back = zero.index_add(0, at.flip(0), x.flip(0))
        assert not bits(there).equal(bits(back))


def test_seeds_of_the_scheduler_change_nothing(run, cuda):
    program = """
import hotaru as torch
torch.use_deterministic_algorithms(True)
torch.manual_seed(0)
x = torch.randn(4000) * torch.tensor([1e8, 1, -1e8, 1e-3]).repeat(1000)
at = torch.randint(0, 5, (4000,))
y = torch.zeros(5, device="cuda").index_add(0, at.cuda(), x.cuda())
z = torch.zeros(5, device="cuda").scatter(0, at.cuda(), x.cuda())
print(y.view(torch.int32).tolist(), z.view(torch.int32).tolist())
"""
    results = {run(program, HOTARU_SOFT_GPU_SEED=str(n)) for n in range(4)}
    assert len(results) == 1


# --- writing at indices ------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index_dtype", [torch.int64, torch.int32])
def test_index_add(deterministic, dtype, index_dtype):
    at = indices(300, dtype=index_dtype)
    line, table = mixed(3000, dtype=dtype), mixed(300, 20, dtype=dtype)
    many = indices(3000, dtype=index_dtype)
    assert_same(lambda x, i, y: x.index_add(0, i, y), mixed(7, dtype=dtype), many, line)
    assert_same(
        lambda x, i, y: x.index_add(0, i, y, alpha=2),
        mixed(7, 20, dtype=dtype),
        at,
        table,
    )
    assert_same(
        lambda x, i, y: x.index_add(1, i, y), mixed(20, 7, dtype=dtype), at, table.t()
    )
    # In place, in a view with gaps, from one that is turned around.
    wide = mixed(14, 40, dtype=dtype)

    def into_view(x, i, y):
        x[::2, 1::2].index_add_(0, i, y)
        return x

    assert_same(into_view, wide, at, mixed(20, 300, dtype=dtype).t())
    assert_same(into_view, wide, at[:1].expand(300), table)
    assert_same(into_view, wide, at, table[:1].expand(300, 20))
    # A scalar, and sums of nothing.
    assert_same(lambda x, i, y: x.index_add(0, i, y), line[0], at[:1] * 0, line[1])
    assert_same(lambda x, i, y: x.index_add(0, i, y), table[:7], at[:0], table[:0])


def written(name, x, at, y, dim=0, **options):
    return getattr(x, name)(dim, at, y, **options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter(deterministic, dtype):
    at = indices(40, 30, below=20)
    x, y = mixed(20, 30, dtype=dtype), mixed(40, 30, dtype=dtype)
    for name in ("scatter_add", "scatter"):
        f = partial(written, name)
        assert_same(f, x, at, y)
        assert_same(partial(f, dim=1), x.t(), at.t(), y.t())
        # Tensors larger than the index, and an index that was expanded.
        assert_same(f, x, at[:33, :11], y)
        expanded = at[:, :1].expand(40, 30)
        assert_same(f, x, expanded, y)
        row = at[:1].expand(40, 30)  # all of a column to one place
        assert_same(f, x, row, y)
        assert_same(f, x[:, 0], at[:, 0], y[:, 0])
    assert_same(lambda x, i, y: x.scatter(0, i, y, reduce="add"), x, at, y)
    small = torch.randn(40, 30).to(dtype)
    assert_same(lambda x, i, y: x.scatter(0, i, y, reduce="multiply"), x, at, small)
    assert_same(lambda x, i: x.scatter(0, i, 3.0), x, at)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_scatter_reduce(deterministic, dtype, reduce):
    at, few = indices(40, 30, below=20), indices(40, below=20)
    x, y = mixed(20, 30, dtype=dtype), mixed(40, 30, dtype=dtype)
    if reduce == "prod":
        x, y = torch.randn(20, 30).to(dtype), torch.randn(40, 30).to(dtype)
    y[3:9] = 0.0
    y[9:12] = -0.0  # of zeros the first one counts
    for own in (True, False):
        how = {"reduce": reduce, "include_self": own}
        assert_same(partial(written, "scatter_reduce", **how), x, at, y)
        if reduce != "sum":
            assert_same(partial(written, "index_reduce", **how), x, few, y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("accumulate", [True, False])
def test_index_put(deterministic, dtype, accumulate):
    x = mixed(9, 10, 11, dtype=dtype)
    i, j = indices(50, below=9) - 4, indices(50, below=10) - 10  # negative, too

    def put(*at):
        return lambda x, y, *given: x.index_put(
            tuple(None if k is None else given[k] for k in at), y, accumulate=accumulate
        )

    assert_same(put(0), x, mixed(50, 10, 11, dtype=dtype), i)
    assert_same(put(0, 1), x, mixed(50, 11, dtype=dtype), i, j)
    assert_same(put(None, 0), x, mixed(9, 50, 11, dtype=dtype), j)
    assert_same(put(None, 0), x, mixed(11, dtype=dtype), j)
    assert_same(put(0, None, 1), x, mixed(50, 10, dtype=dtype), i, j)
    assert_same(put(0, 1), x, mixed(50, 25, 11, dtype=dtype), i[:, None], j[::2])
    assert_same(put(0, 1), x.permute(1, 2, 0), mixed(50, 9, dtype=dtype), i, j)
    assert_same(put(0), x, mixed(0, 10, 11, dtype=dtype), i[:0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_put_and_index_copy(deterministic, dtype):
    x, y = mixed(20, 30, dtype=dtype), mixed(300, dtype=dtype)
    at = indices(300, below=600) // 20 - 15
    assert_same(lambda x, i, y: x.put(i, y, accumulate=True), x, at, y)
    rows = indices(50, below=20)
    assert_same(
        lambda x, i, y: x.index_copy(0, i, y), x, rows, mixed(50, 30, dtype=dtype)
    )
    assert_same(lambda x, i: x.index_fill(1, i, 3), x, rows)


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool]
)
def test_whole_numbers(deterministic, dtype):
    """They need no order to be added; of those written the last one wins."""
    x, at = (indices(40, 30, below=200) - 90).to(dtype), indices(40, 30)
    assert_same(lambda x, i: x.scatter_add(0, i, x), x, at)
    assert_same(lambda x, i: x.scatter(0, i, x), x, at)
    assert_same(lambda x, i: x.index_copy(0, i[0], x[:30]), x, at)


def test_more_than_a_tile_is_merged(deterministic):
    """Runs that lie in several tiles of the sort."""
    x, at = mixed(9001), indices(9001, below=3)
    assert_same(lambda i, x: x.new_zeros(3).index_add(0, i, x), at, x)
    at = indices(9001, below=5000)
    assert_same(lambda i, x: x.new_zeros(5000).index_add(0, i, x), at, x)


# --- gradients ---------------------------------------------------------------

GRADIENTS = {
    "gather": lambda x, i: x.gather(0, i),
    "take_along_dim": lambda x, i: torch.take_along_dim(x, i, 0),
    "index_select": lambda x, i: x.index_select(1, i[0]),
    "take": lambda x, i: x.take(i * 3),
    "index": lambda x, i: x[i[0], i[1]],
    "rows": lambda x, i: x[i],
    "slice and index": lambda x, i: x[:, i[0]],
    "repeat_interleave": lambda x, i: x.repeat_interleave(i[:20, 0] + 1, 0),
    "embedding": lambda x, i: F.embedding(i, x),
    "embedding, a row left out": lambda x, i: F.embedding(i, x, padding_idx=2),
    "embedding by frequency": lambda x, i: F.embedding(i, x, scale_grad_by_freq=True),
    "unfold": lambda x, i: x.unfold(1, 7, 2),
    "as_strided": lambda x, i: x.as_strided((20, 10, 5), (30, 2, 1)),
    "expand": lambda x, i: x.as_strided((50, 20), (0, 30)),
    "reflect": lambda x, i: F.pad(x[None], (9, 7, 5, 6), mode="reflect"),
    "replicate": lambda x, i: F.pad(x[None], (9, 7, 5, 6), mode="replicate"),
    "circular": lambda x, i: F.pad(x[None], (9, 7, 5, 6), mode="circular"),
    "sort": lambda x, i: x.sort(0)[0],
    "median": lambda x, i: x.median(1)[0],
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("dtype", REAL)
def test_gradients(deterministic, name, dtype):
    x, at = mixed(20, 30, dtype=dtype), indices(40, 30, below=20)
    assert_same_gradients(GRADIENTS[name], x, at)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_of_embedding_bag(deterministic, mode, weighted):
    if weighted and mode != "sum":
        pytest.skip("weights are of sums")
    at, offsets = indices(300, below=11), torch.arange(0, 300, 13)
    # Factors and means of whole powers of two: products are exact.
    factors = 2.0 ** indices(300, below=5) if weighted else None
    f = lambda x, i, o: F.embedding_bag(  # noqa: E731
        i,
        x,
        o,
        mode=mode,
        per_sample_weights=None if factors is None else factors.to(x.device),
    )
    assert_same_gradients(f, mixed(11, 16), at, offsets)


@pytest.mark.parametrize("dims", [2, 3])
def test_gradient_of_fractional_pooling(deterministic, dims):
    """Windows overlap, so one maximum gets several gradients."""
    x = mixed(2, 3, *[12] * dims)
    samples = torch.rand(2, 3, dims)
    pool = F.fractional_max_pool2d if dims == 2 else F.fractional_max_pool3d
    for dtype in (torch.float32, torch.bfloat16):
        assert_same_gradients(
            lambda x: pool(x, 4, 8, _random_samples=samples.to(x)), x.to(dtype)
        )


def test_weighed_histograms(deterministic):
    x, y = torch.randn(5000, 1), mixed(5000)
    for dtype in (torch.float32, torch.float64):
        a, b = x.to(dtype), y.to(dtype)
        assert_same(
            lambda a, b: torch.histogramdd(a, [6], range=[-2.0, 2.0], weight=b).hist,
            a,
            b,
        )
        edges = torch.tensor([-1.0, 0, 0.5, 3], dtype=dtype)
        assert_same(
            lambda a, b, e: torch.histogram(a[:, 0], e, weight=b).hist, a, b, edges
        )
    assert_same(lambda i, b: torch.bincount(i, b), indices(5000), y)


def test_what_pytorch_refuses_on_a_gpu_and_has_an_order_here(deterministic):
    """None of these adds by atomics; twice the same."""
    x = mixed(2, 3, 8, 9)
    volume = mixed(2, 3, 6, 7, 8)
    calls = [
        lambda x: x.cumsum(3),
        lambda x: F.interpolate(x, (5, 17), mode="bilinear"),
        lambda x: F.interpolate(x, (5, 17), mode="bicubic"),
        lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
        lambda x: F.adaptive_max_pool2d(x, (3, 4)),
        lambda x: F.max_pool2d(x, 3, 1),
    ]
    deep = [
        lambda x: F.interpolate(x, (5, 3, 17), mode="trilinear"),
        lambda x: F.avg_pool3d(x, 3, 1),
        lambda x: F.adaptive_avg_pool3d(x, (3, 4, 5)),
        lambda x: F.max_pool3d(x, 3, 1),
    ]
    for given, fs in ((x, calls), (volume, deep)):
        for f in fs:
            results = []
            for _ in range(2):
                leaf = given.cuda().requires_grad_()
                out = f(leaf)
                grad = mixed(*out.shape).cuda()
                results.append((out, *torch.autograd.grad(out, leaf, grad)))
            for a, b in zip(*results):
                assert bits(a).equal(bits(b))
    target = indices(2, 8, 9, below=3)
    score = F.log_softmax(torch.randn(2, 3, 8, 9), 1).cuda()
    a, b = (F.nll_loss(score, target.cuda()) for _ in range(2))
    assert bits(a).equal(bits(b))
    values, at = x.cuda().median(3)
    assert bits(values).equal(bits(x.median(3)[0]))
    assert at.cpu().equal(x.median(3)[1])
    assert torch.histc(x.cuda(), 5, -2, 2).cpu().equal(torch.histc(x, 5, -2, 2))


# --- indices out of range ----------------------------------------------------

LOST = {
    "index_add": (
        lambda x, at: x.index_add(0, at[0], x),
        RuntimeError,
        "index 9 is out of bounds for dimension 0 with size 2",
    ),
    "scatter_add": (
        lambda x, at: x.scatter_add(0, at, x),
        RuntimeError,
        "index 9 is out of bounds for dimension 0 with size 2",
    ),
    "index_put": (
        lambda x, at: x.index_put((at[0],), x, accumulate=True),
        IndexError,
        "index 9 is out of bounds for dimension 0 with size 2",
    ),
    "two indices": (
        lambda x, at: x.index_put((at[0] * 0, at[0]), x[0], accumulate=True),
        IndexError,
        "index 9 is out of bounds for dimension 1 with size 2",
    ),
    "put": (
        lambda x, at: x.put(at, x, accumulate=True),
        IndexError,
        "tried to access index 9 on a tensor of 4 elements",
    ),
    "index_copy": (
        lambda x, at: x.index_copy(0, at[0], x),
        IndexError,
        r"index_copy_\(\): index 9 is out of bounds",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_indices_out_of_range(deterministic, name, cuda):
    f, error, text = LOST[name]
    x = torch.ones(2, 2).cuda()
    f(x, torch.tensor([[1, 9], [0, 1]]).cuda())
    with pytest.raises(error, match=text):
        torch.cuda.synchronize()
    assert x.cpu().tolist() == [[1, 1], [1, 1]]  # the device works on


def test_a_lost_index_writes_nothing(deterministic):
    x = torch.zeros(3).cuda()
    at = torch.tensor([2, 5, 2, -4]).cuda()
    x.index_put_((at,), torch.tensor([1.0, 2, 4, 8]).cuda(), accumulate=True)
    with pytest.raises(IndexError, match=r"index (5|-4) is out of bounds"):
        torch.cuda.synchronize()
    assert x.tolist() == [0, 0, 5]


def test_warn_only_has_the_order_too(deterministic):
    torch.use_deterministic_algorithms(True, warn_only=True)
    x, at = mixed(3000), indices(3000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(lambda x, i: x.new_zeros(7).index_add(0, i, x), x, at)
