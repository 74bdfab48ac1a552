"""Quotients, remainders and shifts: kernels take runs of elements by a quick
way and others by an exact one, with the same bits.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import hotaru as torch

NAMES = ["fmod", "remainder", "floor_divide"]
# More than a run of the kernels, and no multiple of one.
COUNT = 1100


def bits_of(values: np.ndarray) -> np.ndarray:
    kind = {4: np.uint32, 8: np.uint64}[values.itemsize]
    return np.where(np.isnan(values), 0, values.view(kind))


def wanted(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """By C's fmod, which is exact, as Python has // and %."""
    with np.errstate(all="ignore"):
        rest = np.fmod(x, y)
        other = (rest != 0) & ((rest < 0) != (y < 0))
        if name == "fmod":
            return rest
        if name == "remainder":
            return np.where(other, rest + y, rest)
        quotient = (x - rest) / y - other.astype(x.dtype)
        whole = np.floor(quotient)
        whole += quotient - whole > 0.5
        whole = np.where(quotient == 0, np.copysign(0, x / y), whole)
        return np.where(y == 0, x / y, whole).astype(x.dtype)


def specials(dtype) -> np.ndarray:
    limits = np.finfo(dtype)
    tiny = limits.smallest_subnormal
    edge = 2.0 ** (22 if dtype == np.float32 else 51)
    found = [0.0, 1, 0.1, 3, tiny, 7 * tiny, limits.tiny, 1e10, 7e20, 0.75]
    found += [edge - 0.5, edge, edge + 1, 2 * edge, 4 * edge, limits.max]
    found += [np.inf, np.nan]
    return np.array([*found, *(-x for x in found)], dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_special_operands_in_every_company(name, dtype):
    s = specials(dtype)
    x, y = np.repeat(s, s.size), np.tile(s, s.size)
    f = getattr(torch, name)
    want = bits_of(wanted(name, x, y))
    # Together, where one spoils the run for all; each among ordinary ones.
    got = f(torch.tensor(x), torch.tensor(y)).numpy()
    assert (bits_of(got) == want).all()
    a = torch.full((x.size, 40), 5.5, dtype=torch.tensor(x).dtype)
    b = torch.full_like(a, 1.25)
    a[:, 7], b[:, 7] = torch.tensor(x), torch.tensor(y)
    for i in range(x.size):
        assert bits_of(f(a[i], b[i]).numpy())[7] == want[i], (x[i], y[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_quotients_that_are_nearly_whole(name, dtype):
    random = np.random.default_rng(3)
    y = random.normal(size=20000).astype(dtype)
    most = 2**22 if dtype == np.float32 else 2**51
    for top in (20, 5000, most, 8 * most):
        x = random.integers(-top, top, y.size).astype(dtype) * y
        for near in (x, np.nextafter(x, dtype(9e30)), np.nextafter(x, y * 0)):
            got = getattr(torch, name)(torch.tensor(near), torch.tensor(y))
            want = wanted(name, near, y)
            assert (bits_of(got.numpy()) == bits_of(want)).all(), top


@pytest.mark.parametrize("name", NAMES)
def test_layouts_and_scalars_do_not_matter(name):
    random = np.random.default_rng(4)
    x = random.normal(size=(2, COUNT)).astype(np.float32) * 9
    y = random.normal(size=(2, COUNT)).astype(np.float32)
    f, a, b = getattr(torch, name), torch.tensor(x), torch.tensor(y)
    want = bits_of(wanted(name, x, y))
    apart = f(a.t().contiguous().t(), b).numpy()
    assert (bits_of(np.ascontiguousarray(apart)) == want).all()
    for divisor in (3.0, -0.7, 1e-30):
        same = np.full_like(x, divisor)
        got = f(a, float(same[0, 0])).numpy()
        assert (bits_of(got) == bits_of(wanted(name, x, same))).all()
    inside = a.clone()
    assert f(inside, b, out=inside) is inside
    assert (bits_of(inside.numpy()) == want).all()


@pytest.mark.parametrize("bits", [32, 64])
def test_quotients_of_integers(bits):
    dtype = {32: np.int32, 64: np.int64}[bits]
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    s = [0, 1, 2, 3, 7, 2**20, 2**30, high, high - 1, -low - 2]
    if bits == 64:
        s += [2**50 - 1, 2**50, 2**50 + 1, 2**53 + 1, 3 * (2**48 + 1)]
    s += [-x for x in s] + [low]
    pairs = [(x, y) for x in s for y in s if y and (x, y) != (low, -1)]
    random = np.random.default_rng(5)
    q, d = random.integers(1, 2**15, (2, 500)).tolist()
    pairs += [(a * b + e, b) for a, b in zip(q, d) for e in (-1, 0, 1)]
    for part in (pairs, *([pair, (9, 4)] for pair in pairs)):
        x, y = (torch.tensor(np.array(v, dtype)) for v in zip(*part))
        assert (x // y).tolist() == [a // b for a, b in part]
        assert (x % y).tolist() == [a % b for a, b in part]
        cut = [abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1) for a, b in part]
        assert torch.div(x, y, rounding_mode="trunc").tolist() == cut
        rest = [a - c * b for (a, b), c in zip(part, cut)]
        assert torch.fmod(x, y).tolist() == rest
    least = torch.tensor(np.array([low] * 3, dtype))
    assert (least // -1).tolist() == [low] * 3
    assert (least % -1).tolist() == [0] * 3


@pytest.mark.parametrize("name", NAMES)
def test_a_zero_among_integer_divisors_is_found(name):
    x, y = torch.arange(COUNT), torch.ones(COUNT, dtype=torch.int64)
    y[COUNT - 3] = 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        getattr(torch, name)(x, y)


@pytest.mark.parametrize("kind", ["uint8", "int8", "int16", "int32", "int64"])
def test_shifts_by_the_width_and_more(kind):
    dtype = np.dtype(kind)
    width, signed = 8 * dtype.itemsize, kind != "uint8"
    random = np.random.default_rng(6)
    raw = random.integers(0, 256, 300 * dtype.itemsize, dtype=np.uint8)
    x = raw.view(dtype)
    by = [0, 1, 2, width - 2, width - 1, width, width + 1]
    by += [-1, -width] if signed else [200]
    y = np.resize(np.array(by, dtype), x.size)
    mask = (1 << width) - 1

    def left(a, b):
        value = (a << b) & mask if 0 <= b < width else 0
        return value - (1 << width) if signed and value >> width - 1 else value

    def right(a, b):
        return a >> (b if 0 <= b < width else width)

    a, b = torch.tensor(x), torch.tensor(y)
    pairs = list(zip(x.tolist(), y.tolist()))
    assert (a << b).tolist() == [left(*pair) for pair in pairs]
    assert (a >> b).tolist() == [right(*pair) for pair in pairs]
    for n in by:
        assert (a << n).tolist() == [left(v, n) for v in x.tolist()], n
        assert (a >> n).tolist() == [right(v, n) for v in x.tolist()], n


def test_common_divisors_of_small_and_of_large_numbers():
    s = [0, 1, -1, 6, -8, 2**31, 2**32, 2**32 - 1, -(2**33), 3 * 2**40, 9**19]
    pairs = [(x, y) for x in s for y in s]
    x, y = (torch.tensor(v) for v in zip(*pairs))
    assert torch.gcd(x, y).tolist() == [math.gcd(*pair) for pair in pairs]
    x, y = torch.arange(-60, 60).reshape(-1, 1), torch.arange(-70, 50)
    want = [[math.lcm(a, b) for b in range(-70, 50)] for a in range(-60, 60)]
    assert torch.lcm(x, y).tolist() == want


def test_signs_are_those_of_the_bits():
    values = [0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan, -math.nan]
    values += [1e-45, -1e-45]
    want = [math.copysign(1, v) < 0 for v in values]
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x = torch.tensor(np.array(values)).to(dtype)
        assert x.signbit().tolist() == np.signbit(x.double().numpy()).tolist()
        assert x[::2].signbit().tolist() == want[::2]
    x = torch.tensor([-2.0], requires_grad=True)
    assert not x.signbit().requires_grad
    with pytest.raises(NotImplementedError, match="signbit_cpu"):
        torch.zeros(2).to(torch.float8_e5m2).signbit()


def test_complex_quotients():
    """Round in double; and infinities and zeros as C99's annex G has them."""
    random = np.random.default_rng(7)
    for scale in (1, 1e-38, 1e30):
        x, y = random.normal(size=(2, COUNT, 2)).astype(np.float32)
        x *= np.float32(scale)
        x, y = (v.view(np.complex64).ravel() for v in (x, y))
        want = x.astype(np.complex128) / y
        got = (torch.tensor(x) / torch.tensor(y)).numpy()
        room = 2.0**-23 * abs(want) + 2e-45
        assert (abs(got - want) <= room).all()
        got = (torch.tensor(x) / (3 - 4j)).numpy()
        room = 2.0**-23 * abs(x) + 2e-45
        assert (abs(got - x.astype(np.complex128) / (3 - 4j)) <= room).all()
    big = 3e38 + 3e38j
    assert (torch.tensor([big]) / torch.tensor([big])).tolist() == [1]
    inf = complex(math.inf, 0)
    x = torch.tensor([1 + 1j, 1, inf, 1, 2])
    y = torch.tensor([0, 0, 1 + 1j, inf, 4j])
    got = (x / y).tolist()
    assert got[0] == complex(math.inf, math.inf)
    assert math.isinf(got[1].real)
    assert math.isinf(got[2].real)
    assert got[3:] == [0, -0.5j]


def test_angles_of_complex_numbers():
    random = np.random.default_rng(8)
    z = random.normal(size=(COUNT, 2)).view(np.complex128).ravel()
    z = z.astype(np.complex64)
    z[:8] = [0, -0.0, 1, -1, 1j, -1j, complex(math.inf, 1), complex(-1, -0.0)]
    want = np.angle(z.astype(np.complex128))
    for got in (torch.tensor(z).angle(), torch.tensor(z[None]).t().angle()[:, 0]):
        assert np.abs(got.numpy() - want).max() < 2.0**-21.5
        assert (np.signbit(got.numpy()) == np.signbit(want)).all()
    assert torch.tensor([complex(math.nan, 1)]).angle().isnan().all()


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize("count", [1, 3, 41])
@pytest.mark.parametrize("zero", [(0.0, 0.0), (-0.0, 0.0), (-0.0, -0.0)])
def test_signs_of_a_complex_zero_do_not_count(dtype, count, zero):
    divisor = torch.tensor([complex(*zero)] * count, dtype=dtype)
    assert math.copysign(1, divisor[0].real.item()) == math.copysign(1, zero[0])
    for made in (
        divisor.reciprocal(),
        torch.ones_like(divisor) / divisor,
        divisor**-1,
        divisor.clone().reciprocal_(),
    ):
        assert made.real.tolist() == [math.inf] * count
        assert made.imag.isnan().all()
    turned = (torch.ones_like(divisor) * (-1 - 1j)) / divisor
    assert turned.real.tolist() == [-math.inf] * count
    assert turned.imag.tolist() == [-math.inf] * count
    assert (divisor / divisor).real.isnan().all()
