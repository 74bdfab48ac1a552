"""Attention and rotary embeddings of the domain com.microsoft, as ONNX
Runtime's optimizer and its exporters of language models write them.
"""


def _microsoft_refused(do_rotary: int, past_present_share_buffer: int) -> None:
    if do_rotary != 0 or past_present_share_buffer != 0:
        raise NotImplementedError(
            "attention with do_rotary or past_present_share_buffer"
        )


# Added to the scores: nothing where a key takes part.
def _microsoft_mask(
    mask: Tensor, batch: int, keys: int, masked: float, dtype: int
) -> Tensor:
    place = torch.arange(keys, device=mask.device)
    if mask.dim() == 1:
        end = torch.unsqueeze(mask[:batch], 1)
        there = place < end
        if mask.size(0) == 2 * batch:
            there = torch.logical_and(there, place >= torch.unsqueeze(mask[batch:], 1))
        elif mask.size(0) != batch and mask.size(0) != 3 * batch + 2:
            raise NotImplementedError("a mask of " + str(mask.size()))
        there = there.reshape([batch, 1, 1, keys])
    elif mask.dim() == 2:
        there = (mask != 0).reshape([batch, 1, 1, keys])
    elif mask.dim() == 3:
        there = torch.unsqueeze(mask != 0, 1)
    else:
        raise NotImplementedError("a mask of " + str(mask.size()))
    zero = torch.zeros([1], dtype=dtype, device=mask.device)
    return torch.where(there, zero, zero + masked)


# Sum of all that is added to the scores.
def _microsoft_added(
    q: Tensor,
    k: Tensor,
    mask: Optional[Tensor],
    attention_bias: Optional[Tensor],
    unidirectional: bool,
    masked: float,
) -> Optional[Tensor]:
    keys = k.size(2)
    added: Optional[Tensor] = attention_bias
    if mask is not None:
        of_mask = _microsoft_mask(mask, q.size(0), keys, masked, q.dtype)
        added = of_mask if added is None else added + of_mask
    if unidirectional:
        here = torch.arange(keys - q.size(2), keys, device=q.device)
        seen = torch.arange(keys, device=q.device) <= torch.unsqueeze(here, 1)
        zero = torch.zeros([1], dtype=q.dtype, device=q.device)
        later = torch.where(seen, zero, zero - inf)
        added = later if added is None else added + later
    return added


# The result and the keys and values with those that came before.
def _microsoft_attention(
    q: Tensor,
    new_k: Tensor,
    new_v: Tensor,
    mask: Optional[Tensor],
    attention_bias: Optional[Tensor],
    past_k: Optional[Tensor],
    past_v: Optional[Tensor],
    unidirectional: bool,
    masked: float,
    scale: Optional[float],
) -> Tuple[Tensor, Tensor, Tensor]:
    k = _attention_join(past_k, new_k)
    v = _attention_join(past_v, new_v)
    added = _microsoft_added(q, k, mask, attention_bias, unidirectional, masked)
    out = torch.scaled_dot_product_attention(q, k, v, added, 0.0, False, scale=scale)
    return torch.flatten(torch.transpose(out, 1, 2), 2), k, v


def _microsoft_projected(
    input: Tensor, weights: Tensor, bias: Optional[Tensor], sizes: List[int]
) -> List[Tensor]:
    whole = torch.matmul(input, weights)
    if bias is not None:
        whole = whole + bias
    return torch.split_with_sizes(whole, sizes, 2)


