"""`flex_attention` and its masks, beside attention that is written out."""

from __future__ import annotations

import math

import hotaru.nn.functional as F
import pytest
from hotaru.nn.attention import bias
from hotaru.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)

import hotaru as torch


def causal(b, h, q, k):
    return q >= k


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def qkv(*shape, heads=None, **options):
    other = (shape[0], heads or shape[1], *shape[2:])
    return (
        torch.randn(shape, **options),
        torch.randn(other, **options),
        torch.randn(other, **options),
    )


def close(a, b, **options):
    torch.testing.assert_close(a, b, **options)


def test_without_changes_it_is_attention():
    q, k, v = qkv(2, 3, 5, 4)
    close(flex_attention(q, k, v), F.scaled_dot_product_attention(q, k, v))
    close(
        flex_attention(q, k, v, scale=0.3),
        F.scaled_dot_product_attention(q, k, v, scale=0.3),
    )


def test_mask_and_groups_of_heads():
    q, k, v = qkv(2, 4, 300, 8, heads=2)
    mask = create_block_mask(causal, None, None, 300, 300, device="cpu")
    found = flex_attention(q, k, v, block_mask=mask, enable_gqa=True)
    close(
        found, F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    )


def test_score_mod_sees_every_place():
    q, k, v = qkv(2, 3, 6, 4)
    table = torch.randn(2, 3, 6, 6)
    found = flex_attention(
        q, k, v, score_mod=lambda s, b, h, i, j: s * 2 + table[b, h, i, j]
    )
    scores = q @ k.mT / math.sqrt(4) * 2 + table
    close(found, scores.softmax(-1) @ v)


@pytest.mark.parametrize(
    "mod",
    [
        lambda s, b, h, i, j, x: s + (x[i] * x[j]).sum(),
        lambda s, b, h, i, j, x: s + x[i][0] * x[j][1],
        lambda s, b, h, i, j, x: s + torch.dot(x[i], x[j]),
        lambda s, b, h, i, j, x: (s + x[i].max()).clone(),
    ],
)
def test_what_means_something_else_for_whole_tensors(mod):
    """Vectors of one score are matrices of all: each score is asked alone."""
    q, k, v = qkv(1, 2, 4, 3)
    x = torch.randn(4, 3)
    alone = torch.tensor(
        [
            [
                [
                    mod(
                        q[0, h, i] @ k[0, h, j] / math.sqrt(3),
                        torch.tensor(0),
                        torch.tensor(h),
                        torch.tensor(i),
                        torch.tensor(j),
                        x,
                    ).item()
                    for j in range(4)
                ]
                for i in range(4)
            ]
            for h in range(2)
        ]
    )
    found = flex_attention(
        q, k, v, score_mod=lambda s, b, h, i, j: mod(s, b, h, i, j, x)
    )
    close(found, (alone.softmax(-1) @ v[0])[None])


def test_hidden_rows_are_zero_and_have_gradients():
    q, k, v = (x.requires_grad_() for x in qkv(1, 2, 8, 4))
    mask = create_block_mask(lambda b, h, i, j: i < 3, 1, 1, 8, 8, "cpu", 4)
    out, lse = flex_attention(q, k, v, block_mask=mask, return_lse=True)
    assert out[0, :, 3:].eq(0).all()
    assert lse[0, :, 3:].isneginf().all()
    close(lse[0, :, :3], (q @ k.mT / 2).logsumexp(-1)[0, :, :3])
    out.sum().backward()
    assert q.grad.isfinite().all()
    assert q.grad[0, :, 3:].eq(0).all()
    wanted = F.scaled_dot_product_attention(
        *(x.detach().requires_grad_() for x in (q, k, v))
    )
    close(out[0, :, :3], wanted[0, :, :3])


def test_gradients_of_score_mods_and_inputs():
    q, k, v = qkv(1, 2, 4, 3, dtype=torch.float64, requires_grad=True)
    slope = torch.randn(2, dtype=torch.float64, requires_grad=True)

    def run(q, k, v, slope):
        mask = create_block_mask(causal, 1, 1, 4, 4, "cpu", 2)
        return flex_attention(
            q, k, v, lambda s, b, h, i, j: s + slope[h] * (i - j), mask
        )

    assert torch.autograd.gradcheck(run, (q, k, v, slope))


