"""`nn.attention.varlen`: sequences one behind the other, beside each alone."""

from __future__ import annotations

import math

import pytest
from hotaru.nn.attention.varlen import AuxRequest, varlen_attn, varlen_attn_out

import hotaru as torch

LENGTHS = {
    "same": ([4, 4, 4], [4, 4, 4]),
    "ragged": ([3, 1, 5], [3, 1, 5]),
    "other keys": ([2, 4, 1], [5, 4, 3]),
    "fewer keys": ([4, 3], [2, 3]),
    "an empty one": ([3, 0, 2], [3, 2, 2]),
    "no keys": ([3, 2], [0, 2]),
}
WINDOWS = [(-1, -1), (-1, 0), (1, 0), (2, 1), (0, -1), (9, 0)]


def _places(lengths):
    return torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32)


def _make(queries, keys, heads=4, of_keys=4, size=8, dtype=torch.float64):
    torch.manual_seed(3)
    q = torch.randn(sum(queries), heads, size, dtype=dtype, requires_grad=True)
    k = torch.randn(sum(keys), of_keys, size, dtype=dtype, requires_grad=True)
    v = torch.randn(sum(keys), of_keys, size, dtype=dtype, requires_grad=True)
    return q, k, v


def _alone(q, k, v, queries, keys, window, scale):
    """Softmax by its formula, sequence by sequence, head by head."""
    left, right = window
    results, sums = [], []
    a = b = 0
    for n, m in zip(queries, keys):
        group = q.shape[1] // k.shape[1]
        x, y, z = q[a : a + n], k[b : b + m], v[b : b + m]
        y, z = (t.repeat_interleave(group, 1) for t in (y, z))
        scores = torch.einsum("qhd,khd->hqk", x, y) * scale
        for i in range(n):
            for j in range(m):
                place = i + m - n
                seen = left < 0 or j >= place - left
                if not (seen and (right < 0 or j <= place + right)):
                    mask = torch.zeros_like(scores, dtype=torch.bool)
                    mask[:, i, j] = True
                    scores = scores.masked_fill(mask, -math.inf)
        sums.append(scores.logsumexp(-1))
        hidden = (scores == -math.inf).all(-1, keepdim=True)
        weights = scores.masked_fill(hidden, 0).softmax(-1).masked_fill(hidden, 0)
        results.append(torch.einsum("hqk,khd->qhd", weights, z))
        a, b = a + n, b + m
    return torch.cat(results), torch.cat(sums, 1)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("name", LENGTHS)
def test_as_each_sequence_alone(name, window):
    queries, keys = LENGTHS[name]
    grouped = window[0] == 1
    q, k, v = _make(queries, keys, of_keys=2 if grouped else 4)
    scale = 0.7 if window == (2, 1) else None
    found, sums = varlen_attn(
        q,
        k,
        v,
        _places(queries),
        _places(keys),
        max(queries),
        max(keys),
        return_aux=AuxRequest(lse=True),
        scale=scale,
        window_size=window,
        enable_gqa=grouped,
    )
    wanted, of_sums = _alone(q, k, v, queries, keys, window, scale or 8**-0.5)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(sums, of_sums)
    grads = torch.autograd.grad(found.sin().sum(), (q, k, v))
    of_grads = torch.autograd.grad(wanted.sin().sum(), (q, k, v))
    torch.testing.assert_close(grads, of_grads)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_dtypes_and_memory_of_ones_own(dtype):
    queries = [3, 2]
    q, k, v = (x.detach().to(dtype) for x in _make(queries, queries))
    at = _places(queries)
    found, sums = varlen_attn(q, k, v, at, at, 3, 3, return_aux=AuxRequest(True))
    assert found.dtype == dtype
    assert found.is_contiguous()
    assert sums.dtype == torch.float32
    assert sums.shape == (4, 5)
    out = torch.empty_like(q)
    assert varlen_attn_out(out, q, k, v, at, at, 3, 3) is out
    assert out.equal(found)
    both = varlen_attn_out(out, q, k, v, at, at, 3, 3, return_aux=AuxRequest(True))
    assert both[0] is out
    assert both[1].equal(sums)
    assert varlen_attn(q, k, v, at, at, 3, 3, return_aux=AuxRequest()).equal(found)
    assert varlen_attn(q, k, v, at, at, 3, 3, num_splits=1).equal(found)
    with pytest.raises(RuntimeError, match="out must be"):
        varlen_attn_out(out[1:], q, k, v, at, at, 3, 3)


def test_keys_that_count_and_pages():
    queries, used = [2, 1, 2], [5, 2, 4]
    q, k, v = (x.detach() for x in _make(queries, used))
    wanted, _ = _alone(q, k, v, queries, used, (-1, 0), 8**-0.5)
    # Slots are longer than the sequences that they have.
    slots = [torch.randn(3, 6, 4, 8, dtype=q.dtype) for _ in range(2)]
    pages = [torch.randn(9, 2, 4, 8, dtype=q.dtype) for _ in range(2)]
    table = torch.tensor([[7, 2, 4], [0, 8, 8], [5, 1, 8]], dtype=torch.int32)
    begin = 0
    for i, n in enumerate(used):
        for slot, pool, x in zip(slots, pages, (k, v)):
            slot[i, :n] = x[begin : begin + n]
            for j in range(n):
                pool[table[i, j // 2], j % 2] = x[begin + j]
        begin += n
    counts = torch.tensor(used, dtype=torch.int32)
    at, of_slots = _places(queries), _places([6, 6, 6])
    flat = [x.flatten(0, 1) for x in slots]
    how = {"window_size": (-1, 0), "seqused_k": counts}
    found = varlen_attn(q, *flat, at, of_slots, 2, 6, **how)
    torch.testing.assert_close(found, wanted)
    found = varlen_attn(q, *pages, at, None, 2, 6, block_table=table, **how)
    torch.testing.assert_close(found, wanted)
    q.requires_grad_()
    with pytest.raises(RuntimeError, match="seqused_k is an inference-only"):
        varlen_attn(q, *flat, at, of_slots, 2, 6, **how)


def test_errors():
    q, k, v = _make([3], [3])
    few = k[:, :3]
    at = _places([3])
    for tensors, places, longest, extra, text in (
        ((q, few, few), (at, at), 3, {}, "Try setting enable_gqa=True"),
        ((q, few, few), (at, at), 3, {"enable_gqa": True}, "multiple of kv heads"),
        ((q, k, v), (at, at), 3, {"window_size": (1,)}, "must have length 2"),
        ((q, k, v), (at, at), 2, {}, "greatest length"),
        ((q, k, v), (at, _places([2, 1])), 3, {}, "as many sequences"),
        ((q, k, v), (_places([2]), at), 3, {}, "must go from 0 to 3"),
        ((q, k, v), (at, _places([4])), 4, {}, "rise from 0 to 3"),
        ((q, k, v), (at, None), 3, {}, "cu_seq_k may be None"),
    ):
        with pytest.raises(ValueError, match=text):
            varlen_attn(*tensors, *places, longest, longest, **extra)
