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
        # C leaves open the signs of zeros whose angle is not known.
        lost = want == 0 and cmath.isinf(z) and not math.isfinite(z.imag)
        if want is not None and not lost:
            assert agrees(value, want, tolerance), (z, value, want)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_log2_and_exp2_of_infinities(dtype):
    z = [0j, complex(INF, 0), complex(0, INF), complex(INF, NAN), complex(-INF, 0)]
    got = torch.log2(torch.tensor(z, dtype=dtype)).tolist()
    want = ["-inf 0", "inf 0", "inf 2.266", "inf nan", "inf 4.532"]
    assert [f"{v.real:.4g} {v.imag:.4g}" for v in got] == want
    got = torch.exp2(torch.tensor([complex(INF, 0), complex(-INF, 1)], dtype=dtype))
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
        (1e17, torch.float64),
        (1e30, torch.float32),
        (-1e30, torch.float32),
        (3e38, torch.float32),
        (1.7e308, torch.float64),
        (5.0, torch.float32),
        (6e4, torch.float16),
        (3e38, torch.bfloat16),
        (2.0**25, torch.float32),
    ],
)
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
        t = torch.nn.init.trunc_normal_(torch.empty(1000, dtype=dtype), **options)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert t.min() >= -2
    assert t.max() <= 2
    assert t.std() > 1


def test_truncated_draws_on_meta():
    t = torch.empty(3, device="meta")
    assert torch.nn.init.trunc_normal_(t) is t


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_silu_of_complex_numbers(dtype):
    x = torch.tensor([1 + 1j, -2j, -50 + 2j], dtype=dtype)
    y = torch.nn.functional.silu(x)
    torch.testing.assert_close(y, x / (1 + torch.exp(-x)))
    assert torch.equal(torch.nn.functional.silu(x.clone(), inplace=True), y)


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_logcumsumexp_of_complex_numbers(n):
    g = torch.Generator().manual_seed(n)
    x = torch.randn(3, n, dtype=torch.complex128, generator=g) * 3
    y = torch.logcumsumexp(x, -1)
    torch.testing.assert_close(y.exp(), x.exp().cumsum(-1))
    assert torch.autograd.gradcheck(
        lambda x: torch.logcumsumexp(x, 1), x.requires_grad_()
    )
    far = torch.tensor([-1000 + 1j, -INF, -1001], dtype=torch.complex128)
    assert torch.logcumsumexp(far, 0).real.isfinite().all()
    none = torch.full((2,), complex(-INF, 0))
    assert torch.logcumsumexp(none, 0).tolist() == [complex(-INF, 0)] * 2


def test_limits_in_the_wrong_order():
    """The upper one counts, as clamp's does."""
    x = torch.tensor([0.0, 1.5, 3.0])
    assert torch._C._nn.hardtanh(x, 2.0, 1.0).tolist() == [1, 1, 1]


def test_second_names_in_place():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    y = x.clone()
    assert y.absolute_().negative_() is y
    y.sum().backward()
    assert x.grad.tolist() == [1, -1]
    with pytest.raises(RuntimeError, match="In-place abs is not supported"):
        torch.tensor([1j]).absolute_()


def test_decimals_of_16_bit_numbers():
    """Products with powers of ten may be more than they hold."""
    x = torch.tensor([700.0, 1000.5, 65504.0], dtype=torch.float16)
    assert torch.equal(x.round(decimals=2), x)
    assert torch.equal(x.clone().round_(decimals=2), x)
    y = torch.tensor([-2.65625], dtype=torch.bfloat16).round(decimals=1)
    assert y.item() == -2.703125
    y = torch.tensor([12345.0], dtype=torch.float16).round(decimals=-2)
    assert y.item() == 12304


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize("shape", [(5,), (70,), (3000,), (40, 33), (33, 40)])
def test_norms_of_infinite_complex_numbers(dtype, shape):
    """An element with an infinite part is infinite, as its abs is."""
    inf, nan = math.inf, math.nan
    for special in ((inf, nan), (nan, -inf), (nan, 1.0), (inf, inf)):
        for dim in range(-1, len(shape) - 1):
            x = torch.ones(shape, dtype=dtype)
            x.view(-1)[x.numel() // 2] = complex(*special)
            for view in (x, x.t() if x.dim() == 2 else x[::2]):
                for p in (1, 2, 3, inf):
                    got = torch.linalg.vector_norm(view, p, dim=dim)
                    want = torch.linalg.vector_norm(view.abs(), p, dim=dim)
                    torch.testing.assert_close(got, want, equal_nan=True)
