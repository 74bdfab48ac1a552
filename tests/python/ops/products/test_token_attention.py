"""Attention of one token, which reads keys and values as they lie."""

import math

import pytest
from hotaru.nn import functional as F

import hotaru as torch

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
# Sums of floats, and one rounding of the result.
LIMITS = {torch.float32: 2.0**-18, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-10}


def reference(q, k, v, mask=None, scale=None):
    """In float64, by the formula."""
    q, k, v = q.double(), k.double(), v.double()
    if k.dim() > 2 and k.size(-3) != q.size(-3):
        each = q.size(-3) // k.size(-3)
        k, v = (t.repeat_interleave(each, -3) for t in (k, v))
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.size(-1)))
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -math.inf)
    elif mask is not None:
        scores = scores + mask.double()
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights @ v


def check(q, k, v, mask=None, **options):
    got = F.scaled_dot_product_attention(q, k, v, mask, **options)
    want = reference(q, k, v, mask, options.get("scale"))
    assert got.dtype == q.dtype
    assert got.shape == want.shape
    limit = LIMITS[q.dtype]
    assert torch.allclose(got.double(), want, rtol=limit, atol=limit)
    return got


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 3, 16, 40, 64, 80, 128])
def test_sizes_of_heads_and_caches(dtype, size):
    torch.manual_seed(size)
    for length in (1, 2, 3, 4, 7, 130):
        q = torch.randn(2, 3, 1, size).to(dtype)
        k = torch.randn(2, 3, length, size).to(dtype)
        v = torch.randn(2, 3, length, size + 5 if size < 100 else 7).to(dtype)
        check(q, k, v)
        check(q, k, v, scale=0.3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks(dtype):
    q = torch.randn(2, 4, 1, 32).to(dtype)
    k, v = torch.randn(2, 2, 4, 50, 32).to(dtype).unbind(0)
    seen = torch.arange(50) <= 20
    holes = torch.rand(2, 4, 1, 50) > 0.4
    nothing = torch.zeros(50, dtype=torch.bool)
    for mask in (seen, holes, seen[None], holes[:, :1]):
        check(q, k, v, mask)
        floats = torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
        check(q, k, v, floats)
        check(q, k, v, (floats + 0.5).to(dtype))
    zeros = torch.zeros(q.shape, dtype=dtype)
    for mask in (nothing, torch.full((50,), -math.inf)):
        got = F.scaled_dot_product_attention(q, k, v, mask)
        assert torch.equal(got, zeros)


def test_hidden_keys_are_not_read():
    q, k, v = torch.randn(3, 1, 2, 1, 16).unbind(0)
    k, v = (t.expand(1, 2, 9, 16).clone() for t in (k, v))
    mask = torch.arange(9) < 4
    want = F.scaled_dot_product_attention(q, k, v, mask)
    k[:, :, 4:] = v[:, :, 4:] = math.nan
    assert torch.equal(F.scaled_dot_product_attention(q, k, v, mask), want)


def test_shared_heads_strides_and_fewer_dimensions():
    q = torch.randn(2, 8, 1, 24)
    k, v = torch.randn(2, 2, 2, 33, 24).unbind(0)
    check(q, k, v, enable_gqa=True)
    inside = torch.randn(2, 33, 2, 24).transpose(1, 2)  # heads within rows
    got = check(q, inside, v, enable_gqa=True)
    assert torch.equal(
        got, F.scaled_dot_product_attention(q, inside.contiguous(), v, enable_gqa=True)
    )
    check(q[0], k[0].repeat_interleave(4, 0), v[0].repeat_interleave(4, 0))
    check(q[0, 0], k[0, 0], v[0, 0])
    apart = torch.randn(2, 2, 24, 33).transpose(2, 3)  # no rows in one piece
    check(q, apart, v, enable_gqa=True)


def test_threads_streams_and_gradients():
    q = torch.randn(1, 16, 1, 64)
    k, v = torch.randn(2, 1, 16, 300, 64).unbind(0)
    want, saved = check(q, k, v), torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            assert torch.equal(F.scaled_dot_product_attention(q, k, v), want)
    finally:
        torch.set_num_threads(saved)
    with torch.cpu.stream(torch.cpu.Stream()):
        queued = F.scaled_dot_product_attention(q, k, v)
    torch.cpu.synchronize()
    assert torch.equal(queued, want)
    q.requires_grad_()
    made = F.scaled_dot_product_attention(q, k, v)
    assert torch.allclose(made, want, rtol=1e-5, atol=1e-5)
    made.sum().backward()
    assert q.grad.abs().sum() > 0
