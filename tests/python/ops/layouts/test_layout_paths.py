"""Kernels that take another way for some layouts give what the plain way does:
narrow joins, flips of transposed tensors, scans of several lines, copies of
short lines, gathers along the last dimension, softmax down the columns.
"""

from __future__ import annotations

import numpy as np
import pytest

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int16", "bool"]


def numbers(hotaru, shape, dtype="float32"):
    """Small whole numbers, which every dtype holds, unlike their neighbours."""
    count = int(np.prod(shape))
    values = (hotaru.arange(count) * 37 % 11 - 5).reshape(shape)
    return values.to(getattr(hotaru, dtype))


def same(a, b):
    np.testing.assert_array_equal(a.double().numpy(), b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("widths", [(1, 1), (2, 3, 1), (5, 0, 2), (1, 40)])
def test_narrow_parts_are_joined(hotaru, dtype, widths):
    parts = [numbers(hotaru, (301, w), dtype) for w in widths]
    want = np.concatenate([p.double().numpy() for p in parts], 1)
    same(hotaru.cat(parts, 1), want)


def test_pairs_are_stacked_and_their_gradients_parted(hotaru):
    a = numbers(hotaru, (70, 33)).requires_grad_()
    b = (a.detach() + 20).requires_grad_()
    out = hotaru.stack([a, b], 2)
    same(out.detach(), np.stack([a.detach().numpy(), b.detach().numpy()], 2))
    g = numbers(hotaru, (70, 33, 2))
    out.backward(g)
    same(a.grad, g[..., 0].numpy())
    same(b.grad, g[..., 1].numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_flips_of_any_order(hotaru, dtype, dims, order):
    x = numbers(hotaru, (7, 9, 34), dtype).permute(order)
    same(hotaru.flip(x, dims), np.flip(x.double().numpy(), dims))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(4, 9), (5, 1), (11, 70), (3, 6, 130)])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans_of_several_lines(hotaru, dtype, shape, name):
    x = 1 + numbers(hotaru, shape, dtype) / 64
    run = getattr(np, name)
    for t in (x, x.transpose(0, -1)):
        for dim in range(len(shape)):
            got = getattr(t, name)(dim).double().numpy()
            want = run(t.double().numpy(), dim)
            bound = 1e-5 if dtype == "float32" else 1e-12
            np.testing.assert_allclose(got, want, rtol=bound)
            inside = t.clone()
            getattr(inside, name + "_")(dim)
            same(inside, got)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("line", [5, 6, 7, 9, 15, 17, 31, 33, 63, 65, 127])
