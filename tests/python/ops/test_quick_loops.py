"""Loops with vectors of their own, against numpy, at values of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import hotaru as torch

KINDS = np.array(
    [0, -0.0, 1, -1, 2, -2, 0.5, 3, np.inf, -np.inf, np.nan, 1e-45, 1e-39,
     -1e-39, 3.4e38, -3.4e38, 1.1754944e-38, 0.99999994, 1.0000001],
    np.float32,
)  # fmt: skip


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
        [np.nan, np.inf, -np.inf, 2147483648.0, -2147483648.0, 2147483520.0,
         -2147483904.0, -0.9, 0.9],
        np.float32,
    )  # fmt: skip
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
            whole[
                :, :, i * stride : i * stride + 4, j * stride : j * stride + 5
            ] += np.einsum("nc,cokl->nokl", x[:, :, i, j], w)
    wanted = whole[
        :, :, padding : whole.shape[2] - padding,
        padding : whole.shape[3] - padding,
    ]  # fmt: skip
    got = torch.nn.functional.conv_transpose2d(
        torch.tensor(x), torch.tensor(w), stride=stride, padding=padding
    )
    np.testing.assert_allclose(got.numpy(), wanted, atol=2e-5)
