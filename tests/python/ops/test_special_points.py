"""Functions where formulas meet infinities, zeros and what is no number."""

from __future__ import annotations

import cmath
import math
import signal

import pytest

import hotaru as torch

INF, NAN = float("inf"), float("nan")
PARTS = [0.0, -0.0, 1.0, -2.5, INF, -INF, NAN]
POINTS = [complex(a, b) for a in PARTS for b in PARTS]
KINDS = [torch.complex128, torch.complex64]


def agrees(got, want, tolerance):
    for x, y in ((got.real, want.real), (got.imag, want.imag)):
        if math.isnan(x) or math.isnan(y):
            same = math.isnan(x) and math.isnan(y)
        elif math.isinf(x) or math.isinf(y) or x == y == 0:
            same = x == y and math.copysign(1, x) == math.copysign(1, y)
        else:
            same = abs(x - y) <= tolerance * max(1, abs(want))
        if not same:
            return False
    return True


def part_by_part(z, factor):
    return complex(z.real * factor, z.imag * factor)


def exact_log(z):
    if z == 0:
        return complex(-INF, cmath.phase(z))
    return cmath.log(z)


EXACT = {
    "log": exact_log,
    "log2": lambda z: part_by_part(exact_log(z), 1 / math.log(2)),
    "log10": lambda z: part_by_part(exact_log(z), 1 / math.log(10)),
    "exp": cmath.exp,
    "exp2": lambda z: cmath.exp(part_by_part(z, math.log(2))),
    "sqrt": cmath.sqrt,
}


def expected(name, z):
    """Python's value, where it does not refuse: cmath raises at infinities that
    C's functions have values for.
    """
    try:
        return EXACT[name](z)
    except (ValueError, OverflowError):
        return None


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_complex_functions(name, dtype):
    got = getattr(torch, name)(torch.tensor(POINTS, dtype=dtype)).tolist()
    tolerance = 1e-14 if dtype == torch.complex128 else 1e-6
    for z, value in zip(POINTS, got):
        want = expected(name, z)
        # Of zeros whose angle is not known C leaves the signs open.
        lost = want == 0 and cmath.isinf(z) and not math.isfinite(z.imag)
        if want is not None and not lost:
            assert agrees(value, want, tolerance), (z, value, want)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_log2_and_exp2_of_infinities(dtype):
    z = [
        0j,
        complex(INF, 0),
        complex(0, INF),
        complex(INF, NAN),
        complex(-INF, 0),
    ]
    got = torch.log2(torch.tensor(z, dtype=dtype)).tolist()
    want = ["-inf 0", "inf 0", "inf 2.266", "inf nan", "inf 4.532"]
    assert [f"{v.real:.4g} {v.imag:.4g}" for v in got] == want
    got = torch.exp2(
        torch.tensor([complex(INF, 0), complex(-INF, 1)], dtype=dtype)
    )
    assert got.tolist() == [complex(INF, 0), 0]


def test_complex_log1p_keeps_a_negative_zero():
    got = torch.log1p(torch.tensor([complex(-0.0, 0.0)])).item()
    assert math.copysign(1, got.real) == -1


def test_nan_to_num_of_complex_parts():
    z = torch.tensor([complex(NAN, INF), complex(-INF, 2), 1 + 1j])
    got = torch.nan_to_num(z, nan=5.0, posinf=6.0, neginf=7.0)
    assert got.tolist() == [5 + 6j, 7 + 2j, 1 + 1j]
    z = z.clone().requires_grad_()
    torch.nan_to_num(z).real.sum().backward()
    assert z.grad.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1e17, torch.float64), (1e30, torch.float32), (-1e30, torch.float32),
        (3e38, torch.float32), (1.7e308, torch.float64), (5.0, torch.float32),
        (6e4, torch.float16), (3e38, torch.bfloat16), (2.0**25, torch.float32),
    ],
)  # fmt: skip
def test_histograms_of_one_value(value, dtype):
    x = torch.full((3,), value, dtype=dtype)
    got = torch.histc(x, 4)
    assert got.sum().item() == 3
    assert got.max().item() == 3
    assert torch.histc(x, 4, min=value, max=value).sum().item() == 3


def test_shapes_on_meta():
    m = torch.empty(5, device="meta")
    assert torch.histc(m).shape == (100,)
    assert torch.histc(m, 7, 0, 1).shape == (7,)
    assert torch.multinomial(m, 3).shape == (3,)
    assert torch.multinomial(m.view(1, 5), 7, True).shape == (1, 7)
    g = torch.Generator()
    state = g.get_state()
    for t in (
        torch.randn(2, device="meta", generator=g),
        torch.randint(5, (2,), device="meta", generator=g),
        torch.randperm(2, device="meta", generator=g),
        torch.empty(2, device="meta").normal_(generator=g),
    ):
        assert (t.device.type, t.shape) == ("meta", (2,))
    assert torch.equal(g.get_state(), state)


@pytest.mark.parametrize(
    "options", [{"std": NAN}, {"mean": NAN}, {"mean": INF}, {"std": INF}]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_truncated_draws_end(options, dtype):
    def give_up(*_):
        raise TimeoutError("still drawing")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(10)
    try:
        t = torch.nn.init.trunc_normal_(
            torch.empty(1000, dtype=dtype), **options
        )
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert t.min() >= -2
    assert t.max() <= 2
    assert t.std() > 1


def test_truncated_draws_on_meta():
    t = torch.empty(3, device="meta")
    assert torch.nn.init.trunc_normal_(t) is t
