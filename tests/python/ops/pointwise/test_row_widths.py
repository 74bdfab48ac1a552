"""Kernels that take rows by whole vectors, at widths around those of vectors
and of their groups, beside plain formulas.
"""

import pytest

import hotaru as torch

F = torch.nn.functional
WIDTHS = [1, 3, 8, 15, 16, 17, 31, 33, 64, 127, 129, 300]
FLOATS = [torch.float32, torch.float64]
RUN_DTYPES = [
    *FLOATS,
    *(torch.float16, torch.bfloat16, torch.bool, torch.uint8),
    *(torch.int8, torch.int16, torch.int32, torch.int64),
]


def close(got, wanted, rounds):
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    eps = torch.finfo(wanted.dtype).eps
    size = float(wanted.abs().max()) + 1
    assert float((got - wanted).abs().max()) <= rounds * eps * size


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_bags(width, dtype):
    torch.manual_seed(0)
    table = torch.randn(20, width, dtype=dtype)
    rows = torch.randint(0, 20, (40,))
    offsets = torch.tensor([0, 0, 13, 14, 39])
    factors = torch.randn(40, dtype=dtype)
    bounds = [*offsets.tolist(), 40]
    kept = (rows != 7).to(dtype)

    def sums(weights):
        lines = table[rows] * weights[:, None]
        parts = [lines[a:b].sum(0) for a, b in zip(bounds, bounds[1:])]
        return torch.stack(parts)

    got = F.embedding_bag(rows, table, offsets, mode="sum", padding_idx=7)
    close(got, sums(kept), 40)
    got = F.embedding_bag(rows, table, offsets, mode="sum", per_sample_weights=factors)
    close(got, sums(factors), 40)
    count = sums(kept)[:, :1] * 0
    for i, (a, b) in enumerate(zip(bounds, bounds[1:])):
        count[i] = max(1, float(kept[a:b].sum()))
    got = F.embedding_bag(rows, table, offsets, padding_idx=7)
    close(got, sums(kept) / count, 40)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_distances(width, dtype):
    torch.manual_seed(0)
    x = torch.randn(6, width, dtype=dtype)
    y = torch.randn(2, 5, width, dtype=dtype)
    first, second = torch.triu_indices(6, 6, 1)
    for p in (1.0, 2.0, 3.0):
        apart = (x[first] - x[second]).abs()
        close(F.pdist(x, p), (apart**p).sum(-1) ** (1 / p), width + 8)
        apart = (x[None, :, None] - y[:, None]).abs()
        got = torch.cdist(x, y, p, compute_mode="donot_use_mm_for_euclid_dist")
        close(got, (apart**p).sum(-1) ** (1 / p), width + 8)
    x[2, width - 1] = float("nan")
    assert F.pdist(x).isnan().sum() == 5


@pytest.mark.parametrize("n", [1, 7, 8, 9, 255, 257, 1000])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.97, 1.0])
def test_masks(n, share):
    torch.manual_seed(0)
    mask = torch.rand(n) < share
    kept = [i for i, chosen in enumerate(mask.tolist()) if chosen]
    for dtype in (torch.int8, torch.int16, torch.float32, torch.int64):
        x = torch.arange(n).to(dtype)
        assert torch.equal(x[mask], x[torch.tensor(kept, dtype=torch.int64)])
    # A byte of a mask that is a view may be any number but 0.
    bytes_ = (mask * 3).to(torch.uint8).view(torch.bool)
    assert torch.arange(n)[bytes_].tolist() == kept


def test_runs_of_equal_neighbours():
    torch.manual_seed(0)
    for high in (1, 2, 1000):
        x = torch.randint(0, high, (1000,))
        values, inverse, counts = torch.unique_consecutive(
            x, return_inverse=True, return_counts=True
        )
        assert torch.equal(values[inverse], x)
        assert torch.equal(values.repeat_interleave(counts), x)
        assert (values[1:] != values[:-1]).all()
        assert torch.equal(torch.unique_consecutive(x), values)


