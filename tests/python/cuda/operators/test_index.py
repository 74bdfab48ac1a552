"""Indexing, joining, padding and counting on CUDA, beside the CPU's results.

And what kernels find wrong with indices.
"""

from __future__ import annotations

import itertools

import pytest

# One dtype of each element size, and those that kernels compute with.
SIZES = ("uint8", "int16", "float32", "int64", "complex64", "complex128")
NUMBERS = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "bool",
)


@pytest.fixture
def both(hotaru, cuda):
    """Runs f on the CPU and on CUDA, with the tensors among its arguments.

    The results have to be the same, but for rounding if `close`.
    """

    def moved(value):
        if isinstance(value, hotaru.Tensor):
            # A copy would lose what is odd about the strides.
            extent = value.storage_offset() + (value.numel() > 0)
            if value.numel():
                for size, stride in zip(value.shape, value.stride()):
                    extent += (size - 1) * stride
            whole = value.as_strided((extent,), (1,), 0)
            return whole.to(cuda).as_strided(
                value.shape, value.stride(), value.storage_offset()
            )
        if isinstance(value, (list, tuple)):
            return type(value)(map(moved, value))
        return value

    def run(f, *args, close=False):
        given = moved(args)
        want = f(*args)
        got = f(*given)
        want = want if isinstance(want, (list, tuple)) else [want]
        got = got if isinstance(got, (list, tuple)) else [got]
        assert len(got) == len(want)
        for w, g in zip(want, got):
            assert (g.device, g.dtype) == (cuda, w.dtype)
            assert (g.shape, g.stride()) == (w.shape, w.stride())
            g = g.cpu()
            if close:
                tolerance = 1e-2 if w.dtype.itemsize == 2 else 1e-5
                assert hotaru.allclose(g, w, tolerance, tolerance)
            else:
                assert g.equal(w), (w, g)

    return run


def numbers(t, shape, dtype, step=1):
    """Numbers small enough that sums of a few are exact in every dtype."""
    n = 1
    for size in shape:
        n *= size
    x = (t.arange(n) * 7 * step) % 11
    dtype = getattr(t, dtype)
    return x.reshape(shape).to(dtype)


def layouts(t, dtype):
    """Matrices of 6 x 10 that lie in different ways, and an empty one."""
    yield numbers(t, (6, 10), dtype)
    yield numbers(t, (10, 6), dtype).t()
    yield numbers(t, (13, 21), dtype)[1::2, 1::2]
    yield numbers(t, (6, 1), dtype).expand(6, 10)
    yield numbers(t, (0, 10), dtype)


@pytest.mark.parametrize("dtype", SIZES)
def test_reading(hotaru, both, dtype):
    t = hotaru
    for x in layouts(t, dtype):
        rows = t.tensor([5, 0, 3, 3] if len(x) else [], dtype=t.int64)
        columns = t.tensor([[9, 2, 0]])
        both(lambda x, i: t.index_select(x, 0, i), x, rows)
        both(lambda x, i: t.index_select(x, 1, i), x, columns[0])
        both(lambda x, i: t.index_select(x, 1, i), x, columns[0].int())
        both(lambda x, i: x[i], x, rows)
        both(lambda x, i: x[i], x, -1 - rows)
        both(lambda x, i: x[:, i], x, columns)
        both(lambda x, i: t.gather(x, 1, i), x, columns.expand(len(x), 3))
        if len(x):
            both(lambda x, i, j: x[i, j], x, rows[:3], columns)
            both(lambda x, i, j: x[i, j], x, rows[:, None], columns - 10)
            both(t.take, x, columns - 12)
            both(lambda x, i: t.gather(x, 0, i), x, rows.int()[None].t())
    x = numbers(t, (3, 4, 5, 6), dtype).permute(0, 2, 1, 3)
    i, j = t.tensor([[2], [0]]), t.tensor([3, 1, -1])
    both(lambda x, i, j: x[i, :, j], x, i, j)
    both(lambda x, i, j: x[:, i, j], x, i, j)
    both(lambda x, i, j: x[i, j, j, i], x, i, j)


