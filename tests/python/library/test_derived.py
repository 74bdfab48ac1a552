"""Attention by the names of PyTorch's kernels."""

import pytest

import hotaru as torch

F = torch.nn.functional
aten = torch.ops.aten


def _inputs(places=5):
    torch.manual_seed(0)
    shapes = ((2, 5, 3, 4), (2, places, 3, 4), (2, places, 3, 4))
    return [torch.randn(s, requires_grad=True) for s in shapes]


def _expected(q, k, v, **options):
    parts = [x.transpose(1, 2) for x in (q, k, v)]
    return F.scaled_dot_product_attention(*parts, **options).transpose(1, 2)


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention(causal):
    q, k, v = _inputs()
    result, sums, *_ = aten._flash_attention_forward(
        q, k, v, None, None, 5, 5, 0.0, causal, False, scale=0.3
    )
    want = _expected(q, k, v, is_causal=causal, scale=0.3)
    torch.testing.assert_close(result, want)
    scores = torch.einsum("blhe,bshe->bhls", q, k) * 0.3
    if causal:
        mask = torch.ones(5, 5, dtype=torch.bool).tril()
        scores = scores.masked_fill(~mask, float("-inf"))
    torch.testing.assert_close(sums, scores.logsumexp(-1))
    found = torch.autograd.grad(result.sum(), (q, k, v))
    for a, b in zip(found, torch.autograd.grad(want.sum(), (q, k, v))):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_efficient_attention(kind):
    q, k, v = _inputs(7)
    result, sums, _, _, *lengths = aten._efficient_attention_forward(
        q, k, v, None, None, None, None, None, 0.0, kind, True
    )
    mask = torch.ones(5, 7, dtype=torch.bool)
    if kind:
        mask = mask.tril(2 if kind == 2 else 0)
    want = _expected(q, k, v, attn_mask=mask)
    torch.testing.assert_close(result, want)
    assert sums.shape == (2, 3, 5)
    assert lengths == [5, 7]


def test_what_they_do_not_take():
    q, k, v = _inputs()
    with pytest.raises(NotImplementedError, match="without dropout"):
        aten._flash_attention_forward(q, k, v, None, None, 5, 5, 0.5, False, False)
    ends = torch.tensor([0, 5])
    with pytest.raises(NotImplementedError, match="one sequence a row"):
        aten._efficient_attention_forward(q, k, v, None, ends, ends, 5, 5, 0.0, 0)