def test_copies_of_short_lines(hotaru, dtype, line):
    x = numbers(hotaru, (60, line + 3), dtype)[:, 1 : line + 1]
    same(x.contiguous(), x.double().numpy())
    windows = numbers(hotaru, (400,), dtype).unfold(0, line, 2)
    same(windows.contiguous(), windows.double().numpy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_gathers_along_the_last_dimension(hotaru, dtype):
    x = numbers(hotaru, (13, 50), dtype)
    index = numbers(hotaru, (77,), "int64") % 50
    want = x.double().numpy()[:, index.numpy()]
    same(x.index_select(1, index), want)
    same(x.t().index_select(1, index % 13), want_t(x, index % 13))
    out = hotaru.zeros(13, 50, dtype=x.dtype)
    if dtype not in ("bool",):
        total = np.zeros((13, 50))
        np.add.at(total, (slice(None), index.numpy()), want)
        same(out.index_add(1, index, x.index_select(1, index)), total)


def want_t(x, index):
    return x.double().numpy().T[:, index.numpy()]


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(5, 4), (9, 67), (3, 6, 130), (7, 3)])
def test_softmax_down_the_columns_backward(hotaru, name, shape):
    x = (numbers(hotaru, shape) / 4).requires_grad_()
    g = numbers(hotaru, shape[::-1]).permute(*range(len(shape))[::-1]) / 3
    got = hotaru.autograd.grad(getattr(x, name)(0), x, g)[0]
    turned = x.detach().transpose(0, -1).contiguous().requires_grad_()
    out = getattr(turned, name)(-1)
    want = hotaru.autograd.grad(out, turned, g.transpose(0, -1).contiguous())[0]
    np.testing.assert_allclose(
        got.numpy(), want.transpose(0, -1).numpy(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_gradients_of_bags(hotaru, mode, dtype):
    weight = numbers(hotaru, (10, 37), dtype).requires_grad_()
    ids, offsets = numbers(hotaru, (40,), "int64") % 10, [0, 3, 3, 17]
    out = hotaru.nn.functional.embedding_bag(
        ids, weight, hotaru.tensor(offsets), mode=mode
    )
    g = numbers(hotaru, (4, 37), dtype)
    out.backward(g)
    want = np.zeros((10, 37))
    for bag, (a, b) in enumerate(zip(offsets, [*offsets[1:], 40])):
        for i in range(a, b):
            scale = b - a if mode == "mean" else 1
            want[ids[i].item()] += g[bag].double().numpy() / scale
    bound = 0.05 if dtype == "bfloat16" else 1e-5
    np.testing.assert_allclose(
        weight.grad.double().numpy(), want, rtol=bound, atol=20 * bound
    )


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("align", [True, False])
def test_grid_sample_by_runs(hotaru, mode, align):
    """Runs of 64 points and what is left over, some of them outside, beside
    double, which has no code for vectors.
    """
    generator = hotaru.Generator().manual_seed(1)
    x = hotaru.randn(2, 9, 11, 13, generator=generator)
    grid = hotaru.randn(2, 7, 21, 2, generator=generator) * 0.8
    found = []
    for t, at in ((x, grid), (x.double(), grid.double())):
        t, at = t.requires_grad_(), at.requires_grad_()
        out = hotaru.nn.functional.grid_sample(t, at, mode, align_corners=align)
        grads = hotaru.autograd.grad(out.square().sum(), (t, at))
        found.append([out.detach(), *grads])
    for single, double in zip(*found):
        np.testing.assert_allclose(single.numpy(), double.numpy(), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("name", ["exp", "log2", "log10", "sqrt"])
def test_elementary_functions_within_three_units(hotaru, name):
    x = hotaru.linspace(-80, 80, 100003) if name == "exp" else None
    if x is None:
        x = hotaru.logspace(-37.5, 38, 100003)
    got = getattr(hotaru, name)(x).double().numpy()
    want = getattr(np, name)(x.double().numpy())
    unit = np.spacing(np.abs(want).astype(np.float32)).astype(np.float64)
    assert (np.abs(got - want) / unit).max() <= (0.5 if name == "sqrt" else 3)


def test_elementary_functions_at_the_ends(hotaru):
    inf, nan = hotaru.inf, hotaru.nan
    tens = hotaru.tensor([1e1, 1e3, 1e10, 1e38, 0.0, inf])
    assert hotaru.log10(tens).tolist() == [1, 3, 10, 38, -inf, inf]
    twos = hotaru.tensor([2.0**-149, 2.0**-126, 2.0, 2.0**127, 0.0, inf])
    assert hotaru.log2(twos).tolist() == [-149, -126, 1, 127, -inf, inf]
    assert hotaru.exp(hotaru.tensor([-inf, inf, -120.0])).tolist() == [0, inf, 0]
    assert hotaru.sqrt(hotaru.tensor([0.0, inf, 2.0**-148])).tolist() == [
        0,
        inf,
        2.0**-74,
    ]
    F = hotaru.nn.functional
    assert F.logsigmoid(hotaru.tensor([inf, -inf])).tolist() == [0, -inf]
    assert F.softplus(hotaru.tensor([inf, -inf])).tolist() == [inf, 0]
    bad = hotaru.tensor([nan, -1.0] * 9)
    for f in (hotaru.log10, hotaru.log2, hotaru.sqrt):
        assert f(bad).isnan().all()
    for f in (hotaru.exp, F.logsigmoid, F.softplus):
        assert f(bad).isnan().tolist() == [True, False] * 9


@pytest.mark.parametrize("base", [0.0, 2.0, 0.5])
def test_gradient_of_a_number_to_the_power_of_a_tensor(hotaru, base):
    x = hotaru.tensor([-1.5, 0.0, 2.0], dtype=hotaru.float64)
    x.requires_grad_()
    (base**x).sum().backward()
    with np.errstate(all="ignore"):
        slope = np.log(base) * base ** x.detach().numpy()
    if base == 0:
        slope[1:] = 0  # where the exponent is not negative
    np.testing.assert_allclose(x.grad.numpy(), slope)


def test_clamp_in_place_promotes_as_clamp(hotaru):
    x = numbers(hotaru, (5,))
    same(x.clone().clamp_(-1, 1), x.clamp(-1, 1).numpy())
    y = x.clone().requires_grad_()
    z = y * 1
    z.clamp_(-1, 1)
    z.sum().backward()
    same(y.grad, ((x >= -1) & (x <= 1)).double().numpy())
    whole = numbers(hotaru, (5,), "int64")
    with pytest.raises(RuntimeError, match="can't be cast"):
        whole.clamp_(0.5, 1.5)
    assert x.clamp_(max=hotaru.nan).isnan().all()


def test_gradient_of_complex_magnitudes(hotaru):
    z = hotaru.tensor([3 + 4j, 0j, 0j, -2j], dtype=hotaru.complex128)
    z.requires_grad_()
    g = hotaru.tensor([1.0, 2.0, hotaru.nan, -3.0], dtype=hotaru.float64)
    z.abs().backward(g)
    found = z.grad.numpy()
    assert np.isnan(found[2])  # as zero times NaN is
    np.testing.assert_allclose(found[[0, 1, 3]], [0.6 + 0.8j, 0, 3j])