@pytest.mark.parametrize("dtype", SIZES)
def test_writing(hotaru, both, dtype):
    t = hotaru

    def put(x, i, j, v):
        x = x.clone()
        x[i, j] = v
        return x

    def copy(x, dim, i, v):
        return x.clone().index_copy_(dim, i, v)

    def scatter(x, dim, i, v):
        return x.clone().scatter_(dim, i, v)

    for x in layouts(t, dtype):
        if not len(x):
            continue
        i, j = t.tensor([1, -2, 0]), t.tensor([[4], [0]])
        both(put, x, i, j, numbers(t, (2, 3), dtype, 3))
        both(put, x, i, j, numbers(t, (3,), dtype, 3))
        both(copy, x, 0, i + 2, numbers(t, (3, 10), dtype, 3))
        both(copy, x, 1, i + 2, numbers(t, (3, 6), dtype, 3).t())
        both(lambda x, i: x.clone().index_fill_(1, i, 5), x, i)
        both(scatter, x, 1, (j + i) % 10, numbers(t, (4, 3), dtype, 3))
        both(scatter, x, 0, i[None] % 6, 7)
        both(
            lambda x, i, v: x.put(i, v),
            x,
            t.tensor([59, -60, 7]),
            numbers(t, (3,), dtype, 3),
        )


@pytest.mark.parametrize("dtype", [*NUMBERS, "complex64", "complex128"])
def test_adding(hotaru, both, dtype):
    """Equal indices all count."""
    t = hotaru
    x, v = numbers(t, (6, 5), dtype), numbers(t, (8, 5), dtype, 3)
    i = t.tensor([1, 0, 1, 5, 1, 0, 0, 1])
    both(lambda x, i, v: t.index_add(x, 0, i, v), x, i, v)
    both(lambda x, i, v: t.index_add(x, 1, i, v), x.t(), i.int(), v.t())
    both(lambda x, i, v: t.index_put(x, (i,), v, True), x, i, v)
    both(
        lambda x, i, v: t.index_put(x, (i, i[:5].repeat(2)[:8]), v, True),
        x,
        i % 5,
        v[:, 0],
    )
    both(lambda x, i, v: t.scatter_add(x, 0, i, v), x, i[:, None].expand(8, 5), v)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin", "mean"])
def test_scatter_reduce(hotaru, both, dtype, reduce):
    t = hotaru
    if dtype == "bool" and reduce == "mean":
        pytest.skip("there is no mean of bools")
    x, v = numbers(t, (3, 5), dtype) % 3, numbers(t, (4, 5), dtype, 3) % 3
    i = (numbers(t, (4, 5), "int64", 5) % 3).flip(0)
    for include in (True, False):
        both(
            lambda x, i, v, n=include: t.scatter_reduce(
                x, 0, i, v, reduce, include_self=n
            ),
            x,
            i,
            v,
            close=True,
        )


def test_scatter_extremes_of_nan(hotaru, both):
    t = hotaru
    x = t.tensor([1.0, float("nan"), 3.0])
    v = t.tensor([float("nan"), 2.0, 5.0, -1.0])
    for reduce in ("amax", "amin"):
        both(
            lambda x, i, v, r=reduce: t.isnan(t.scatter_reduce(x, 0, i, v, r)),
            x,
            t.tensor([0, 1, 2, 2]),
            v,
        )


@pytest.mark.parametrize("dtype", [*SIZES, "float16", "float64", "bool"])
def test_masks(hotaru, both, dtype):
    t = hotaru
    for x in layouts(t, dtype):
        mask = numbers(t, x.shape, "int64", 3) % 3 == 1
        if "complex" not in dtype:  # cannot be counted yet
            both(t.nonzero, x)
        both(t.masked_select, x, mask)
        both(t.masked_select, x, mask.t().contiguous().t())
        both(lambda x, m: x[m], x, mask)
        both(
            lambda x, m, v: t.masked_scatter(x, m, v),
            x,
            mask,
            numbers(t, (60,), dtype, 3),
        )
        both(lambda x, m: x[m[:, 2]], x, mask)
    # More than one block, and more than one tile of a block.
    x = numbers(t, (3, 41, 67), dtype)
    if "complex" not in dtype:
        both(t.nonzero, x)
        both(lambda x: t.masked_select(x, x != 0), x)
    both(t.nonzero, t.zeros(5, 5))
    if "float" in dtype:
        both(t.nonzero, x * -1)  # -0.0 is zero