def test_blocks_alone_hide_what_they_do_not_list():
    q, k, v = qkv(1, 1, 4, 2)
    mask = BlockMask.from_kv_blocks(
        torch.tensor([[[1, 1]]], dtype=torch.int32),
        torch.tensor([[[[1, 0], [0, 1]]]], dtype=torch.int32),
        BLOCK_SIZE=2,
    )
    shown = torch.tensor([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    assert mask.to_dense().tolist() == [[[[0, 1], [1, 0]]]]
    close(
        flex_attention(q, k, v, block_mask=mask),
        F.scaled_dot_product_attention(q, k, v, attn_mask=shown.bool()),
    )


def test_dtypes_and_what_is_given_beside():
    q, k, v = qkv(1, 1, 4, 2, dtype=torch.bfloat16)
    out, aux = flex_attention(q, k, v, return_aux=AuxRequest(lse=True, max_scores=True))
    assert (out.dtype, aux.lse.dtype) == (torch.bfloat16, torch.float32)
    scores = (q @ k.mT).float() / math.sqrt(2)
    close(aux.max_scores, scores.amax(-1))
    close(aux.lse, scores.logsumexp(-1))


# As PyTorch 2.13 prints and counts it.
def test_blocks_of_a_causal_mask():
    mask = create_block_mask(causal, 1, 1, 300, 300, device="cpu")
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 3]]]
    assert mask.kv_indices.tolist() == [[[[0, 1, 2], [1, 0, 2], [0, 1, 2]]]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 0]]]
    assert mask.q_num_blocks.tolist() == [[[2, 2, 1]]]
    assert mask.full_q_indices.tolist()[0][0][0] == [1, 0, 2]
    assert str(mask) == (
        "BlockMask(shape=(1, 1, 300, 300), sparsity=-9.23%, \n(0, 0)\n"
        "██    \n████  \n██████\n)"
    )
    assert len(mask.as_tuple()) == 17
    assert repr(mask).splitlines()[-3:] == [
        "    sparsity=-9.23%,",
        "    mask_mod=causal",
        ")",
    ]


def test_parts_of_a_mask():
    mask = create_block_mask(causal, 2, 3, 8, 16, "cpu", (2, 4))
    assert mask[0].shape == (1, 3, 8, 16)
    assert mask[:, -1].shape == (2, 1, 8, 16)
    assert mask[0, 1, 1:2].to_dense().tolist() == [[[[1, 0, 0, 0]]]]
    cut = mask._adjust(4, 8)
    assert cut.shape == (2, 3, 4, 8)
    assert cut.to_dense()[0, 0].tolist() == [[1, 0], [1, 0]]
    assert "To print out more" in str(mask)
    assert mask.to_string(limit=6).count("(") == 6


def test_combined_masks():
    late = and_masks(causal, lambda b, h, q, k: k > 0)
    found = create_mask(late, 1, 1, 3, 3, device="cpu")[0, 0]
    assert found.int().tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]
    either = or_masks(causal, lambda b, h, q, k: k == 2)
    found = create_mask(either, 1, 1, 2, 3, device="cpu")[0, 0]
    assert found.int().tolist() == [[1, 0, 1], [1, 1, 1]]
    assert create_mask(noop_mask, 2, 1, 2, 2, device="cpu").all()
    with pytest.raises(RuntimeError, match="should be callable"):
        and_masks(1)


def test_errors():
    q, k, v = qkv(1, 4, 8, 4, heads=2)
    with pytest.raises(ValueError, match="Try setting enable_gqa=True"):
        flex_attention(q, k, v)
    with pytest.raises(ValueError, match="multiple of kv heads"):
        flex_attention(q[:, :3], k, v, enable_gqa=True)
    mask = create_block_mask(causal, 1, 1, 4, 4, "cpu", 2)
    with pytest.raises(ValueError, match="created for a smaller length"):
        flex_attention(q, q, q, block_mask=mask)
    with pytest.raises(NotImplementedError, match="4D"):
        flex_attention(q[0], k, v)


def test_causal_biases():
    q, k, v = qkv(1, 2, 3, 4)
    k, v = torch.cat([k, k[:, :, :2]], 2), torch.cat([v, v[:, :, :2]], 2)
    right = bias.causal_lower_right(3, 5)
    assert right._materialize().int().tolist() == [
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
    ]
    close(
        F.scaled_dot_product_attention(q, k, v, attn_mask=right),
        F.scaled_dot_product_attention(q, k, v, right._materialize()),
    )
    left = bias.causal_upper_left(3, 5)
    close(
        F.scaled_dot_product_attention(q, k, v, left),
        F.scaled_dot_product_attention(q, k, v, is_causal=True),
    )
    with pytest.raises(ValueError, match="causal=True"):
        F.scaled_dot_product_attention(q, k, v, left, is_causal=True)
    with pytest.raises(NotImplementedError, match="_materialize"):
        left + 1
