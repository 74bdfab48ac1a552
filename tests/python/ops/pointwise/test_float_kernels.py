"""Kernels with a quick way for most elements, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import hotaru


def bits_of(values: np.ndarray) -> np.ndarray:
    return values.view({2: np.uint16, 4: np.uint32}[values.itemsize])


def test_every_half_is_a_float_and_comes_back():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    there = hotaru.tensor(halves).float()
    wanted = halves.astype(np.float32)
    number = ~np.isnan(wanted)
    assert (bits_of(there.numpy())[number] == bits_of(wanted)[number]).all()
    assert np.isnan(there.numpy()[~number]).all()
    back = there.half().numpy()
    assert (bits_of(back)[number] == bits_of(halves)[number]).all()
    # A NaN keeps its sign and nothing else, at every place of a run.
    assert set(bits_of(back)[~number].tolist()) == {0x7E00, 0xFE00}


@pytest.mark.parametrize("count", [1, 7, 16, 61, 100_003])
def test_floats_round_to_the_nearest_half_and_to_even(count):
    random = np.random.default_rng(count)
    floats = random.integers(0, 1 << 32, count, dtype=np.uint32)
    floats = floats.view(np.float32)
    small = random.normal(size=count).astype(np.float32) * 2.0**-14
    # Halfway between two halves.
    between = random.integers(0, 0x7BFF, count, dtype=np.uint16)
    halfway = between.view(np.float16).astype(np.float32)
    halfway += (between + 1).astype(np.uint16).view(np.float16)
    halfway /= 2
    for values in (floats, small, halfway):
        values = values[~np.isnan(values)]
        with np.errstate(over="ignore"):
            wanted = values.astype(np.float16)
        assert (bits_of(hotaru.tensor(values).half().numpy()) == bits_of(wanted)).all()


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("odd_one", [None, 3e7, -1e30, np.inf, np.nan])
def test_angles_of_any_size(name, odd_one):
    """Runs with an angle that only the C library knows, and others."""
    random = np.random.default_rng(5)
    values = random.normal(size=1000).astype(np.float32)
    values *= np.float32(10.0) ** random.integers(-3, 6, 1000)
    if odd_one is not None:
        values[[3, 300, 999]] = odd_one
    x = hotaru.tensor(values)
    with np.errstate(invalid="ignore"):
        wanted = getattr(np, name)(values.astype(np.float64))
    got = getattr(x, name)().numpy()
    np.testing.assert_allclose(got, wanted, rtol=3e-7, atol=1e-30)
    # The same bits whatever the layout and the neighbours, and in place.
    apart = hotaru.stack([x, -x], 1)[:, 0]
    same = getattr(apart, name)().numpy()
    assert (bits_of(same) == bits_of(got)).all()
    one = np.stack([getattr(v, name)().numpy() for v in x[:20]])
    assert (bits_of(one) == bits_of(got[:20])).all()
    getattr(x, name + "_")()
    assert (bits_of(x.numpy()) == bits_of(got)).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 7), (64, 33, 40), (5, 0, 3)])
@pytest.mark.parametrize("transposed", [False, True])
def test_products_of_16_bit_floats_round_once(dtype, shape, transposed):
    m, k, n = shape
    hotaru.manual_seed(1)
    kind = getattr(hotaru, dtype)
    a = hotaru.randn(m, k).to(kind)
    b = hotaru.randn(n, k).to(kind).t() if transposed else hotaru.randn(k, n).to(kind)
    bias = hotaru.randn(n).to(kind)
    exact = a.double() @ b.double()
    step = 2.0 ** (-11 if dtype == "float16" else -8)
    room = step * exact.abs() + 1e-5 * k
    assert ((a @ b).double() - exact).abs().le(room).all()
    full = hotaru.addmm(bias, a, b, beta=0.5, alpha=2)
    wanted = 0.5 * bias.double() + 2 * exact
    room = step * wanted.abs() + 1e-5 * k + 2 * step * bias.double().abs()
    assert (full.double() - wanted).abs().le(room).all()
    layer = hotaru.nn.functional.linear(a, b.t(), bias)
    wanted = exact + bias.double()
    assert (layer.double() - wanted).abs().le(step * wanted.abs() + 1e-5 * k).all()


def test_logarithms_of_any_float():
    random = np.random.default_rng(6)
    bits = random.integers(0, 0x7F800000, 100_003, dtype=np.uint32)
    near = random.uniform(0.7, 1.6, 10_000).astype(np.float32)
    for values in (bits.view(np.float32), near, near[:9]):
        wanted = np.log(values.astype(np.float64))
        got = hotaru.tensor(values).log().numpy()
        np.testing.assert_allclose(got, wanted, rtol=2.5e-7, atol=1e-30)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -1e-45, 1.0])
    with np.errstate(all="ignore"):
        wanted = np.log(odd)
    got = hotaru.tensor(odd.repeat(7).astype(np.float32)).log().numpy()
    np.testing.assert_array_equal(got, wanted.repeat(7))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 9, 14, 15, 24, 25, 64, 65, 281])
@pytest.mark.parametrize(("inner", "columns"), [(705, 500), (97, 4096)])
def test_products_with_a_matrix_that_lies_far(rows, inner, columns):
    """Beyond a megabyte it is read in place, by blocks of its rows."""
    random = np.random.default_rng(rows)
    a = random.normal(size=(rows, inner)).astype(np.float32)
    b = random.normal(size=(inner, columns)).astype(np.float32)
    c = random.normal(size=(rows, columns)).astype(np.float32)
    exact = a.astype(np.float64) @ b
    room = 2e-6 * np.sqrt(inner) * np.abs(a).max() * 4
    ta, tb, tc = map(hotaru.tensor, (a, b, c))
    wide = hotaru.tensor(np.hstack([b, b]))[:, :columns]
    for left in (ta, ta.t().contiguous().t()):
        for right in (tb, wide, tb.t().contiguous().t()):
            np.testing.assert_allclose((left @ right).numpy(), exact, atol=room)
    got = hotaru.addmm(tc, ta, tb, beta=0.5, alpha=-2).numpy()
    np.testing.assert_allclose(got, 0.5 * c - 2 * exact, atol=2 * room)
    got = hotaru.relu(hotaru.addmm(tc[0], ta, wide)).numpy()
    np.testing.assert_allclose(got, np.maximum(exact + c[0], 0), atol=room)
