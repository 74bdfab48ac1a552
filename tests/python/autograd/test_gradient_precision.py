"""Derivatives of float64 tensors beside numbers, and beside single elements and
integers of less precise dtypes: nothing of them is made in float32. And what of
16 bits is: the steps of recorded formulas.
"""

import hotaru.nn.functional as F
import pytest

import hotaru as torch

X = torch.tensor([0.3, 1.7, 2.9], dtype=torch.float64)
Z = torch.complex(X, X.flip(0) - 1)
OTHER = torch.tensor([0.9, 0.2, 1.3], dtype=torch.float64)

WITH_NUMBERS = {
    "mul": lambda x, k: x * k,
    "rmul": lambda x, k: k * x,
    "div": lambda x, k: x / k,
    "rdiv": lambda x, k: k / x,
    "pow": lambda x, k: x**k,
    "rpow": lambda x, k: k**x,
    "rsub": lambda x, k: torch.rsub(x, k),
    "add": lambda x, k: torch.add(OTHER, x * k),
    "lerp": lambda x, k: torch.lerp(x, x * 2, k),
    "where": lambda x, k: torch.where(OTHER > 0.5, x, k) * x,
    "float_power": lambda x, k: torch.float_power(x, k),
}
REAL = {
    "xlogy": lambda x, k: torch.xlogy(x, k),
    "rxlogy": lambda x, k: torch.xlogy(k, x),
    "xlog1py": lambda x, k: torch.special.xlog1py(x, k),
    "rxlog1py": lambda x, k: torch.special.xlog1py(k, x),
    "fmod": lambda x, k: torch.fmod(x, k) * x,
    "remainder": lambda x, k: torch.remainder(x, k) * x,
    "copysign": lambda x, k: torch.copysign(x, k) * x,
    "clamp": lambda x, k: torch.clamp(x, k) * x,
}
CASES = [(name, 0.3) for name in (*WITH_NUMBERS, *REAL)]
CASES += [(name, 0.3 + 0.7j) for name in WITH_NUMBERS]


def derivatives(f, x):
    x = x.clone().requires_grad_()
    y = f(x)
    y = torch.view_as_real(y) if y.is_complex() else y
    weights = torch.linspace(0.3, 1.9, y.numel(), dtype=torch.float64)
    (first,) = torch.autograd.grad(
        (y * weights.view(y.shape)).sum(), x, create_graph=True
    )
    if not first.requires_grad:
        return y, first
    g = torch.view_as_real(first) if first.is_complex() else first
    return y, first, torch.autograd.grad((g * 0.7).sum(), x)[0]


@pytest.mark.parametrize(("name", "number"), CASES)
@pytest.mark.parametrize("x", [X, Z], ids=["real", "complex"])
def test_numbers_beside_doubles(name, number, x):
    if x is Z and name in REAL:
        pytest.skip("an operator of real numbers")
    f = {**WITH_NUMBERS, **REAL}[name]
    wide = torch.complex128 if isinstance(number, complex) else torch.float64
    if name == "lerp":
        if isinstance(number, complex) and x is X:
            pytest.skip("lerp has one dtype")
        wide = x.dtype
    exact = torch.tensor(number, dtype=wide).expand(3)
    for got, wanted in zip(
        derivatives(lambda x: f(x, number), x),
        derivatives(lambda x: f(x, exact), x),
        strict=True,
    ):
        torch.testing.assert_close(got, wanted, rtol=1e-13, atol=1e-14)


NARROW = [
    torch.tensor(2.3),
    torch.tensor([2.3, 1.5, 0.7]),
    torch.tensor(3),
    torch.tensor([3, 2, 1]),
    torch.tensor(2.3, dtype=torch.float16),
]


@pytest.mark.parametrize("other", NARROW, ids=str)
@pytest.mark.parametrize("name", ["rpow", "xlogy", "xlog1py", "pow", "div"])
def test_functions_of_less_precise_operands(name, other):
    f = {**WITH_NUMBERS, **REAL}[name]
    for got, wanted in zip(
        derivatives(lambda x: f(x, other), X),
        derivatives(lambda x: f(x, other.double().expand(3)), X),
        strict=True,
    ):
        torch.testing.assert_close(got, wanted, rtol=1e-13, atol=1e-14)


def test_scales_by_powers_of_two():
    """Rounded once, though the power alone overflows or vanishes."""
    x = torch.tensor([3e-300, 1e300, 0.0, -1.0], dtype=torch.float64)
    scaled = torch.ldexp(x, torch.tensor([1500, -1200, 5000, -1074]))
    wanted = [3e-300 * 2.0**750 * 2.0**750, 1e300 * 2.0**-600 * 2.0**-600]
    assert scaled.tolist() == [*wanted, 0, -5e-324]
    half = torch.tensor([1e-5, 6e4], dtype=torch.float16)
    scaled = torch.ldexp(half, torch.tensor([20, -20]))
    assert scaled.tolist() == [half[0].item() * 2**20, half[1].item() / 2**20]
    x = torch.tensor([3e-300], dtype=torch.float64, requires_grad=True)
    y = torch.ldexp(x, torch.tensor([1000]))
    assert y.grad_fn.name() == "LdexpBackward0"
    y.backward()
    assert x.grad.item() == 2.0**1000
    n = torch.tensor([2.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.ldexp, (x.detach() + 1, n))


@pytest.mark.parametrize("n", [3, 16])
@pytest.mark.parametrize("again", [False, True])
def test_slopes_at_nan(n, again):
    """NaN where a formula says so, 0 where slopes lie between limits."""
    slopes = {
        F.elu: True,
        F.selu: True,
        F.celu: True,
        F.hardswish: True,
        F.relu6: False,
        F.hardtanh: False,
        F.hardshrink: False,
        F.softshrink: False,
        F.hardsigmoid: False,
    }
    for f, wanted in slopes.items():
        x = torch.full((n,), float("nan"), requires_grad=True)
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=again)
        assert g.isnan().all() if wanted else not g.any(), f


RECORDED = {
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "hardswish": F.hardswish,
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(1),
    "layer_norm": lambda x: F.layer_norm(x, (8,)),
    "group_norm": lambda x: F.group_norm(x, 2),
    "batch_norm": lambda x: F.batch_norm(
        x, torch.zeros(8, dtype=x.dtype), torch.ones(8, dtype=x.dtype)
    ),
    "logcumsumexp": lambda x: x.logcumsumexp(1),
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_passes_round_16_bits_once(name, dtype):
    """As the kernels do, in whose place differentiable operators stand."""
    torch.manual_seed(0)
    f = RECORDED[name]
    x = (torch.randn(16, 8) * 2).to(dtype).requires_grad_()
    g = torch.randn(16, 8).to(dtype)
    exact = x.detach().double().requires_grad_()
    (wanted,) = torch.autograd.grad(f(exact), exact, g.double())
    for create_graph in (False, True):
        (got,) = torch.autograd.grad(f(x), x, g, create_graph=create_graph)
        assert got.dtype == dtype
        scale = wanted.abs() + 0.02 * wanted.abs().max()
        error = ((got.double() - wanted).abs() / scale).max().item()
        # Gradients of these are made of the result, which is rounded already.
        limit = 16 if "max" in name or "cum" in name else 2
        assert error < limit * torch.finfo(dtype).eps
