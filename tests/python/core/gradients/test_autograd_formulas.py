"""Gradients that were lost, lacked a conjugate or were NaN.

What is expected is what PyTorch 2.13 does.
"""

import math

import pytest

import hotaru as torch


def scalar(value):
    return torch.tensor(value, requires_grad=True)


X = torch.tensor([0.2, 0.5, 0.9])
LOST = {
    "masked_fill": (lambda s: X.masked_fill(X > 0.4, s), 2.0),
    "masked_fill_": (lambda s: X.clone().masked_fill_(X > 0.4, s), 2.0),
    "clamp": (lambda s: X.clamp(s), 1.0),
    "clamp_": (lambda s: X.clone().clamp_(max=s), 2.0),
    "clamp_min": (lambda s: X.clamp_min(s), 1.0),
    "clamp_max": (lambda s: X.clamp_max(s), 2.0),
    "lerp_": (lambda s: X.clone().lerp_(X + 1, s), 3.0),
    "true_divide_": (lambda s: X.clone().true_divide_(s), -1.6 / 0.16),
}


@pytest.mark.parametrize("name", LOST)
def test_zero_dimensional_operands_have_gradients(name):
    f, expected = LOST[name]
    s = scalar(0.4)
    f(s).sum().backward()
    assert s.grad.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["pow_", "float_power"])
def test_exponents_have_gradients(name):
    s = scalar(2.0)
    getattr(X.clone(), name)(s).sum().backward()
    assert s.grad.item() == pytest.approx(
        sum(v * v * math.log(v) for v in (0.2, 0.5, 0.9)), rel=1e-5
    )


def test_operators_without_a_tensor_form_refuse_such_operands():
    with pytest.raises(TypeError):
        torch.nn.functional.softplus(X, beta=scalar(2.0))


def test_values_without_gradient_at_special_points():
    x = scalar(0.0)
    x.sinc().backward()
    assert x.grad.item() == 0
    x = torch.ones(3, requires_grad=True)
    torch.dist(x, x.detach()).backward()
    assert x.grad.tolist() == [0, 0, 0]
    a, b = scalar(0.0), scalar(0.0)
    torch.atan2(a, b).backward()
    assert (a.grad.item(), b.grad.item()) == (0, 0)


def test_ties_of_limits():
    """The value has the gradient, not the limit that is its equal."""
    x, low = scalar(1.0), scalar(1.0)
    x.clamp(low, torch.tensor(2.0)).backward()
    assert (x.grad.item(), low.grad.item()) == (1, 0)


def test_nan_passes_to_both():
    a, b = scalar(math.nan), scalar(1.0)
    torch.maximum(a, b).backward()
    assert (a.grad.item(), b.grad.item()) == (1, 1)


def test_extremes_without_self_count_it_where_it_is_equal():
    x = torch.tensor([2.0, 1.0], requires_grad=True)
    src = torch.tensor([2.0, 1.0], requires_grad=True)
    at = torch.tensor([0, 0])
    x.scatter_reduce(0, at, src, "amax", include_self=False)[0].backward()
    assert x.grad.tolist() == [0, 0]
    assert src.grad.tolist() == [0.5, 0]


Z = [0.3 + 0.7j, -0.2 + 0.4j, 0.9 - 0.5j, -0.6 - 0.1j]


def z(*shape):
    count = math.prod(shape)
    values = [Z[i % 4] * (1 + i / 7) for i in range(count)]
    return torch.tensor(values, dtype=torch.complex128).reshape(shape)


def _positive(m):
    return m @ m.mH + torch.eye(2, dtype=torch.complex128)


