"""Loops with vectors of their own, against numpy, at values of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import hotaru as torch

KINDS = np.array(
    [
        0,
        -0.0,
        1,
        -1,
        2,
        -2,
        0.5,
        3,
        np.inf,
        -np.inf,
        np.nan,
        1e-45,
        1e-39,
        -1e-39,
        3.4e38,
        -3.4e38,
        1.1754944e-38,
        0.99999994,
        1.0000001,
    ],
    np.float32,
)


def units(got: np.ndarray, wanted: np.ndarray) -> float:
    """The largest error in units in the last place; wanted is double."""
    with np.errstate(over="ignore"):
        rounded = wanted.astype(np.float32)
    ordinary = np.isfinite(rounded)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    assert same[~ordinary].all()
    unit = np.spacing(np.maximum(np.abs(rounded[ordinary]), np.float32(1e-38)))
    return float(np.max(np.abs(got[ordinary] - wanted[ordinary]) / unit))


@pytest.mark.parametrize("exponent", [2.5, -0.3, 0.0, 1.0, 7, -1.75, 1e-3, 90])
def test_powers_of_any_number(exponent):
    random = np.random.default_rng(7)
    drawn = np.exp(random.normal(size=3000) * 4).astype(np.float32)
    for values in (drawn, np.concatenate([drawn[:700], KINDS, -drawn[:50]])):
        with np.errstate(all="ignore"):
            wanted = np.power(values.astype(np.float64), np.float32(exponent))
        x = torch.tensor(values)
        assert units(torch.pow(x, exponent).numpy(), wanted) <= 0.51
        y = torch.full_like(x, exponent)
        assert units(torch.pow(x, y).numpy(), wanted) <= 0.51
        # A result does not depend on its neighbours.
        for i in (0, 5, len(values) - 1):
            alone = torch.pow(x[i : i + 1], exponent).numpy()
            together = torch.pow(x, exponent).numpy()[i : i + 1]
            assert alone.tobytes() == together.tobytes()


def test_powers_of_all_pairs_of_odd_numbers():
    x, y = (a.ravel() for a in np.meshgrid(KINDS, KINDS))
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), y.astype(np.float64))
    got = torch.pow(torch.tensor(x), torch.tensor(y)).numpy()
    assert units(got, wanted) <= 0.51
    assert (np.signbit(got) == np.signbit(wanted))[~np.isnan(wanted)].all()


def test_log1p_near_zero_and_far_away():
    random = np.random.default_rng(8)
    values = np.concatenate(
        [
            KINDS,
            (random.normal(size=4000) * 10.0 ** random.integers(-9, 9, 4000)),
            -random.random(2000),
        ]
    ).astype(np.float32)
    with np.errstate(all="ignore"):
        wanted = np.log1p(values.astype(np.float64))
    got = torch.log1p(torch.tensor(values)).numpy()
    assert units(got, wanted) <= 3
    zero = torch.log1p(torch.tensor([-0.0])).numpy()
    assert np.signbit(zero[0])


@pytest.mark.parametrize("count", [1, 15, 16, 17, 1003])
def test_floats_become_whole_numbers(count):
    random = np.random.default_rng(count)
    values = (random.normal(size=count) * 1e9).astype(np.float32)
    odd = np.array(
        [
            np.nan,
            np.inf,
            -np.inf,
            2147483648.0,
            -2147483648.0,
            2147483520.0,
            -2147483904.0,
            -0.9,
            0.9,
        ],
        np.float32,
    )
    values[: min(count, len(odd))] = odd[: min(count, len(odd))]
    least = np.iinfo(np.int32).min
    exact = np.trunc(values.astype(np.float64))
    fits = (exact >= least) & (exact < 2.0**31)
    wanted = np.where(fits, exact, least).astype(np.int32)
    assert (torch.tensor(values).int().numpy() == wanted).all()
    spread = torch.zeros((count, 2))
    spread[:, 0] = torch.tensor(values)
    assert (spread[:, 0].int().numpy() == wanted).all()


@pytest.mark.parametrize("count", [1, 7, 16, 33, 1000])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "int8"])
def test_rows_turn_around(count, dtype):
    x = np.arange(3 * count).reshape(3, count).astype(dtype)
    t = torch.tensor(x)
    assert (t.flip(1).numpy() == x[:, ::-1]).all()
    assert (t.flip(0, 1).numpy() == x[::-1, ::-1]).all()
    assert (t[:, 1:].flip(1).numpy() == x[:, 1:][:, ::-1]).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("columns", [1, 5, 64, 1000])
def test_16_bit_rows_are_normed_as_floats(dtype, columns):
    """Within two roundings of the result, and the same as of floats."""
    torch.manual_seed(columns)
    nn = torch.nn.functional
    x = (torch.randn(6, columns) * 3 + 1).to(dtype)
    wide = x.float()
    for parameters in (dtype, torch.float32):
        w, b = torch.randn(columns).to(parameters), torch.randn(columns)
        b = b.to(parameters)
        got = nn.layer_norm(x, (columns,), w, b)
        wanted = nn.layer_norm(wide, (columns,), w.float(), b.float())
        assert torch.equal(got, wanted.to(dtype))
    assert torch.equal(x.softmax(1), wide.softmax(1).to(dtype))
    if columns % 5 == 0:
        picture = x.view(6, 5, -1)
        w, b = torch.randn(5).to(dtype), torch.randn(5).to(dtype)
        got = nn.group_norm(picture, 5, w, b)
        wanted = nn.group_norm(picture.float(), 5, w.float(), b.float())
        assert torch.equal(got, wanted.to(dtype))


def test_an_expanded_index_moves_rows_in_order():
    random = np.random.default_rng(9)
    rows, targets, width = 3000, 40, 33
    index = random.integers(0, targets, (rows, 1))
    values = random.normal(size=(rows, width)).astype(np.float32)
    wanted = np.zeros((targets, width), np.float32)
    for i, at in enumerate(index[:, 0]):
        wanted[at] += values[i]
    last = np.zeros((targets, width), np.float32)
    last[index[:, 0]] = values
    spread = torch.tensor(index).expand(rows, width)
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            zero = torch.zeros(targets, width)
            got = zero.scatter_add(0, spread, torch.tensor(values))
            assert (got.numpy() == wanted).all()
            got = zero.scatter(0, spread, torch.tensor(values))
            assert (got.numpy() == last).all()
            with pytest.raises(RuntimeError, match="out of bounds"):
                zero.scatter_add(0, spread + 1, torch.tensor(values))
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_taken_by_several_threads(threads):
    random = np.random.default_rng(10)
    table = random.normal(size=(500, 300)).astype(np.float32)
    index = random.integers(0, 500, 700)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        t, i = torch.tensor(table), torch.tensor(index)
        assert (t.index_select(0, i).numpy() == table[index]).all()
        columns = torch.tensor(index % 300)
        assert t[:, :0].index_select(0, i).shape == (700, 0)
        got = t.index_select(1, columns).numpy()
        assert (got == table[:, index % 300]).all()
        target = torch.zeros(500, 300)
        target.index_copy_(0, i, t[i] + torch.arange(700)[:, None])
        last = np.zeros_like(table)
        for place, row in enumerate(index):
            last[row] = table[row] + np.float32(place)
        assert (target.numpy() == last).all()
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("padding", [0, 1, 2])
def test_transposed_convolutions_are_sums_of_patches(stride, padding):
    random = np.random.default_rng(stride)
    x = random.normal(size=(2, 3, 6, 7)).astype(np.float32)
    w = random.normal(size=(3, 2, 4, 5)).astype(np.float32)
    whole = np.zeros((2, 2, 5 * stride + 4, 6 * stride + 5))
    for i in range(6):
        for j in range(7):
            whole[:, :, i * stride : i * stride + 4, j * stride : j * stride + 5] += (
                np.einsum("nc,cokl->nokl", x[:, :, i, j], w)
            )
    wanted = whole[
        :, :, padding : whole.shape[2] - padding, padding : whole.shape[3] - padding
    ]
    got = torch.nn.functional.conv_transpose2d(
        torch.tensor(x), torch.tensor(w), stride=stride, padding=padding
    )
    np.testing.assert_allclose(got.numpy(), wanted, atol=2e-5)


@pytest.mark.parametrize("count", [1, 3, 4, 7, 33, 70_001])
def test_ranges_of_integers(count):
    for dtype in ("int64", "int32", "uint8"):
        kind = getattr(torch, dtype)
        got = torch.arange(3, 3 + 7 * count, 7, dtype=kind).numpy()
        wanted = np.arange(3, 3 + 7 * count, 7).astype(dtype)
        assert (got == wanted).all()
    down = torch.arange(5, 5 - count, -1).numpy()
    assert (down == np.arange(5, 5 - count, -1)).all()


@pytest.mark.parametrize("place", [None, 0, 17, 63, 64, 130, 999])
def test_a_nan_among_floats_that_become_halves(place):
    values = np.linspace(-70000, 70000, 1000).astype(np.float32)
    if place is not None:
        values[place] = np.nan
    with np.errstate(over="ignore"):
        wanted = values.astype(np.float16)
    got = torch.tensor(values).half().numpy()
    assert (np.isnan(got) == np.isnan(wanted)).all()
    assert (got == wanted)[~np.isnan(wanted)].all()


@pytest.mark.parametrize("channels", [3, 8, 19])
@pytest.mark.parametrize("corners", [False, True])
def test_grids_are_sampled_alike_by_all_ways(channels, corners):
    """Few points go tap by tap, many by pixels, doubles one by one."""
    torch.manual_seed(channels)
    sample = torch.nn.functional.grid_sample
    x = torch.randn(2, channels, 9, 11)
    grid = torch.randn(2, 13, 10, 2) * 1.2
    grid[0, 0, :4, 0] = torch.tensor([-1.0, 1.0, float("nan"), float("inf")])
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border"):
            way = {"mode": mode, "padding_mode": padding, "align_corners": corners}
            wanted = sample(x.double(), grid.double(), **way).float()
            many = sample(x, grid, **way)
            assert torch.allclose(many, wanted, atol=3e-6, equal_nan=True)
            few = sample(x, grid[:, :2], **way)
            assert torch.allclose(few, wanted[:, :, :2], atol=3e-6, equal_nan=True)


@pytest.mark.parametrize("width", [1, 7, 30, 65])
def test_padded_rows(width):
    x = np.arange(6 * width).reshape(2, 3, width).astype(np.float32)
    t = torch.tensor(x)
    for pad in ((1, 1, 1, 1), (0, 2, 0, 0), (-1, 3, 2, -1)):
        got = torch.nn.functional.pad(t, pad, value=-5.0).numpy()
        left, right, top, bottom = pad
        cut = x[
            :, max(0, -top) : 3 + min(0, bottom), max(0, -left) : width + min(0, right)
        ]
        wanted = np.pad(
            cut,
            ((0, 0), (max(0, top), max(0, bottom)), (max(0, left), max(0, right))),
            constant_values=-5,
        )
        assert (got == wanted).all()


@pytest.mark.parametrize("right", [False, True])
def test_positions_among_sorted_numbers(right):
    random = np.random.default_rng(11)
    for size in (0, 1, 2, 7, 100, 1000):
        row = np.sort(random.integers(0, 60, size).astype(np.float32))
        values = random.integers(-2, 63, 1003).astype(np.float32)
        wanted = np.searchsorted(row, values, "right" if right else "left")
        got = torch.searchsorted(torch.tensor(row), torch.tensor(values), right=right)
        assert (got.numpy() == wanted).all()


@pytest.mark.parametrize("shape", [(700, 301), (1031, 99), (768, 1500)])
def test_a_vector_times_a_long_transposed_matrix(shape):
    """Two columns at once, and an odd one; the sums are those of one."""
    inner, columns = shape
    torch.manual_seed(1)
    a, b = torch.randn(1, inner), torch.randn(columns, inner)
    got = a @ b.t()
    wanted = (a.double() @ b.t().double()).float()
    assert torch.allclose(got, wanted, atol=2e-4)
    for j in (0, 1, columns - 1):
        assert torch.allclose(got[:, j : j + 1], a @ b[j : j + 1].t(), atol=1e-4)
    assert torch.equal(got, a @ b.t())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gates_of_hardswish(dtype):
    """To the bit, NaN and infinities included."""
    torch.manual_seed(0)
    special = [torch.inf, -torch.inf, torch.nan, -0.0, 0.0, 3.0, -3.0, 3e38]
    x = torch.cat(
        [torch.tensor(special, dtype=dtype)]
        + [torch.randn(5003, dtype=dtype) * s for s in (1, 3, 1e-40, 1e20)]
    )
    gate = (x + 3).clamp(0, 6)
    for got, want in (
        (torch.nn.functional.hardsigmoid(x), gate / 6),
        (torch.nn.functional.hardswish(x), x * gate / 6),
    ):
        assert torch.equal(got.isnan(), want.isnan())
        assert torch.equal(got.nan_to_num(), want.nan_to_num())
