"""Fused attention beside products and a softmax in double on the CPU."""

from __future__ import annotations

import math

import pytest
from attention_bounds import Bounds

import hotaru as torch

attention = torch.nn.functional.scaled_dot_product_attention
FUSED = "ScaledDotProductFlashAttentionBackward0"
DTYPES = ("float32", "float16", "bfloat16")


def random(*shape, dtype="float32", seed=0):
    torch.manual_seed(seed)
    return torch.randn(shape).to(getattr(torch, dtype))


def operands(batch, heads, groups, queries, keys, width, values, dtype):
    """Query, key, value and the gradient of out."""
    return [
        random(batch, heads, queries, width, dtype=dtype, seed=1),
        random(batch, groups, keys, width, dtype=dtype, seed=2),
        random(batch, groups, keys, values, dtype=dtype, seed=3),
        random(batch, heads, queries, values, dtype=dtype, seed=4),
    ]


def run(tensors, grad, mask, **options):
    leaves = [x.detach().requires_grad_() for x in tensors]
    out = attention(*leaves, mask, **options)
    return out, torch.autograd.grad(out, leaves, grad)


def compare(cuda, tensors, mask=None, scale=None, causal=False, place=lambda x: x):
    """The kernels' results are near those in double; gives the former. `place`
    is where operands lie on the device.
    """
    *qkv, g = tensors
    options = {
        "scale": scale,
        "is_causal": causal,
        "enable_gqa": qkv[0].shape[1] != qkv[1].shape[1],
    }
    on_device = None if mask is None else mask.to(cuda)
    out, grads = run([place(x.to(cuda)) for x in qkv], g.to(cuda), on_device, **options)
    assert out.grad_fn.name() == FUSED
    assert {x.dtype for x in (out, *grads)} == {g.dtype}

    wide = [x.double() for x in tensors]
    is_bool = mask is not None and mask.dtype == torch.bool
    wide_mask = mask if mask is None or is_bool else mask.double()
    want, want_grads = run(wide[:3], wide[3], wide_mask, **options)
    added = wide_mask
    if is_bool:
        added = torch.zeros(mask.shape).double().masked_fill(~mask, -math.inf)
    if causal:
        added = torch.full((g.shape[2], qkv[1].shape[2]), -math.inf)
        added = added.double().triu(1)
    scale = scale or 1 / math.sqrt(max(qkv[0].shape[3], 1))
    bounds = Bounds(torch, wide, added, scale, g.dtype)
    bounds.check([out, *grads], [want, *want_grads])
    return [out, *grads]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("width", "values"),
    [(1, 1), (8, 8), (31, 32), (33, 20), (64, 64), (65, 128), (128, 3)],
)
def test_widths(cuda, dtype, width, values):
    compare(cuda, operands(2, 3, 3, 70, 75, width, values, dtype))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys"),
    [
        (1, 1),
        (1, 200),
        (200, 1),
        (31, 33),
        (64, 64),
        (65, 63),
        (63, 129),
        (130, 65),
        (128, 160),
        (129, 257),
    ],
)
def test_lengths(cuda, causal, queries, keys, dtype):
    compare(cuda, operands(1, 2, 2, queries, keys, 16, 24, dtype), causal=causal)


@pytest.mark.parametrize("dtype", DTYPES)
def test_causal_rows_see_no_later_key(cuda, dtype):
    q, k, v, g = operands(1, 1, 1, 80, 80, 16, 16, dtype)
    before = compare(cuda, [q, k, v, g], causal=True)[0]
    k[:, :, 70:], v[:, :, 70:] = 7, math.inf
    after = attention(*(x.to(cuda) for x in (q, k, v)), is_causal=True)
    assert after[:, :, :64].equal(before[:, :, :64])


@pytest.mark.parametrize("kind", ["bool", "own", "float"])
@pytest.mark.parametrize(
    "shape",
    [
        (),
        (75,),
        (70, 75),
        (70, 1),
        (1, 75),
        (2, 1, 70, 75),
        (1, 4, 70, 75),
        (4, 1, 1),
        (2, 4, 70, 75),
        (2, 1, 1, 75),
    ],
)
def test_masks(cuda, kind, shape):
    dtype = "float32" if kind == "bool" else "bfloat16"
    mask = random(*shape, seed=5)
    if kind == "bool":
        mask = mask > -1
    elif kind == "own":
        mask = mask.bfloat16()
    compare(cuda, operands(2, 4, 4, 70, 75, 24, 24, dtype), mask)


def test_masks_of_odd_strides(cuda):
    tensors = operands(1, 2, 2, 40, 30, 8, 8, "float32")
    mask = random(30, 2, 80, seed=5)[:, :, ::2].permute(1, 2, 0)
    compare(cuda, tensors, mask)
    compare(cuda, tensors, mask > 0)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_grouped_heads(cuda, groups, causal, dtype):
    tensors = operands(2, 6, groups, 50, 140, 16, 8, dtype)
    compare(cuda, tensors, causal=causal)
    if not causal:
        compare(cuda, tensors, random(6, 50, 140, seed=5))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("scale", [0.01, 3.0, -0.5])
