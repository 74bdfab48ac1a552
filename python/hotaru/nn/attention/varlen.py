"""Attention of sequences that lie one behind the other: `varlen_attn`.

Each sequence is a call of `scaled_dot_product_attention`, all of one length a
single one, on every device and of every dtype that it has: nothing is padded.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import hotaru

from ... import Tensor
from .. import functional as F
from .flex_attention import check_heads

__all__ = ["AuxRequest", "varlen_attn", "varlen_attn_out"]


class AuxRequest(NamedTuple):
    """States what is wanted beside the result.

    Args:
        lse: the logarithms of the sums of weights.
    """

    lse: bool = False


def varlen_attn(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seq_q: Tensor,
    cu_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    *,
    return_aux: AuxRequest | None = None,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    enable_gqa: bool = False,
    seqused_k: Tensor | None = None,
    block_table: Tensor | None = None,
    num_splits: int | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Attention of each sequence to the keys of its own.

    Args:
        query: [all queries, heads, size].
        key, value: [all keys, heads, size]; pages [pages, page's length, heads,
            size] with a `block_table`.
        cu_seq_q, cu_seq_k: [sequences + 1], where each begins and the last one
            ends. Without `cu_seq_k`, `block_table` says where keys are.
        max_q, max_k: the greatest lengths.
        return_aux: other results that are wanted.
        scale: of scores; one by the square root of the size if None.
        window_size: how many keys before and behind its own place a query sees;
            -1 for all. The last query's place is that of the last key.
        enable_gqa: heads of keys may be fewer, each for as many queries' heads.
        seqused_k: [sequences], how many keys of each count. Without gradients.
        block_table: [sequences, pages], where each sequence's pages are.
            Without gradients.
        num_splits: of keys, on PyTorch's GPUs; results are the same here.

    Returns:
        [all queries, heads, size], zeros for a query that sees no key; with
        `return_aux.lse` the logarithms [heads, all queries], too, float32 or
        wider, -inf for such a query.

    Raises:
        ValueError: heads or lengths that do not fit.
        RuntimeError: gradients with `seqused_k` or `block_table`.
    """
    check_heads(
        query.shape[1], key.shape[2 if block_table is not None else 1], enable_gqa
    )
    left, right = _window(window_size)
    recorded = hotaru.is_grad_enabled() and any(
        x.requires_grad for x in (query, key, value)
    )
    for name, given in (("seqused_k", seqused_k), ("block_table", block_table)):
        if recorded and given is not None:
            raise RuntimeError(f"{name} is an inference-only parameter.")
    queries = _spans(cu_seq_q, "cu_seq_q", max_q, len(query))
    if block_table is not None:
        if seqused_k is None:
            raise RuntimeError("block_table requires seqused_k")
        used = _used(seqused_k, len(queries), max_k)
        keys = [_paged(key, row, n) for row, n in zip(block_table, used, strict=True)]
        values = [
            _paged(value, row, n) for row, n in zip(block_table, used, strict=True)
        ]
    else:
        if cu_seq_k is None:
            raise ValueError("cu_seq_k may be None with block_table alone")
        spans = _spans(cu_seq_k, "cu_seq_k", max_k, len(key))
        if seqused_k is not None:
            used = _used(seqused_k, len(spans), max_k)
            spans = [(a, _within(a, b, n)) for (a, b), n in zip(spans, used)]
        keys = [key[a:b] for a, b in spans]
        values = [value[a:b] for a, b in spans]
    if len(queries) != len(keys):
        raise ValueError(
            f"Expect as many sequences of queries as of keys but got "
            f"{len(queries)} and {len(keys)}."
        )
    wanted = return_aux is not None and return_aux.lse
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    call = _Call(left, right, scale, enable_gqa, wanted)
    pieces = [query[a:b] for a, b in queries]
    alike = len({(len(q), len(k)) for q, k in zip(pieces, keys, strict=True)}) == 1
    if alike:
        batches = [hotaru.stack(x) for x in (pieces, keys, values)]
        result, sums = call.attend(*batches)
        found, sums = [result.flatten(0, 1)], [sums]
    else:
        triples = zip(pieces, keys, values, strict=True)
        each = [call.attend(*(x.unsqueeze(0) for x in t)) for t in triples]
        found, sums = [x[0][0] for x in each], [x[1] for x in each]
    if found:
        result = hotaru.cat(found)
    else:
        result = query.new_empty((0, query.shape[1], value.shape[-1]))
    if not wanted:
        return result
    if not sums:
        return result, query.new_empty((query.shape[1], 0), dtype=_wide(query))
    return result, hotaru.cat([x.transpose(0, 1).flatten(1) for x in sums], 1)