def test_masks_of_many_blocks(hotaru, both):
    t = hotaru
    x = (t.arange(3 * 1024 * 150) * 7919) % 13 - 6
    both(t.nonzero, x)
    both(lambda x: x[x > 2], x)


@pytest.mark.parametrize("dtype", SIZES)
def test_joining(hotaru, both, dtype):
    t = hotaru
    a, b = numbers(t, (2, 3, 4), dtype), numbers(t, (2, 5, 4), dtype)
    both(lambda *x: t.cat(x, 1), a, b, a[:, :0])
    both(lambda *x: t.cat(x, 2), b[..., 1:], b[..., :1], b)
    both(lambda *x: t.cat(x, 0), a.transpose(0, 1), a.transpose(0, 1)[1:])
    both(lambda *x: t.stack(x, -1), *[a] * 3)
    many = [numbers(t, (2, i % 4), dtype) for i in range(150)]
    both(lambda x: t.cat(x, 1), many)
    both(lambda x: t.cat(x, 0), [b[:0], b[:0]])
    for x in layouts(t, dtype):
        both(lambda x: x.flip(0), x)
        both(lambda x: x.flip(0, 1), x)
        both(t.tril, x)
        for upper, diagonal in itertools.product((0, 1), (-7, -2, 0, 3, 12)):
            triangle = t.triu if upper else t.tril
            both(lambda x, f=triangle, d=diagonal: f(x, d), x)
    both(lambda x: t.triu(x.transpose(0, 1), 1), b)
    both(lambda x: x.clone().tril_(-1), b)


@pytest.mark.parametrize("dtype", [*SIZES, "float16"])
def test_padding(hotaru, both, dtype):
    t = hotaru
    pad = t.nn.functional.pad
    x = numbers(t, (2, 3, 4, 5), dtype)
    both(lambda x: pad(x, (1, 2, 0, 3)), x)
    both(lambda x: pad(x, (1, -2, -1, 3, 0, 0, 2, 0), value=3), x)
    both(lambda x: pad(x, (-2, -3)), x)
    both(lambda x: pad(x.transpose(1, 2), (0, 1)), x)
    both(lambda x: pad(x[:0], (1, 1)), x)
    both(lambda x: pad(x[:0], (0, 0) * 3 + (1, 1)), x)
    for mode in ("reflect", "replicate", "circular"):
        both(lambda x, m=mode: pad(x, (3, 1, 2, 3), m), x)
        both(lambda x, m=mode: pad(x[0], (0, 4), m), x)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_gradients_of_padding(hotaru, both, mode, dtype):
    t = hotaru

    def gradient(x):
        x = x.detach().requires_grad_()
        y = t.nn.functional.pad(x, (3, 1, 2, 3), mode)
        y.backward(t.ones_like(y.detach()))
        return x.grad

    both(gradient, numbers(t, (1, 2, 4, 5), dtype))


def test_gradients_of_indexing(hotaru, both):
    t = hotaru

    def gradient(f):
        def run(x, *rest):
            x = x.detach().requires_grad_()
            f(x, *rest).sum().backward()
            return x.grad

        return run

    x = numbers(t, (6, 10), "float32")
    i = t.tensor([1, 1, 0, 1])
    both(gradient(lambda x, i: x[i]), x, i)
    both(gradient(lambda x, i: x[i, i]), x, i)
    both(gradient(lambda x, i: t.gather(x, 0, i[:, None])), x, i)
    both(gradient(lambda x, i: t.index_select(x, 1, i)), x, i)
    both(gradient(lambda x: x[x > 3]), x)
    both(gradient(lambda x: x.as_strided((3, 4), (1, 2))), x)
    both(gradient(lambda x: x[:, 1:3]), x)
    both(gradient(lambda x, i: t.nn.functional.embedding(i, x)), x, i)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_embedding_bag(hotaru, both, mode, dtype):
    t = hotaru
    table = numbers(t, (7, 5), dtype)
    at = t.tensor([0, 6, 6, 2, 1, 3, 0])
    bag = t.nn.functional.embedding_bag
    for offsets, last in (([0, 2, 2, 5], False), ([0, 3, 6], True)):
        starts = t.tensor(offsets)
        both(
            lambda w, i, o, n=last: bag(i, w, o, mode=mode, include_last_offset=n),
            table,
            at,
            starts,
            close=True,
        )
        both(
            lambda w, i, o: bag(i, w, o, mode=mode, padding_idx=6),
            table,
            at,
            starts,
            close=True,
        )
    if mode == "sum":
        both(
            lambda w, i, o, f: bag(i, w, o, mode=mode, per_sample_weights=f),
            table,
            at,
            t.tensor([0, 3]),
            numbers(t, (7,), dtype),
            close=True,
        )