def test_scale(cuda, scale, dtype):
    tensors = operands(1, 2, 2, 30, 70, 16, 16, dtype)
    *qkv, g = (x.to(cuda) for x in tensors)
    out, grads = run(qkv, g, None, scale=scale)
    want, want_grads = run(
        [x.double() for x in tensors[:3]], tensors[3].double(), None, scale=scale
    )
    tensors[0] = tensors[0] * math.copysign(1, scale)
    wide = [x.double() for x in tensors]
    bounds = Bounds(torch, wide, None, abs(scale), g.dtype)
    bounds.check([out, *grads], [want, *want_grads])


@pytest.mark.parametrize("dtype", DTYPES)
def test_large_scores(cuda, dtype):
    """Sizes of 1e4, of either sign: exp() of them alone would be no number."""
    q, k, v, g = operands(1, 2, 2, 70, 130, 16, 16, "float32")
    for sign in (1, -1):
        q = (sign * q.abs() * 200).to(getattr(torch, dtype))
        k = (k.abs() * 200).to(getattr(torch, dtype))
        tensors = [q, k, v.to(q.dtype), g.to(q.dtype)]
        scores = q.double() @ k.double().mT / 4
        assert float(scores.abs().max()) > 1e4
        # A score is off by about 1e-2 then, so that weights are not known to
        # many digits; but they are numbers that add up to one.
        out, *grads = compare(cuda, tensors)
        assert all(x.isfinite().all() for x in (out, *grads))
        ones = attention(q.to(cuda), k.to(cuda), torch.ones_like(tensors[2]).to(cuda))
        assert float((ones - 1).abs().max()) <= 2**-8
        q, k = q.float() / 200, k.float() / 200


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_rows_without_keys_are_zero(cuda, dtype, kind):
    q, k, v, g = operands(1, 2, 2, 70, 130, 16, 16, dtype)
    seen = random(70, 130, seed=5) > 0
    seen[3] = seen[64:68] = False
    seen[10, :129] = False  # the last one only
    seen[11, 64:] = False
    mask = seen
    if kind == "float":
        mask = torch.zeros(70, 130).masked_fill(~seen, -math.inf)
    out, dq, *_ = compare(cuda, [q, k, v, g], mask)
    for rows in (out[:, :, 3], out[:, :, 64:68], dq[:, :, 3]):
        assert not rows.any()
    seen[:] = False
    out, grads = run([x.to(cuda) for x in (q, k, v)], g.to(cuda), seen.to(cuda))
    assert not any(x.any() for x in (out, *grads))


def test_a_number_that_is_none_stays_in_its_row(cuda):
    q, k, v, _ = operands(1, 1, 1, 70, 70, 16, 16, "float32")
    q[0, 0, 5, 3] = math.nan
    out = attention(q.to(cuda), k.to(cuda), v.to(cuda))
    assert out.isnan().all(-1).nonzero().tolist() == [[0, 0, 5]]
    assert int(out.isnan().sum()) == 16


@pytest.mark.parametrize(
    "sizes",
    [
        (0, 2, 2, 5, 6, 8, 8),
        (2, 0, 0, 5, 6, 8, 8),
        (2, 2, 2, 0, 6, 8, 8),
        (2, 2, 2, 5, 0, 8, 8),
        (2, 2, 2, 5, 6, 0, 8),
        (2, 2, 2, 5, 6, 8, 0),
    ],
)
def test_empty(cuda, sizes):
    *qkv, g = operands(*sizes, "float32")
    out, grads = run([x.to(cuda) for x in qkv], g.to(cuda), None)
    want, want_grads = run(qkv, g, None)
    assert out.cpu().allclose(want)  # means of the values where there is no key
    for x, y in zip(grads, want_grads):
        assert x.cpu().allclose(y)


def moved(kind, x):
    """The same elements in other places."""
    *outer, width = x.shape
    if kind == "heads in rows":
        return x.transpose(1, 2).contiguous().transpose(1, 2)
    if kind == "columns first":
        return x.mT.contiguous().mT
    if kind == "odd offset":
        return torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape)
    if kind == "every second":
        return torch.stack([x, x], -1)[..., 0]
    return torch.cat([x, x.new_zeros(*outer, 3)], -1)[..., :width]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    "kind", ["heads in rows", "every second", "columns first", "odd offset", "odd rows"]
)
def test_strides(cuda, kind, dtype):
    tensors = operands(2, 3, 3, 40, 70, 16, 16, dtype)
    if dtype == "float16" and kind in {"odd offset", "odd rows"}:
        # Not as tensor cores want them.
        compare(cuda, tensors, place=lambda x: moved(kind, x))
        return
    *qkv, g = (x.to(cuda) for x in tensors)
    want, want_grads = run(qkv, g, None)
    qkv = [moved(kind, x) for x in qkv]
    out, grads = run(qkv, moved("heads in rows", g), None)
    assert out.equal(want)
    assert all(x.equal(y) for x, y in zip(grads, want_grads))
    # Heads can be joined without a copy where they came so.
    assert out.transpose(1, 2).is_contiguous() == (kind == "heads in rows")


