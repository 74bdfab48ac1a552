"""LSTM layers in one piece: float32 and bfloat16 against float64's steps."""

from __future__ import annotations

import pytest


def results(torch, module, x, state, cast=None):
    """Output, last states and all gradients."""
    leaves = [t.clone().requires_grad_() for t in (x, *state)]
    module.zero_grad()
    with torch.autocast("cpu", dtype=cast or torch.bfloat16, enabled=bool(cast)):
        y, (h, c) = module(leaves[0], tuple(leaves[1:]))
    weights = torch.arange(y.numel()).reshape(y.shape).double().cos()
    total = (y.double() * weights).sum() + h.double().sum()
    (total + (c.double() ** 2).sum()).backward()
    parameters = [p.grad for p in module.parameters()]
    return [y, h, c, *(t.grad for t in leaves), *parameters]


@pytest.mark.parametrize("batch", [1, 3, 17])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("way", ["float32", "bfloat16", "autocast"])
def test_as_in_double(hotaru, way, both, batch):
    torch = hotaru
    torch.manual_seed(0)
    steps, inputs, hidden = 7, 12, 24
    layers = 2 * (2 if both else 1)
    exact = torch.nn.LSTM(inputs, hidden, 2, bidirectional=both).double()
    x = torch.randn(steps, batch, inputs)
    state = [torch.randn(layers, batch, hidden) for _ in range(2)]
    low = torch.float32 if way == "float32" else torch.bfloat16
    # Both start from the same numbers.
    with torch.no_grad():
        for p in exact.parameters():
            p.copy_(p.to(low))
    x, state = x.to(low), [s.to(low) for s in state]
    taken = torch.float32 if way == "autocast" else low
    module = torch.nn.LSTM(inputs, hidden, 2, bidirectional=both).to(taken)
    module.load_state_dict(exact.state_dict())
    cast = torch.bfloat16 if way == "autocast" else None
    got = results(torch, module, x.to(taken), [s.to(taken) for s in state], cast)
    wanted = results(torch, exact, x.double(), [s.double() for s in state])
    assert [t.dtype for t in got[:3]] == [low] * 3
    assert {t.dtype for t in got[3:]} == {taken}
    # Rounded at every step, of which each passes on what came before.
    limit = 2e-6 if low == torch.float32 else 2.0**-8 * steps / 2
    for one, other in zip(got, wanted):
        error = (one.double() - other).abs().max() / other.abs().max()
        assert error.item() < limit


def three_orders(torch, module, x, state):
    """Gradients, those of their squares, and again those of theirs."""
    leaves = [t.clone().requires_grad_() for t in (x, *state)]
    y, (h, c) = module(leaves[0], tuple(leaves[1:]))
    weights = torch.arange(y.numel()).reshape(y.shape).double().cos()
    total = (y.double() * weights).sum() + (h.double() ** 3).sum()
    total = total + (c.double() ** 2).sum()
    leaves += module.parameters()
    orders = []
    for _ in range(3):
        grads = torch.autograd.grad(total, leaves, create_graph=True)
        orders.append(grads)
        total = sum((g.double() ** 2).sum() for g in grads)
    return orders


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("way", ["float32", "bfloat16"])
def test_a_recorded_pass_can_be_differentiated(hotaru, way, bias, both):
    torch = hotaru
    torch.manual_seed(0)
    low = getattr(torch, way)
    exact, module = (
        torch.nn.LSTM(5, 6, 2, bias, bidirectional=both, dtype=dtype)
        for dtype in (torch.float64, low)
    )
    exact.load_state_dict(module.state_dict())
    x = torch.randn(4, 3, 5, dtype=low)
    layers = 4 if both else 2
    state = [torch.randn(layers, 3, 6, dtype=low) for _ in range(2)]
    got = three_orders(torch, module, x, state)
    wanted = three_orders(torch, exact, x.double(), [s.double() for s in state])
    limit = 5e-6 if low == torch.float32 else 2.0**-8 * 5
    for one, other in zip(sum(got, ()), sum(wanted, ())):
        assert one.dtype == low
        error = (one.double() - other).abs().max() / other.abs().max()
        assert error.item() < limit


def test_a_recorded_pass_that_nobody_differentiates(hotaru):
    """The first gradients are the same; other parts of a loss need more."""
    torch = hotaru
    torch.manual_seed(0)
    module = torch.nn.LSTM(3, 4)
    x = torch.rand(5, 2, 3, requires_grad=True)
    leaves = [x, *module.parameters()]
    first = [
        torch.autograd.grad(module(x)[0].square().sum(), leaves, **options)
        for options in ({}, {"create_graph": True})
    ]
    for fused, recorded in zip(*first):
        assert not fused.requires_grad
        assert recorded.requires_grad
        torch.testing.assert_close(fused, recorded, rtol=1e-5, atol=1e-6)


def test_tangents(hotaru):
    torch = hotaru
    torch.manual_seed(0)
    module = torch.nn.LSTM(3, 4, bidirectional=True)
    exact = torch.nn.LSTM(3, 4, bidirectional=True).double()
    exact.load_state_dict(module.state_dict())
    x, v = torch.randn(2, 5, 2, 3)

    def derivative(module, x, v):
        return torch.func.jvp(lambda x: module(x)[0], (x,), (v,))[1]

    wanted = derivative(exact, x.double(), v.double())
    torch.testing.assert_close(
        derivative(module, x, v).double(), wanted, rtol=1e-4, atol=1e-6
    )