F = torch.nn.functional
COMPLEX = {
    "conv1d": (F.conv1d, [z(1, 2, 5), z(3, 2, 2)]),
    "conv2d": (F.conv2d, [z(1, 1, 3, 3), z(2, 1, 2, 2)]),
    "conv_transpose1d": (F.conv_transpose1d, [z(1, 2, 3), z(2, 1, 2)]),
    "addcmul": (torch.addcmul, [z(3), z(3) * 2, z(3) + 1]),
    "addcdiv": (torch.addcdiv, [z(3), z(3) * 2, z(3) + 2]),
    "lerp": (torch.lerp, [z(3), z(3) * 2, z(3) + 1]),
    "sgn": (torch.sgn, [z(4)]),
    "angle": (torch.angle, [z(4)]),
    "cholesky": (lambda m: torch.linalg.cholesky(_positive(m)), [z(2, 2)]),
    "slogdet": (lambda m: torch.linalg.slogdet(m)[0], [z(2, 2)]),
    "rms_norm": (lambda x: F.rms_norm(x, (4,), eps=0.5), [z(4)]),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_gradients(name):
    """Against differences along both parts of every element."""
    f, inputs = COMPLEX[name]
    asked = [t.clone().requires_grad_() for t in inputs]
    weights = None

    def loss(tensors):
        nonlocal weights
        out = f(*tensors)
        if weights is None:
            n = torch.arange(float(out.numel())).double().reshape(out.shape)
            weights = (n * 0.7 + 1).to(out.dtype)
            if out.is_complex():
                weights = weights * (1 - 0.5j)
        product = out * weights
        return (product.real if product.is_complex() else product).sum()

    grads = torch.autograd.grad(loss(asked), asked)
    step = 1e-6
    for i, grad in enumerate(grads):
        for j in range(inputs[i].numel()):
            for part in (1, 1j):
                ends = []
                for sign in (step, -step):
                    moved = [t.clone() for t in inputs]
                    moved[i].view(-1)[j] += sign * part
                    ends.append(loss(moved).item())
                slope = (ends[0] - ends[1]) / (2 * step)
                found = grad.reshape(-1)[j].item()
                found = found.real if part == 1 else found.imag
                assert found == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_draws_and_constants_require_grad():
    mean, std = torch.zeros(3, requires_grad=True), torch.ones(3)
    std.requires_grad_()
    torch.normal(mean, std).sum().backward()
    assert mean.grad.tolist() == std.grad.tolist() == [0, 0, 0]
    m = torch.eye(2, requires_grad=True)
    m.matrix_power(0).sum().backward()
    assert m.grad.tolist() == [[0, 0], [0, 0]]
    assert torch.linalg.slogdet(m)[0].requires_grad


def test_complex_results_are_no_starting_points():
    x = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for real scalar outputs but"):
        x.sum().backward()


def test_acosh_left_of_its_cut(hotaru):
    """The root of (x - 1)(x + 1) is not the product of both roots there."""
    points = [-2.375 + 0j, 2.0 + 0j, -1.75 + 0j, -1.75 - 2j]
    x = hotaru.tensor(points, dtype=hotaru.complex128, requires_grad=True)
    hotaru.acosh(x).real.sum().backward()
    wanted = [
        -0.46420708254852755,
        0.5773502691896258,
        -0.6963106238227914,
        -0.22467024991236050 - 0.2953029957394331j,
    ]
    for got, want in zip(x.grad.tolist(), wanted):
        assert got == pytest.approx(want, rel=1e-12)


def test_products_with_two_zeros_have_no_gradient(hotaru):
    x = hotaru.tensor([2.0, 0.0, 0.0, float("inf")], requires_grad=True)
    x.prod().backward()
    assert x.grad.tolist() == [0, 0, 0, 0]
    x = hotaru.tensor([2.0, 0.0, 3.0], requires_grad=True)
    x.prod().backward()
    assert x.grad.tolist() == [0, 6, 0]


def test_polar_by_radii_of_any_sign(hotaru):
    radius = hotaru.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    angle = hotaru.ones(3, requires_grad=True)
    z = hotaru.polar(radius, angle)
    (z.real * hotaru.tensor([1.0, 2, 3]) + z.imag).sum().backward()
    wanted = [1.3817732, 1.9220756, 2.4623778], [0.6023368, 0, -5.9523411]
    for leaf, numbers in zip((radius, angle), wanted):
        assert leaf.grad.tolist() == pytest.approx(numbers, rel=1e-5)


def test_powers_by_the_smallest_integer(hotaru):
    x = hotaru.tensor([1.0, 2.0], requires_grad=True)
    (x ** -(2**63)).sum().backward()
    assert x.grad[1] == 0
    assert (hotaru.tensor([5]) - hotaru.tensor([3])).tolist() == [2]
    y = hotaru.tensor([1]).sub(hotaru.tensor([1]), alpha=-(2**63))
    assert y.tolist() == [1 - 2**63]
    z = hotaru.tensor([0]).addcmul(
        hotaru.tensor([-(2**63)]), hotaru.tensor([1]), value=-1
    )
    assert z.tolist() == [-(2**63)]


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_hypot_where_squares_leave_the_dtype(scale):
    x = torch.tensor(3 * scale, requires_grad=True)
    y = torch.tensor(4 * scale, requires_grad=True)
    torch.hypot(x, y).backward()
    assert x.grad.item() == pytest.approx(0.6)
    assert y.grad.item() == pytest.approx(0.8)


def test_heaviside_has_no_derivative():
    x = torch.rand(3, requires_grad=True)
    y = torch.heaviside(x, x)
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="derivative for aten::heaviside"):
        y.sum().backward()