@pytest.mark.parametrize("dtype", NUMBERS[:-1])
def test_counting(hotaru, cuda, dtype):
    t = hotaru
    kind = getattr(t, dtype)
    exact = "float" not in dtype

    def same(f):
        want, got = f("cpu"), f(cuda).cpu()
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if exact:
            assert got.equal(want), (want, got)
        else:
            tolerance = 1e-2 if kind.itemsize == 2 else 1e-6
            assert t.allclose(got, want, tolerance, tolerance)

    for args in ((5,), (1, 100, 3), (0,), (20, 2, -4), (0, 3000, 1)):
        if kind.itemsize == 1 and args[-1] == 1 and len(args) > 1:
            args = (0, 100, 1)
        same(lambda d, a=args: t.arange(*a, dtype=kind, device=d))
    for args in ((0, 10, 11), (3, 50, 1), (3, 50, 0), (100, 0, 5)):
        same(lambda d, a=args: t.linspace(*a, dtype=kind, device=d))
    if not exact:
        same(lambda d: t.arange(0.25, 2, 0.125, dtype=kind, device=d))


def test_indices_on_the_cpu(hotaru, cuda):
    """Beside tensors of a device, as PyTorch takes them."""
    t = hotaru
    x = numbers(t, (6, 10), "float32")
    i, mask = t.tensor([0, 5, -1]), numbers(t, (6, 10), "int64") > 4
    y = x.to(cuda)
    assert y[i].cpu().equal(x[i])
    assert y[:, [1, 3]].cpu().equal(x[:, [1, 3]])
    assert y[i, i.to(cuda)].cpu().equal(x[i, i])
    assert y[mask].cpu().equal(x[mask])
    assert y[mask[:, 0]].cpu().equal(x[mask[:, 0]])
    for at in (i, mask, mask[:, 0]):
        x[at] = 3
        y[at] = 3
        assert y.cpu().equal(x)
    y[i] = t.tensor(7.0)  # a number on the CPU
    x[i] = 7
    assert y.cpu().equal(x)
    z = y.detach().requires_grad_()
    (z[i].sum() * 2 + z[:, i].sum()).backward()
    x = x.requires_grad_()
    (x[i].sum() * 2 + x[:, i].sum()).backward()
    assert z.grad.cpu().equal(x.grad)
    with pytest.raises(RuntimeError, match="indices should be either on cpu"):
        x[i.to(cuda)]