def test_expanded_operands(cuda):
    q, k, v, g = operands(3, 4, 1, 20, 30, 8, 8, "float32")
    k, v = (x[:1].expand(3, 4, 30, 8) for x in (k, v))
    compare(cuda, [q, k, v, g])
    on_device = [x.to(cuda) for x in (q, k, v)]
    one = torch.ones(1, device=cuda).expand(g.shape)
    _, grads = run(on_device, one, None)
    _, want = run(on_device, one.contiguous(), None)
    assert all(x.equal(y) for x, y in zip(grads, want))


@pytest.mark.parametrize("dims", [2, 3])
def test_fewer_dimensions(cuda, dims):
    heads = 3 if dims == 3 else 1
    full = operands(1, heads, heads, 40, 50, 8, 12, "float32")
    *qkv, g = (x.to(cuda) for x in full)
    want, want_grads = run(qkv, g, None)

    def shape(x):
        return x.reshape(x.shape[4 - dims :])

    out, grads = run([shape(x) for x in qkv], shape(g), None)
    assert out.equal(shape(want))
    assert all(x.equal(shape(y)) for x, y in zip(grads, want_grads))


def test_each_gradient_alone(cuda):
    *qkv, g = (x.to(cuda) for x in operands(1, 4, 2, 40, 70, 16, 8, "float32"))
    _, want = run(qkv, g, None, enable_gqa=True)
    for i in range(3):
        given = [x.detach().requires_grad_(i == n) for n, x in enumerate(qkv)]
        out = attention(*given, enable_gqa=True)
        (grad,) = torch.autograd.grad(out, [given[i]], g)
        assert grad.equal(want[i])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_results_repeat_to_the_bit(cuda, dtype, deterministic):
    *qkv, g = (x.to(cuda) for x in operands(2, 4, 2, 130, 140, 32, 32, dtype))
    first, grads = run(qkv, g, None, enable_gqa=True)
    for _ in range(3):
        again, more = run(qkv, g, None, enable_gqa=True)
        assert again.equal(first)
        assert all(x.equal(y) for x, y in zip(more, grads))


def test_gradients_of_gradients(cuda):
    """By products: near those in double, as all sums here are short."""

    def second(device, dtype):
        q, k, v, g = operands(1, 4, 2, 9, 7, 8, 8, "float32")
        given = [x.to(device, dtype).requires_grad_() for x in (q, k, v)]
        mask = random(9, 7, seed=5).to(device, dtype)
        out = attention(*given, mask, enable_gqa=True)
        grads = torch.autograd.grad(out, given, g.to(device, dtype), create_graph=True)
        return torch.autograd.grad(sum((x**2).sum() for x in grads), given)

    for got, want in zip(second(cuda, torch.float32), second("cpu", torch.float64)):
        size = float(want.abs().max())
        assert float((got.cpu() - want).abs().max()) <= 1e-5 * size


def test_tangents(cuda):
    def tangent(device, dtype):
        q, k, v, _ = operands(1, 2, 2, 9, 7, 8, 8, "float32")
        given = tuple(x.to(device, dtype) for x in (q, k, v))
        moves = tuple(x.sin() for x in given)
        return torch.func.jvp(lambda *x: attention(*x, is_causal=True), given, moves)[1]

    got, want = tangent(cuda, torch.float32), tangent("cpu", torch.float64)
    assert float((got.cpu() - want).abs().max()) <= 1e-5


def peak(cuda, length):
    """Bytes that a step over so many rows takes beyond its operands."""
    *qkv, g = (x.to(cuda) for x in operands(1, 1, 1, length, length, 8, 8, "float16"))
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run(qkv, g, None)
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def test_memory_grows_with_the_length(cuda):
    peak(cuda, 64)
    short, long = peak(cuda, 512), peak(cuda, 2048)
    assert long <= 4 * short
    # Scores alone would be 16 bytes an element of a row's result.
    assert long < 2048 * 2048


def test_on_another_device(two_devices):
    """Launches with more than 48 KiB of shared memory are asked for there."""
    tensors = operands(1, 2, 2, 70, 75, 128, 128, "float32")
    for index in (1, 0):
        compare(torch.device("cuda", index), tensors)
