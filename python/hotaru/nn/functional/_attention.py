"""Multi-head attention on given weights."""

from __future__ import annotations

import math
import warnings

import hotaru

from ... import Tensor, ops

_NO_WEIGHT = (
    "use_separate_proj_weight is True but a weight of query, key or value is None"
)


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of `query` (L, N, E) over `key` and `value` (S, N, E).

    Unbatched: (L, E) and (S, E). A boolean mask is True where attention is
    forbidden, a float one is added to the scores; `attn_mask` is (L, S) or
    (N * heads, L, S), `key_padding_mask` (N, S).

    Returns:
        Output (L, N, E), and the attention weights (N, L, S), or (N, heads, L,
        S) without averaging, or None.
    """
    batched = _check_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query = query.unsqueeze(1)
        key = key.unsqueeze(1)
        value = value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    tgt_len, bsz, embed_dim = query.shape
    src_len = key.shape[0]
    head_dim = _check_sizes(
        query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight
    )
    key_padding_mask, attn_mask, is_causal = _masks(
        key_padding_mask, attn_mask, query, is_causal, need_weights
    )
    weights_in = in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight
    q, k, v = _projections(
        query, key, value, weights_in, in_proj_bias, use_separate_proj_weight
    )
    attn_mask = _check_mask(attn_mask, tgt_len, src_len, bsz * num_heads)
    extra = _check_biases(bias_k, bias_v, static_k, static_v)
    k, v = _with_biases(k, v, bias_k, bias_v, bsz)
    q = _heads(q, bsz * num_heads, head_dim, None, "")
    k = _heads(k, bsz * num_heads, head_dim, static_k, "static_k")
    v = _heads(v, bsz * num_heads, head_dim, static_v, "static_v")
    if add_zero_attn:
        extra += 1
        k, v = _with_zeros(k, v)
    for _ in range(extra):
        attn_mask = _one_more_key(attn_mask)
        key_padding_mask = _one_more_key(key_padding_mask)
    src_len = k.size(1)
    attn_mask = _with_padding(attn_mask, key_padding_mask, bsz, num_heads, src_len)
    dropout_p = dropout_p if training else 0.0
    weights: Tensor | None = None
    if need_weights:
        output, weights = _weighted(q, k, v, attn_mask, dropout_p, head_dim)
        output = output.transpose(0, 1)
    else:
        sizes = bsz, num_heads, tgt_len, src_len, head_dim
        output = _attended(q, k, v, attn_mask, dropout_p, is_causal, sizes)
    output = output.contiguous().view(tgt_len * bsz, embed_dim)
    output = ops.linear(output, out_proj_weight, out_proj_bias)
    output = output.view(tgt_len, bsz, output.size(1))

    if weights is not None:
        weights = weights.view(bsz, num_heads, tgt_len, src_len)
        if average_attn_weights:
            weights = weights.mean(dim=1)
    if not batched:
        output = output.squeeze(1)
        weights = None if weights is None else weights.squeeze(0)
    return output, weights


def _with_biases(
    k: Tensor, v: Tensor, bias_k: Tensor | None, bias_v: Tensor | None, bsz: int
) -> tuple[Tensor, Tensor]:
    if bias_k is None or bias_v is None:
        return k, v
    k = ops.cat([k, bias_k.repeat(1, bsz, 1)])
    v = ops.cat([v, bias_v.repeat(1, bsz, 1)])
    return k, v


def _with_zeros(k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    shape = [k.size(0), 1, k.size(2)]
    zero = hotaru.zeros(shape, dtype=k.dtype, device=k.device)
    return ops.cat([k, zero], dim=1), ops.cat([v, zero], dim=1)


def _masks(
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    query: Tensor,
    is_causal: bool,
    need_weights: bool,
) -> tuple[Tensor | None, Tensor | None, bool]:
    """Both masks to be added to scores, and whether the kernel masks what
    comes later by itself.
    """
    key_padding_mask = _float_mask(
        key_padding_mask, "key_padding_mask", attn_mask, query
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. "
            "You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _float_mask(attn_mask, "attn_mask", None, query)
        if key_padding_mask is not None:
            is_causal = False
    return key_padding_mask, attn_mask, is_causal


def _projections(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weights: tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None],
    in_proj_bias: Tensor | None,
    separate: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value by their matrices: the first of all three, or the
    others, one for each.
    """
    in_proj_weight, q_weight, k_weight, v_weight = weights
    if separate:
        if q_weight is None or k_weight is None:
            raise AssertionError(_NO_WEIGHT)
        if v_weight is None:
            raise AssertionError(_NO_WEIGHT)
        q, k, v = _project_each(
            query, key, value, [q_weight, k_weight, v_weight], in_proj_bias
        )
    elif in_proj_weight is not None:
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias)
    else:
        raise AssertionError(
            "use_separate_proj_weight is False but in_proj_weight is None"
        )
    return q, k, v


