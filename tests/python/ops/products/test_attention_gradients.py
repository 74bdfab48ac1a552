"""Attention of many scores, of which none are kept for the gradient."""

from __future__ import annotations

import pytest

KINDS = ["none", "causal", "which", "added", "rows without a key"]


def mask_of(torch, kind, rows, keys, batch):
    if kind == "which":
        return torch.rand(rows, keys) > 0.4
    if kind == "rows without a key":
        which = torch.rand(rows, keys) > 0.4
        which[3] = which[rows - 1] = False
        return which
    return torch.randn(batch, 1, rows, keys) if kind == "added" else None


# Rows that are one block and several, keys fewer and more, shared heads.
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("low", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        (2, 3, 3, 128, 140, 16, 24),
        (1, 4, 2, 300, 257, 33, 16),
        (2, 2, 1, 131, 1100, 64, 64),
    ],
)
def test_as_in_double(hotaru, shape, low, kind):
    torch = hotaru
    torch.manual_seed(0)
    batch, heads, shared, rows, keys, width, out = shape
    dtype = torch.bfloat16 if low else torch.float32
    # Heads inside of rows, as layers have them.
    query = torch.randn(batch, rows, heads, width).transpose(1, 2).to(dtype)
    key = torch.randn(batch, shared, keys, width).to(dtype)
    value = torch.randn(batch, shared, keys, out).to(dtype)
    grad = torch.randn(batch, heads, rows, out).to(dtype)
    mask = mask_of(torch, kind, rows, keys, batch)

    def results(dtype):
        leaves = [t.detach().to(dtype).requires_grad_() for t in (query, key, value)]
        added = mask
        if mask is not None and mask.dtype != torch.bool:
            added = mask.bfloat16().to(dtype)
        y = torch.nn.functional.scaled_dot_product_attention(
            *leaves,
            attn_mask=added,
            is_causal=kind == "causal",
            enable_gqa=heads != shared,
        )
        y.backward(grad.to(dtype))
        return y, *(t.grad for t in leaves)

    got, wanted = results(dtype), results(torch.float64)
    assert "FlashAttentionForCpu" in got[0].grad_fn.name()
    # Scores and weights are rounded to eight bits, each on its own.
    limit = 2.0**-7 if low else 4e-6
    for one, other in zip(got, wanted):
        error = (one.double() - other).abs().max() / other.abs().max()
        assert error.item() < limit
    if kind == "rows without a key":
        assert (got[0][:, :, 3] == 0).all()
        assert (got[1][:, :, 3] == 0).all()


def test_second_derivatives(hotaru):
    torch = hotaru
    torch.manual_seed(0)
    small = [torch.randn(1, 1, 130, 4) for _ in range(3)]

    def second(dtype):
        leaves = [t.to(dtype).requires_grad_() for t in small]
        y = torch.nn.functional.scaled_dot_product_attention(*leaves)
        (first,) = torch.autograd.grad(y.square().sum(), leaves[0], create_graph=True)
        return torch.autograd.grad(first.square().sum(), leaves)

    for one, other in zip(second(torch.float32), second(torch.float64)):
        error = (one.double() - other).abs().max() / other.abs().max()
        assert error.item() < 1e-4


def test_math_alone_keeps_to_products(hotaru):
    torch = hotaru
    q = torch.randn(1, 1, 130, 4, requires_grad=True)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
    assert "Flash" not in y.grad_fn.name()
