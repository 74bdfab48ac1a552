"""LSTM layers in one piece: float32 and bfloat16 against float64's steps."""

from __future__ import annotations

import pytest


def results(torch, module, x, state, cast=None):
    """Output, last states and all gradients."""
    leaves = [t.clone().requires_grad_() for t in (x, *state)]
    module.zero_grad()
    with torch.autocast(
        "cpu", dtype=cast or torch.bfloat16, enabled=bool(cast)
    ):
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
    got = results(
        torch, module, x.to(taken), [s.to(taken) for s in state], cast
    )
    wanted = results(torch, exact, x.double(), [s.double() for s in state])
    assert [t.dtype for t in got[:3]] == [low] * 3
    assert {t.dtype for t in got[3:]} == {taken}
    # Rounded at every step, of which each passes on what came before.
    limit = 2e-6 if low == torch.float32 else 2.0**-8 * steps / 2
    for one, other in zip(got, wanted):
        error = (one.double() - other).abs().max() / other.abs().max()
        assert error.item() < limit


def test_second_derivatives_are_an_error(hotaru):
    torch = hotaru
    module = torch.nn.LSTM(4, 8).bfloat16()
    y, _ = module(torch.randn(3, 2, 4).bfloat16())
    with pytest.raises(RuntimeError, match="bfloat16; use float64"):
        torch.autograd.grad(
            y.float().sum(), module.weight_hh_l0, create_graph=True
        )