def varlen_attn_out(
    out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seq_q: Tensor,
    cu_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    *,
    return_aux: AuxRequest | None = None,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    enable_gqa: bool = False,
    seqused_k: Tensor | None = None,
    block_table: Tensor | None = None,
    num_splits: int | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """`varlen_attn` into memory that is there, without gradients.

    Args:
        out: as the result; the others as there.
    """
    with hotaru.no_grad():
        found, *sums = _pair(
            varlen_attn(
                query,
                key,
                value,
                cu_seq_q,
                cu_seq_k,
                max_q,
                max_k,
                return_aux=return_aux,
                scale=scale,
                window_size=window_size,
                enable_gqa=enable_gqa,
                seqused_k=seqused_k,
                block_table=block_table,
                num_splits=num_splits,
            )
        )
        if out.shape != found.shape or out.dtype != found.dtype:
            raise RuntimeError(
                f"out must be {tuple(found.shape)} of {found.dtype}, but is "
                f"{tuple(out.shape)} of {out.dtype}"
            )
        out.copy_(found)
    return (out, *sums) if sums else out


class _Call:
    """Attention of a batch [B, length, heads, size]."""

    def __init__(self, left, right, scale, grouped, sums) -> None:
        self.left, self.right, self.scale = left, right, scale
        self.grouped, self.sums = grouped, sums

    def attend(self, query, key, value) -> tuple[Tensor, Tensor | None]:
        """Results as the queries lie, and sums [B, heads, length] if wanted."""
        q, k, v = (x.transpose(1, 2) for x in (query, key, value))
        mask = self._mask(q.shape[-2], k.shape[-2], q.device)
        causal = mask is None and self.right == 0
        if 0 in k.shape[-2:] or 0 in q.shape:
            result = (q.sum(-1, keepdim=True) * 0).expand(*q.shape[:-1], v.shape[-1])
        else:
            result = F.scaled_dot_product_attention(
                q,
                k,
                v,
                attn_mask=mask,
                is_causal=causal,
                scale=self.scale,
                enable_gqa=self.grouped,
            )
            if mask is not None:
                result = result.masked_fill(~mask.any(-1, keepdim=True), 0)
        found = result.transpose(1, 2)
        return found, self._sums(q, k, mask, causal) if self.sums else None

    def _mask(self, queries: int, keys: int, device) -> Tensor | None:
        """True where a query sees a key; None for all, and for a triangle."""
        if (self.left < 0 or self.left >= keys) and (
            self.right < 0 or (self.right == 0 and queries == keys)
        ):
            return None
        rows = hotaru.arange(queries, device=device).unsqueeze(1) + keys - queries
        places = hotaru.arange(keys, device=device)
        mask = hotaru.ones((queries, keys), dtype=hotaru.bool, device=device)
        if self.left >= 0:
            mask = mask & (places >= rows - self.left)
        if self.right >= 0:
            mask = mask & (places <= rows + self.right)
        return mask

    def _sums(self, q, k, mask, causal) -> Tensor:
        wide = _wide(q)
        if k.shape[1] != q.shape[1]:
            k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
        scores = (q.to(wide) @ k.to(wide).transpose(-1, -2)) * self.scale
        if causal:
            mask = hotaru.ones(scores.shape[-2:], dtype=hotaru.bool, device=q.device)
            mask = mask.tril()
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return scores.logsumexp(-1)


def _wide(x: Tensor) -> hotaru.dtype:
    return hotaru.promote_types(x.dtype, hotaru.float32)


def _pair(found) -> tuple:
    return found if isinstance(found, tuple) else (found,)


def _window(window) -> tuple[int, int]:
    if len(window) != 2:
        raise ValueError(f"window_size must have length 2, got {len(window)}")
    left, right = window
    return left, right


def _spans(places: Tensor, name: str, longest: int, rows: int):
    """(begin, end) of each sequence."""
    at = places.tolist()
    spans = list(zip(at, at[1:]))
    if any(not 0 <= a <= b <= rows for a, b in spans):
        raise ValueError(f"{name} must rise from 0 to {rows} at most, but is {at}")
    if any(b - a > longest for a, b in spans):
        raise ValueError(
            f"{name} has a sequence of {max(b - a for a, b in spans)} rows, more "
            f"than the {longest} that were said to be the greatest length"
        )
    if spans and (at[0] != 0 or (name == "cu_seq_q" and at[-1] != rows)):
        raise ValueError(f"{name} must go from 0 to {rows}, but is {at}")
    return spans


def _used(counts: Tensor, sequences: int, longest: int) -> list[int]:
    found = counts.tolist()
    if len(found) != sequences or any(not 0 <= n <= longest for n in found):
        raise ValueError(
            f"seqused_k must be {sequences} lengths up to {longest}, but is {found}"
        )
    return found


def _within(begin: int, end: int, used: int) -> int:
    if used > end - begin:
        raise ValueError(f"seqused_k counts {used} keys of a sequence of {end - begin}")
    return begin + used


def _paged(pool: Tensor, pages: Tensor, used: int) -> Tensor:
    """The first rows of a sequence that lies in pages."""
    needed = -(-used // pool.shape[1])
    if needed > len(pages):
        raise ValueError(f"block_table has {len(pages)} pages for {used} keys")
    return pool[pages[:needed].to(hotaru.int64)].flatten(0, 1)[:used]