def _check_biases(
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    static_k: Tensor | None,
    static_v: Tensor | None,
) -> int:
    """How many keys the biases are: 1, or 0 without them."""
    count = 0
    if bias_k is not None and bias_v is not None:
        if static_k is not None:
            raise AssertionError("bias cannot be added to static key.")
        if static_v is not None:
            raise AssertionError("bias cannot be added to static value.")
        count = 1
    elif bias_k is not None:
        raise AssertionError("bias_k is set but bias_v is None")
    elif bias_v is not None:
        raise AssertionError("bias_v is set but bias_k is None")
    return count


def _heads(
    x: Tensor, count: int, head_dim: int, static: Tensor | None, name: str
) -> Tensor:
    """(count, L, head_dim) of (L, N, E), or what stands in its place."""
    if static is None:
        x = x.view(x.shape[0], count, head_dim).transpose(0, 1)
    else:
        x = _static(name, static, count, head_dim)
    return x


def _with_padding(
    attn_mask: Tensor | None,
    key_padding_mask: Tensor | None,
    bsz: int,
    num_heads: int,
    src_len: int,
) -> Tensor | None:
    """The mask of scores, with that of keys."""
    if key_padding_mask is not None:
        _check_padding(key_padding_mask, src_len, bsz)
        padding = (
            key_padding_mask.view(bsz, 1, 1, src_len)
            .expand(-1, num_heads, -1, -1)
            .reshape(bsz * num_heads, 1, src_len)
        )
        attn_mask = padding if attn_mask is None else attn_mask + padding
    return attn_mask


def _weighted(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    head_dim: int,
) -> tuple[Tensor, Tensor]:
    """Returns what the weights give of the values, and the weights."""
    scaled = q * math.sqrt(1.0 / head_dim)
    if attn_mask is not None:
        scores = ops.baddbmm(attn_mask, scaled, k.transpose(-2, -1))
    else:
        scores = ops.bmm(scaled, k.transpose(-2, -1))
    scores = ops.softmax(scores, -1)
    if dropout_p > 0.0:
        scores = ops.dropout(scores, dropout_p, True)
    return ops.bmm(scores, v), scores


def _attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    sizes: tuple[int, int, int, int, int],
) -> Tensor:
    """The same by the kernel, without weights: (L, N, heads, head_dim).

    `sizes` are N, heads, L, S and head_dim.
    """
    bsz, num_heads, tgt_len, src_len, head_dim = sizes
    if attn_mask is not None:
        if attn_mask.size(0) == 1 and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.view(bsz, num_heads, -1, src_len)
    output = ops.scaled_dot_product_attention(
        q.view(bsz, num_heads, tgt_len, head_dim),
        k.view(bsz, num_heads, src_len, head_dim),
        v.view(bsz, num_heads, src_len, head_dim),
        attn_mask,
        dropout_p,
        is_causal,
    )
    return output.permute(2, 0, 1, 3)