@pytest.mark.parametrize("dtype", RUN_DTYPES, ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 8, 9, 17, 300])
def test_values_of_runs(n, dtype):
    torch.manual_seed(0)
    for share in (0.0, 0.02, 0.5, 0.98, 1.0):
        steps = (torch.rand(2 * n) < share).cumsum(0) % 100
        x = steps.to(dtype)[::2]  # with a stride
        listed = x.tolist()
        wanted = [b for a, b in zip([None, *listed], listed) if a != b]
        got = torch.unique_consecutive(x)
        assert got.tolist() == wanted
        assert got.dtype == dtype


def test_values_of_runs_that_are_not_numbers_or_not_0_or_1():
    nan = float("nan")
    x = torch.tensor([1.0, nan, nan, 0.0, -0.0, 2.0] * 5)
    assert torch.unique_consecutive(x).nan_to_num(9).tolist() == [
        *([1.0, 9.0, 9.0, 0.0, 2.0] * 5)
    ]
    truths = torch.tensor([1, 3, 0, 0, 2], dtype=torch.uint8).view(torch.bool)
    assert torch.unique_consecutive(truths).tolist() == [True, False, True]


def test_rows_of_one_value():
    for dtype in (torch.int8, torch.float32, torch.float64, torch.complex128):
        column = torch.arange(30).to(dtype)
        rows = column[:, None].expand(30, 40).contiguous()
        assert rows.tolist() == [[v] * 40 for v in column.tolist()]


def convolved(x, w, stride, dilation):
    """By taps, of an x that is padded already; groups apart."""
    sizes = [
        (x.shape[i + 2] - dilation[i] * (w.shape[i + 2] - 1) - 1) // stride[i] + 1
        for i in range(3)
    ]
    out = 0
    for tap in torch.cartesian_prod(*map(torch.arange, w.shape[2:])).tolist():
        part = x
        for i, (at, size) in enumerate(zip(tap, sizes)):
            first = at * dilation[i]
            last = first + (size - 1) * stride[i] + 1
            places = torch.arange(first, last, stride[i])
            part = part.index_select(i + 2, places)
        weight = w[:, :, tap[0], tap[1], tap[2]]
        out = out + torch.einsum("oc,nczyx->nozyx", weight, part)
    return out


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("width", "channels", "stride", "padding", "dilation"),
    [
        (16, 64, 1, 0, 1),  # some planes at a time
        (16, 5, (2, 1, 1), (1, 0, 2), 1),
        (9, 6, 1, 1, (2, 1, 2)),
        (18, 6, 1, 0, 1),  # rows of a whole vector
        (13, 6, (1, 2, 1), 1, 1),
        (13, 6, (1, 1, 2), 0, 1),
        (70, 3, 1, 0, 1),
    ],
)
def test_conv3d(width, channels, stride, padding, dilation, dtype):
    torch.manual_seed(0)
    groups = 2 if channels == 6 else 1
    x = torch.randn(2, 4 * groups, 9, 16, width, dtype=dtype)
    w = torch.randn(channels, 4, 3, 3, 3, dtype=dtype)
    bias = torch.randn(channels, dtype=dtype)
    got = F.conv3d(x, w, bias, stride, padding, dilation, groups)

    def triple(n):
        return n if isinstance(n, tuple) else (n,) * 3

    around = [n for n in reversed(triple(padding)) for _ in range(2)]
    parts = zip(F.pad(x, around).chunk(groups, 1), w.chunk(groups))
    wanted = torch.cat(
        [
            convolved(a.double(), b.double(), triple(stride), triple(dilation))
            for a, b in parts
        ],
        1,
    )
    wanted = wanted + bias.double()[:, None, None, None]
    close(got, wanted.to(dtype), 27 * 4)


def test_conv3d_deeper_than_a_block():
    # Short rows in three groups of depth, the last columns computed twice.
    torch.manual_seed(0)
    x = torch.randn(1, 40, 4, 9, 13, dtype=torch.float64)
    w = torch.randn(17, 40, 3, 3, 3, dtype=torch.float64)
    wanted = convolved(F.pad(x, (1,) * 6), w, (1, 1, 1), (1, 1, 1))
    close(F.conv3d(x, w, padding=1), wanted, 27 * 40)
