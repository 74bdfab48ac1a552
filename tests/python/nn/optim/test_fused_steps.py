"""One kernel for the steps of many parameters gives what operators one by one
give.
"""

from __future__ import annotations

import pytest

CASES = {
    "Adam": [
        {},
        {"amsgrad": True, "weight_decay": 0.1},
        {"betas": (0.0, 0.9), "maximize": True},
        {"lr": "tensor"},
    ],
    "AdamW": [{"amsgrad": True}, {"betas": (0.4, 0.9), "maximize": True}],
    "SGD": [
        {},
        {"momentum": 0.9, "weight_decay": 0.1},
        {"momentum": 0.9, "dampening": 0.3, "maximize": True},
        {"momentum": 0.9, "nesterov": True, "lr": "tensor"},
    ],
    "Adagrad": [{"lr_decay": 0.1, "weight_decay": 0.01}],
}
LISTED = [(name, case) for name, cases in CASES.items() for case in cases]
# More tensors than a launch takes, one of more stretches than it has blocks.
SHAPES = [(3, 4), (), (0,), (2, 3, 4, 5), (9001,)] + [(k,) for k in range(40)]


def wave(torch, shape, shift):
    numbers = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return (numbers * 0.37 + shift).sin().reshape(shape)


def parameters(torch, dtype, device):
    values = []
    for i, shape in enumerate(SHAPES):
        x = wave(torch, shape, i).to(dtype).to(device)
        if len(shape) == 4:
            x = x.to(memory_format=torch.channels_last)
        if shape == (3, 4):
            x = x.repeat_interleave(2, 0)[::2]  # with gaps
        values.append(x.requires_grad_())
    return values


def after_steps(torch, name, options, dtype, device, **how):
    values = parameters(torch, dtype, device)
    options = {"lr": 0.05, **options}
    if options["lr"] == "tensor":
        options["lr"] = torch.tensor(0.05)
    optimizer = getattr(torch.optim, name)(values, **options, **how)
    for k in range(3):
        for i, x in enumerate(values):
            x.grad = wave(torch, x.shape, k + i).to(dtype).to(device)
        versions = [x._version for x in values]
        optimizer.step()
        for x, before in zip(values, versions):
            assert x._version > before or x.numel() == 0
    states = [s for state in optimizer.state.values() for s in state.values()]
    return [x.detach().cpu().double() for x in [*values, *states]]


@pytest.mark.parametrize(("name", "options"), LISTED)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_as_one_by_one(hotaru, name, options, dtype):
    dtype = getattr(hotaru, dtype)
    near = {"rtol": 1e-12, "atol": 1e-12}
    if dtype == hotaru.float32:  # three steps of a rounding or two
        near = {"rtol": 1e-5, "atol": 1e-6}
    one = after_steps(hotaru, name, options, dtype, "cpu", fused=True)
    each = after_steps(hotaru, name, options, dtype, "cpu", fused=False)
    for a, b in zip(one, each, strict=True):
        hotaru.testing.assert_close(a, b, **near)


@pytest.mark.parametrize(("name", "options"), LISTED)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_short_floats_are_computed_wide(hotaru, name, options, dtype):
    """A step rounds once, so three differ from wide ones by three roundings of
    the largest value that is kept.
    """
    dtype = getattr(hotaru, dtype)
    short = after_steps(hotaru, name, options, dtype, "cpu", fused=True)
    wide = after_steps(hotaru, name, options, hotaru.float64, "cpu", fused=True)
    for a, b in zip(short, wide, strict=True):
        if b.dim() or b.numel() == 0:
            scale = max(1.0, b.abs().amax().item()) if b.numel() else 1.0
            bound = 8 * hotaru.finfo(dtype).eps * scale
            hotaru.testing.assert_close(a, b, rtol=0, atol=bound)


def test_scale_and_what_is_not_finite(hotaru):
    torch = hotaru
    for found in (0.0, 1.0):
        x = torch.ones(5).requires_grad_()
        optimizer = torch.optim.Adam([x], lr=0.1, fused=True)
        x.grad = torch.full((5,), 8.0)
        optimizer.grad_scale = torch.tensor(4.0)
        optimizer.found_inf = torch.tensor(found)
        optimizer.step()
        assert optimizer.state[x]["step"].item() == 1 - found
        if found:
            assert x.tolist() == [1.0] * 5
            assert x.grad.tolist() == [8.0] * 5
        else:
            torch.testing.assert_close(x.detach(), torch.full((5,), 0.9))
            assert x.grad.tolist() == [2.0] * 5


def test_complex_parameters_are_pairs(hotaru):
    torch = hotaru
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    pairs = torch.view_as_real(z.detach()).clone().requires_grad_()
    for x in (z, pairs):
        x.grad = torch.ones_like(x) * 0.5
        if x is z:
            x.grad = torch.view_as_complex(torch.full((2, 2), 0.5))
    # PyTorch refuses `fused` for complex parameters; the operators take pairs.
    torch.optim.Adam([z], lr=0.1).step()
    torch.optim.Adam([pairs], lr=0.1, fused=True).step()
    torch.testing.assert_close(torch.view_as_real(z.detach()), pairs.detach())


def test_lists_that_do_not_go_together(hotaru):
    torch = hotaru
    one, two = [torch.ones(2)], [torch.ones(2), torch.ones(2)]
    with pytest.raises(RuntimeError, match="same number of tensors, got 1 and"):
        torch._fused_adagrad_(
            one,
            two,
            one,
            one,
            lr=1.0,
            lr_decay=0.0,
            weight_decay=0.0,
            eps=0.0,
            maximize=False,
        )
    with pytest.raises(RuntimeError, match="same dtype, device and sizes"):
        torch._fused_adagrad_(
            one,
            [torch.ones(3)],
            one,
            [torch.ones(())],
            lr=1.0,
            lr_decay=0.0,
            weight_decay=0.0,
            eps=0.0,
            maximize=False,
        )


def test_queued_and_replayed(hotaru):
    """The same bits from a stream of its own."""
    torch = hotaru
    wanted = after_steps(torch, "Adam", {}, torch.float32, "cpu", fused=True)
    with torch.Stream(device="cpu") as stream:
        queued = after_steps(torch, "Adam", {}, torch.float32, "cpu", fused=True)
    stream.synchronize()
    for a, b in zip(queued, wanted, strict=True):
        assert torch.equal(a, b)


@pytest.mark.filterwarnings("ignore:optimizer contains a parameter group")
def test_a_parameter_twice(hotaru):
    """It is stepped twice, the second time from where the first one left it."""
    torch, found = hotaru, []
    for fused in (False, True):
        x = torch.ones(1).requires_grad_()
        x.grad = torch.ones(1)
        optimizer = torch.optim.Adam([x, x], lr=0.25, fused=fused)
        optimizer.step()
        assert optimizer.state[x]["step"].item() == 2
        found.append(x.item())
    assert found[0] == found[1] == pytest.approx(0.5)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("fused", [None, True])
def test_a_group_without_parameters(hotaru, name, fused):
    x = hotaru.ones(1).requires_grad_()
    x.grad = hotaru.ones(1)
    groups = [{"params": []}, {"params": [x]}]
    optimizer = getattr(hotaru.optim, name)(groups, lr=0.5, fused=fused)
    optimizer.step()
    assert x.item() == pytest.approx(0.5, abs=0.01)