def com_microsoft_Attention(
    input: Tensor,
    weights: Tensor,
    bias: Optional[Tensor],
    mask_index: Optional[Tensor],
    past: Optional[Tensor],
    attention_bias: Optional[Tensor],
    *,
    num_heads: int,
    unidirectional: bool = False,
    mask_filter_value: float = -10000.0,
    qkv_hidden_sizes: Optional[List[int]] = None,
    scale: Optional[float] = None,
    do_rotary: int = 0,
    rotary_embedding_dim: int = 0,
    past_present_share_buffer: int = 0,
) -> Tuple[Tensor, Tensor]:
    _microsoft_refused(do_rotary, past_present_share_buffer)
    sizes = [weights.size(1) // 3] * 3
    if qkv_hidden_sizes is not None:
        sizes = qkv_hidden_sizes
    q, k, v = _microsoft_projected(input, weights, bias, sizes)
    past_k: Optional[Tensor] = None
    past_v: Optional[Tensor] = None
    if past is not None:
        past_k = past[0]
        past_v = past[1]
    out, all_k, all_v = _microsoft_attention(
        _attention_heads(q, num_heads),
        _attention_heads(k, num_heads),
        _attention_heads(v, num_heads),
        mask_index,
        attention_bias,
        past_k,
        past_v,
        unidirectional,
        mask_filter_value,
        scale,
    )
    # Heads of values may have another size: then there is no such tensor.
    if all_k.size(3) == all_v.size(3):
        present = torch.stack([all_k, all_v])
    else:
        present = all_k
    return out, present


# Queries, keys and values as heads, with their bias.
def _microsoft_heads(
    query: Tensor,
    key: Optional[Tensor],
    value: Optional[Tensor],
    bias: Optional[Tensor],
    num_heads: int,
) -> Tuple[Tensor, Tensor, Tensor]:
    q = query
    if key is None:
        # [batch, length, heads, 3, size]
        if query.dim() != 5:
            raise NotImplementedError("MultiHeadAttention without keys")
        q = query.select(3, 0).flatten(2)
        k = query.select(3, 1).flatten(2)
        v = query.select(3, 2).flatten(2)
    elif value is None:
        # [batch, length, heads, 2, size]
        if key.dim() != 5:
            raise NotImplementedError("MultiHeadAttention without values")
        k = key.select(3, 0).flatten(2)
        v = key.select(3, 1).flatten(2)
    else:
        k = key
        v = value
    if bias is not None:
        size = q.size(2)
        q = q + bias[:size]
        # Keys that come as heads have theirs.
        if k.dim() == 3:
            k = k + bias[size : 2 * size]
            v = v + bias[2 * size :]
    return (
        _attention_heads(q, num_heads),
        _attention_heads(k, num_heads),
        _attention_heads(v, num_heads),
    )


def com_microsoft_MultiHeadAttention(
    query: Tensor,
    key: Optional[Tensor],
    value: Optional[Tensor],
    bias: Optional[Tensor],
    key_padding_mask: Optional[Tensor],
    attention_bias: Optional[Tensor],
    past_key: Optional[Tensor],
    past_value: Optional[Tensor],
    *,
    num_heads: int,
    mask_filter_value: float = -10000.0,
    scale: Optional[float] = None,
    unidirectional: bool = False,
) -> Tuple[Tensor, Tensor, Tensor]:
    q, k, v = _microsoft_heads(query, key, value, bias, num_heads)
    return _microsoft_attention(
        q,
        k,
        v,
        key_padding_mask,
        attention_bias,
        past_key,
        past_value,
        unidirectional,
        mask_filter_value,
        scale,
    )


# With the scores of each query's keys, before their softmax.
def com_microsoft_MultiHeadAttention__scores(
    query: Tensor,
    key: Optional[Tensor],
    value: Optional[Tensor],
    bias: Optional[Tensor],
    key_padding_mask: Optional[Tensor],
    attention_bias: Optional[Tensor],
    past_key: Optional[Tensor],
    past_value: Optional[Tensor],
    *,
    num_heads: int,
    mask_filter_value: float = -10000.0,
    scale: Optional[float] = None,
    unidirectional: bool = False,
) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    q, new_k, new_v = _microsoft_heads(query, key, value, bias, num_heads)
    k = _attention_join(past_key, new_k)
    v = _attention_join(past_value, new_v)
    added = _microsoft_added(
        q, k, key_padding_mask, attention_bias, unidirectional, mask_filter_value
    )
    scores = _attention_scores(q, k, scale)
    if added is not None:
        scores = scores + added
    weights = torch.softmax(scores, -1)
    return _attention_result(weights, v, True), k, v, scores


# A step of decoding: a query for each text, with keys in its own tensors.
def com_microsoft_DecoderMaskedMultiHeadAttention(
    query: Tensor,
    key: Optional[Tensor],
    value: Optional[Tensor],
    mask_index: Optional[Tensor],
    attention_bias: Optional[Tensor],
    past_key: Optional[Tensor],
    past_value: Optional[Tensor],
    past_sequence_length: Optional[Tensor],
    beam_width: Optional[Tensor],
    cache_indirection: Optional[Tensor],
    bias: Optional[Tensor],
    *,
    num_heads: int,
    mask_filter_value: float = -10000.0,
    output_qk: int = 0,
    past_present_share_buffer: int = 0,
    scale: Optional[float] = None,
) -> Tuple[Tensor, Tensor, Tensor]:
    if (
        past_present_share_buffer != 0
        or past_sequence_length is not None
        or cache_indirection is not None
        or output_qk != 0
    ):
        raise NotImplementedError(
            "DecoderMaskedMultiHeadAttention with shared buffers or beams"
        )
    return com_microsoft_MultiHeadAttention(
        query,
        key,
        value,
        bias,
        mask_index,
        attention_bias,
        past_key,
        past_value,
        num_heads=num_heads,
        mask_filter_value=mask_filter_value,
        scale=scale,
    )


def com_microsoft_RotaryEmbedding(
    input: Tensor,
    position_ids: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    *,
    interleaved: bool = False,
    is_packed_batching: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    scale: float = 1.0,
) -> Tensor:
    # Tables hold all places, so that nothing is scaled for those beyond them.
    length = input.size(1) if input.dim() == 3 else input.size(2)
    heads = num_heads
    if heads == 0 and input.dim() == 3:
        heads = input.size(2) // (2 * cos_cache.size(1))
    places = position_ids
    if places.numel() == 1:
        places = places.reshape([1, 1]) + torch.unsqueeze(
            torch.arange(length, device=input.device), 0
        )
    x = torch.transpose(input, 1, 2) if input.dim() == 4 else input
    # The first of a text's tokens alone is given.
    places = places.expand([input.size(0), length])
    x = x.reshape([x.size(0), length, -1])
    if input.dim() == 4:
        heads = input.size(1)
    out = RotaryEmbedding(
        x,
        cos_cache,
        sin_cache,
        places,
        interleaved=interleaved,
        num_heads=heads,
        rotary_embedding_dim=rotary_embedding_dim,
    )
    if input.dim() == 4:
        out = out.reshape([out.size(0), length, heads, -1])
        out = torch.transpose(out, 1, 2)
    return out


# [batch, heads, length, size], each head by its root of the mean square.
def _microsoft_normed(x: Tensor, weight: Optional[Tensor], epsilon: float) -> Tensor:
    if weight is None:
        return x
    return torch.rms_norm(x, x.size()[-1:], weight, epsilon)


# Heads turned by tables with a row for each place, [batch, length].
def _microsoft_rotated(
    x: Tensor,
    cos_cache: Optional[Tensor],
    sin_cache: Optional[Tensor],
    places: Tensor,
    interleaved: bool,
) -> Tensor:
    if cos_cache is None or sin_cache is None:
        raise ValueError("do_rotary needs cos_cache and sin_cache")
    rows = torch.transpose(x, 1, 2)
    flat = RotaryEmbedding(
        rows.flatten(2),
        cos_cache,
        sin_cache,
        places,
        interleaved=interleaved,
        num_heads=x.size(1),
        rotary_embedding_dim=2 * cos_cache.size(1),
    )
    return torch.transpose(flat.reshape(rows.size()), 1, 2)


# Keys or values of before and, from `begin` of each text on, the new ones.
def _microsoft_cached(
    past: Optional[Tensor], new: Tensor, begin: Tensor, length: int
) -> Tensor:
    count = new.size(2)
    if past is None:
        return torch.constant_pad_nd(new, [0, 0, 0, length - count], 0.0)
    kept = torch.constant_pad_nd(past, [0, 0, 0, length - past.size(2)], 0.0)
    place = torch.arange(length, device=new.device) - begin.unsqueeze(1)
    is_new = torch.logical_and(place >= 0, place < count)
    index = place.clamp(0, count - 1).reshape([-1, 1, length, 1])
    index = index.expand([new.size(0), new.size(1), length, new.size(3)])
    # Nothing is behind the new ones.
    kept = torch.where(
        (place < 0).reshape([-1, 1, length, 1]), kept, torch.zeros_like(kept)
    )
    return torch.where(is_new.reshape([-1, 1, length, 1]), new.gather(2, index), kept)


# Softmax with one more term below the line: exp of the sink.
def _microsoft_sinking(scores: Tensor, sink: Tensor) -> Tensor:
    shape = scores.size()[:3] + [1]
    column = sink.to(scores.dtype).reshape([1, -1, 1, 1]).expand(shape)
    whole = torch.softmax(torch.cat([scores, column], 3), 3)
    return whole[:, :, :, : scores.size(3)]


def com_microsoft_GroupQueryAttention(
    query: Tensor,
    key: Optional[Tensor],
    value: Optional[Tensor],
    past_key: Optional[Tensor],
    past_value: Optional[Tensor],
    seqlens_k: Tensor,
    total_sequence_length: int,
    cos_cache: Optional[Tensor],
    sin_cache: Optional[Tensor],
    position_ids: Optional[Tensor],
    attention_bias: Optional[Tensor],
    head_sink: Optional[Tensor],
    k_scale: Optional[Tensor],
    v_scale: Optional[Tensor],
    q_norm_weight: Optional[Tensor],
    k_norm_weight: Optional[Tensor],
    *,
    num_heads: int,
    kv_num_heads: int,
    causal: bool = True,
    do_rotary: bool = False,
    k_norm_epsilon: Optional[float] = None,
    k_quant_type: str = "NONE",
    kv_cache_bit_width: int = 0,
    local_window_size: int = -1,
    q_norm_epsilon: Optional[float] = None,
    qk_norm_epsilon: float = 1e-6,
    qk_output: int = 0,
    rotary_interleaved: bool = False,
    scale: Optional[float] = None,
    sliding_window_cache: int = 0,
    smooth_softmax: int = -1,
    softcap: float = 0.0,
    v_quant_type: str = "NONE",
) -> Tuple[Tensor, Tensor, Tensor]:
    if (
        k_quant_type != "NONE"
        or v_quant_type != "NONE"
        or sliding_window_cache != 0
        or qk_output != 0
    ):
        raise NotImplementedError(
            "GroupQueryAttention with quantized or sliding caches, or qk_output"
        )
    if key is None or value is None:
        heads = num_heads + 2 * kv_num_heads
        packed = _attention_heads(query, heads)
        q = packed[:, :num_heads]
        k = packed[:, num_heads : num_heads + kv_num_heads]
        v = packed[:, num_heads + kv_num_heads :]
    else:
        q = _attention_heads(query, num_heads)
        k = _attention_heads(key, kv_num_heads)
        v = _attention_heads(value, kv_num_heads)
    length = q.size(2)
    ends = seqlens_k.reshape([-1]).to(torch.int64) + 1
    # The first tokens may be padded at the right, later ones are not.
    prompt = total_sequence_length == length
    begin = torch.zeros_like(ends) if prompt else ends - length
    q = _microsoft_normed(
        q, q_norm_weight, qk_norm_epsilon if q_norm_epsilon is None else q_norm_epsilon
    )
    k = _microsoft_normed(
        k, k_norm_weight, qk_norm_epsilon if k_norm_epsilon is None else k_norm_epsilon
    )
    steps = torch.arange(length, device=query.device)
    places = begin.unsqueeze(1) + steps
    if do_rotary:
        turned = places
        if position_ids is not None and prompt:
            # The place of the first token alone is given.
            turned = steps + position_ids.reshape([-1])[:1].unsqueeze(1)
            turned = turned.expand([q.size(0), length])
        elif position_ids is not None:
            turned = position_ids.expand([q.size(0), length])
        q = _microsoft_rotated(q, cos_cache, sin_cache, turned, rotary_interleaved)
        k = _microsoft_rotated(k, cos_cache, sin_cache, turned, rotary_interleaved)
    room = total_sequence_length
    if past_key is not None:
        room = max(room, past_key.size(2))
    all_k = _microsoft_cached(past_key, k, begin, room)
    all_v = _microsoft_cached(past_value, v, begin, room)
    keys = torch.arange(room, device=query.device)
    if causal:
        seen = keys <= places.unsqueeze(2)
        if local_window_size > 0:
            near = keys > places.unsqueeze(2) - local_window_size
            seen = torch.logical_and(seen, near)
    else:
        seen = (keys < ends.unsqueeze(1)).unsqueeze(1)
    allowed = seen.unsqueeze(1)
    bias: Optional[Tensor] = None
    if attention_bias is not None:
        missing = room - attention_bias.size(3)
        bias = torch.constant_pad_nd(attention_bias, [0, missing], 0.0)
    sinks = head_sink is not None or smooth_softmax == 1
    if softcap == 0.0 and not sinks:
        added = _attention_bias(bias, allowed)
        out = torch.scaled_dot_product_attention(
            q,
            all_k,
            all_v,
            added,
            0.0,
            False,
            scale=scale,
            enable_gqa=num_heads != kv_num_heads,
        )
        return torch.flatten(torch.transpose(out, 1, 2), 2), all_k, all_v
    scores = _attention_capped(
        _attention_scores(q.float(), all_k.float(), scale), softcap
    )
    if bias is not None:
        scores = scores + bias
    scores = torch.where(allowed, scores, torch.full_like(scores, -inf))
    if head_sink is not None:
        probs = _microsoft_sinking(scores, head_sink)
    elif smooth_softmax == 1:
        probs = _microsoft_sinking(scores, scores.new_zeros([num_heads]))
    else:
        probs = torch.softmax(scores, 3)
    out = _attention_result(probs, all_v, True).to(query.dtype)
    return out, all_k, all_v