def _project(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The three input projections by one packed weight."""
    embed_dim = query.size(-1)
    if query is key and key is value:
        # One product for all three.
        packed = _packed(query, weight, bias, 3)
        return packed[0], packed[1], packed[2]
    if key is value:
        w_q, w_kv = weight.split([embed_dim, embed_dim * 2])
        b_q: Tensor | None = None
        b_kv: Tensor | None = None
        if bias is not None:
            b_q, b_kv = bias.split([embed_dim, embed_dim * 2])
        packed = _packed(key, w_kv, b_kv, 2)
        return ops.linear(query, w_q, b_q), packed[0], packed[1]
    return _project_each(query, key, value, weight.chunk(3), bias)


def _packed(t: Tensor, weight: Tensor, bias: Tensor | None, parts: int) -> Tensor:
    """Several projections of one tensor, along a new first axis."""
    if bias is not None and weight.dtype == t.dtype and bias.dtype != t.dtype:
        # Sums of dtypes are promoted, products of them are errors.
        out = ops.linear(t, weight) + bias.to(t.dtype)
    else:
        out = ops.linear(t, weight, bias)
    out = out.unflatten(-1, [parts, t.size(-1)]).unsqueeze(0)
    return out.transpose(0, -2).squeeze(-2).contiguous()


def _project_each(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weights: list[Tensor],
    bias: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The three input projections by a weight each."""
    b_q: Tensor | None = None
    b_k: Tensor | None = None
    b_v: Tensor | None = None
    if bias is not None:
        b_q, b_k, b_v = bias.chunk(3)
    return (
        ops.linear(query, weights[0], b_q),
        ops.linear(key, weights[1], b_k),
        ops.linear(value, weights[2], b_v),
    )


def _check_ranks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """True if batched; AssertionError if the ranks do not go together."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError(
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{rank}-D query tensor"
        )
    what = "batched (3-D)" if rank == 3 else "unbatched (2-D)"
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"For {what} `query`, expected `key` and `value` to be {rank}-D "
            f"but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(
            f"For {what} `query`, expected `key_padding_mask` to be `None` or "
            f"{rank - 1}-D but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {what} `query`, expected `attn_mask` to be `None`, 2-D "
                f"or 3-D but found {attn_mask.dim()}-D tensor instead"
            )
        if rank == 2 and attn_mask.dim() == 3:
            expected = [num_heads, query.shape[0], key.shape[0]]
            if list(attn_mask.shape) != expected:
                raise AssertionError(
                    f"Expected `attn_mask` shape to be ({expected[0]}, "
                    f"{expected[1]}, {expected[2]}) but got {attn_mask.shape}"
                )
    return rank == 3


def _check_sizes(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    expected: int,
    num_heads: int,
    separate: bool,
) -> int:
    """The size of one head; AssertionError if the sizes do not go together."""
    embed_dim = query.size(-1)
    if embed_dim != expected:
        raise AssertionError(
            f"was expecting embedding dimension of {expected}, but got {embed_dim}"
        )
    head_dim = embed_dim // num_heads
    if head_dim * num_heads != embed_dim:
        raise AssertionError(
            f"embed_dim {embed_dim} not divisible by num_heads {num_heads}"
        )
    if separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match "
                f"value's {value.shape[:2]}"
            )
    elif key.shape != value.shape:
        raise AssertionError(
            f"key shape {key.shape} does not match value shape {value.shape}"
        )
    return head_dim


def _check_mask_kind(mask: Tensor, name: str) -> None:
    if mask.dtype != hotaru.bool and not hotaru.is_floating_point(mask):
        raise AssertionError(f"only bool and floating types of {name} are supported")


def _float_mask(
    mask: Tensor | None, name: str, other: Tensor | None, like: Tensor
) -> Tensor | None:
    """A mask to add to the scores: -inf where a boolean mask is True.

    Warns if its dtype is not that of the attention mask `other`.
    """
    if mask is None:
        return None
    is_bool = mask.dtype == hotaru.bool
    _check_mask_kind(mask, name)
    if other is not None and mask.dtype != other.dtype:
        warnings.warn(
            f"Support for mismatched {name} and attn_mask is deprecated. "
            "Use same type for both instead.",
            stacklevel=4,
        )
    if not is_bool:
        return mask
    zeros = hotaru.zeros_like(mask, dtype=like.dtype)
    return zeros.masked_fill_(mask, -math.inf)


def _check_mask(
    mask: Tensor | None, tgt_len: int, src_len: int, batches: int
) -> Tensor | None:
    """The mask with three axes; RuntimeError for another shape."""
    if mask is None:
        return None
    if mask.dim() == 2:
        if list(mask.shape) != [tgt_len, src_len]:
            raise RuntimeError(
                f"The shape of the 2D attn_mask is {mask.shape}, but should be "
                f"({tgt_len}, {src_len})."
            )
        return mask.unsqueeze(0)
    if list(mask.shape) != [batches, tgt_len, src_len]:
        raise RuntimeError(
            f"The shape of the 3D attn_mask is {mask.shape}, but should be "
            f"({batches}, {tgt_len}, {src_len})."
        )
    return mask


def _static(name: str, given: Tensor, batches: int, head_dim: int) -> Tensor:
    """Keys or values that are given; AssertionError for another shape."""
    if given.size(0) != batches:
        raise AssertionError(
            f"expecting {name}.size(0) of {batches}, but got {given.size(0)}"
        )
    if given.size(2) != head_dim:
        raise AssertionError(
            f"expecting {name}.size(2) of {head_dim}, but got {given.size(2)}"
        )
    return given


def _check_padding(mask: Tensor, src_len: int, bsz: int) -> None:
    """Raises AssertionError for a mask that is not (N, S)."""
    if mask.shape[0] != bsz:
        raise AssertionError(
            f"Expected key_padded_mask.shape[0] to be {bsz}, but got {mask.shape[0]}"
        )
    if mask.shape[1] != src_len:
        raise AssertionError(
            f"Expected key_padded_mask.shape[1] to be {src_len}, but got "
            f"{mask.shape[1]}"
        )


def _one_more_key(mask: Tensor | None) -> Tensor | None:
    """The mask with one more key, which is always visible."""
    return None if mask is None else ops.pad(mask, [0, 1])
