"""Kernels that take rows by whole vectors, at widths around those of vectors
and of their groups, beside plain formulas.
"""

import pytest

import hotaru as torch

F = torch.nn.functional
WIDTHS = [1, 3, 8, 15, 16, 17, 31, 33, 64, 127, 129, 300]
FLOATS = [torch.float32, torch.float64]


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
    got = F.embedding_bag(
        rows, table, offsets, mode="sum", per_sample_weights=factors
    )
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


def test_rows_of_one_value():
    for dtype in (torch.int8, torch.float32, torch.float64, torch.complex128):
        column = torch.arange(30).to(dtype)
        rows = column[:, None].expand(30, 40).contiguous()
        assert rows.tolist() == [[v] * 40 for v in column.tolist()]