# Calls that fail, the exception and its text, of x (4 x 6).
FAILURES = {
    "gather": (
        lambda t, x, at: t.gather(x, 1, at(9, 0)[None]),
        RuntimeError,
        "index 9 is out of bounds for dimension 1 with size 6",
    ),
    "scatter": (
        lambda t, x, at: t.scatter(x, 0, at(-1, 0)[None], 1.0),
        RuntimeError,
        "index -1 is out of bounds for dimension 0 with size 4",
    ),
    "index": (
        lambda t, x, at: x[at(0, 4)],
        IndexError,
        "index 4 is out of bounds for dimension 0 with size 4",
    ),
    "second index": (
        lambda t, x, at: x[at(0, 3), at(-7, 1)],
        IndexError,
        "index -7 is out of bounds for dimension 1 with size 6",
    ),
    "index_put": (
        lambda t, x, at: t.index_put(x, (at(0, -5),), x[0], True),
        IndexError,
        "index -5 is out of bounds for dimension 0 with size 4",
    ),
    "index_select": (
        lambda t, x, at: t.index_select(x, 1, at(6)),
        IndexError,
        "index out of range in self",
    ),
    "index_copy": (
        lambda t, x, at: t.index_copy(x, 0, at(4), x[:1]),
        IndexError,
        r"index_copy_\(\): index 4 is out of bounds for dimension 0",
    ),
    "take": (
        lambda t, x, at: t.take(x, at(24)),
        IndexError,
        "out of range: tried to access index 24 on a tensor of 24 elements.",
    ),
    "embedding": (
        lambda t, x, at: t.nn.functional.embedding(at(4), x),
        IndexError,
        "index out of range in self",
    ),
    "masked_scatter": (
        lambda t, x, at: t.masked_scatter(x, x > 2, x[0, :2]),
        RuntimeError,
        "Number of elements of source < number of ones in mask",
    ),
    "bag": (
        lambda t, x, at: t.nn.functional.embedding_bag(at(0, 9), x, at(0)),
        RuntimeError,
        r"Index 1 of input takes value 9 which is not in .* range \[0, 4\)",
    ),
    "first offset": (
        lambda t, x, at: t.nn.functional.embedding_bag(at(0, 1), x, at(1, 1)),
        RuntimeError,
        r"offsets\[0\] has to be 0",
    ),
    "decreasing offsets": (
        lambda t, x, at: t.nn.functional.embedding_bag(at(0, 1), x, at(0, 2, 1)),
        RuntimeError,
        r"offsets must not decrease, but offsets\[2\] is 1 after 2",
    ),
    "last offset": (
        lambda t, x, at: t.nn.functional.embedding_bag(at(0, 1), x, at(0, 3)),
        RuntimeError,
        r"offsets\[-1\] can not be greater than input's length 2 but got .* 3",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures(hotaru, cuda, name):
    """The CPU's error at the next wait, once; the device stays usable."""
    fails, error, text = FAILURES[name]
    x = numbers(hotaru, (4, 6), "float32")
    with pytest.raises(error, match=text):
        fails(hotaru, x, lambda *n: hotaru.tensor(n))
    y = x.to(cuda)
    fails(hotaru, y, lambda *n: hotaru.tensor(n, device=cuda))
    with pytest.raises(error, match=text) as raised:
        y.cpu()
    assert "(in a queued call of " in str(raised.value)
    assert ("[24]" if name == "take" else "[4, 6]") in str(raised.value)
    assert y.cpu().equal(x)
    assert (y * 2).sum().item() == 2 * x.sum().item()


def test_a_failure_leaves_only_its_elements_out(hotaru, cuda):
    t = hotaru
    x = t.arange(4.0, device=cuda)
    read = x[t.tensor([1, 9, 3], device=cuda)]
    x[t.tensor([0, 7, 2], device=cuda)] = t.tensor(5.0)
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        read.cpu()
    assert read.tolist() == [1, 0, 3]
    assert x.tolist() == [5, 1, 5, 3]


def test_where_failures_are_raised(hotaru, cuda):
    """By whatever waits: a stream, an event, the device; only once."""
    t = hotaru
    stream = t.cuda.default_stream()
    x = t.arange(4.0, device=cuda)
    bad = t.tensor([4], device=cuda)

    def wait_for_event():
        event = t.cuda.Event()
        event.record(stream)
        event.synchronize()

    for wait in (
        stream.synchronize,
        t.cuda.synchronize,
        wait_for_event,
        lambda: x.sum().item(),
        x.tolist,
    ):
        x[bad]
        with pytest.raises(IndexError, match="index 4 is out of bounds"):
            wait()
        wait()


def test_the_first_of_many_failures_is_raised(hotaru, cuda):
    t = hotaru
    x = t.arange(4.0, device=cuda)
    for i in range(4, 400):  # more than are remembered
        x[t.tensor([i % 4], device=cuda)]
    for i in range(4, 14):
        x[t.tensor([i], device=cuda)]
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        x.cpu()
    assert x.tolist() == [0, 1, 2, 3]
