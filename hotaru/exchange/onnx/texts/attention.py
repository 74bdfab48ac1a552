"""Attention and rotary embeddings."""


# [batch, length, heads * size] as [batch, heads, length, size].
def _attention_heads(x: Tensor, heads: Optional[int]) -> Tensor:
    if x.dim() == 4:
        return x
    if heads is None:
        raise ValueError("Attention of 3-d inputs needs q_num_heads and kv_num_heads")
    return torch.transpose(
        x.reshape([x.size(0), x.size(1), heads, x.size(2) // heads]), 1, 2
    )


def _attention_join(past: Optional[Tensor], new: Tensor) -> Tensor:
    if past is None:
        return new
    return torch.cat([past, new], 2)


# Masks may end before the keys do; what is missing takes no part.
def _attention_mask(mask: Tensor, keys: int, dtype: int) -> Tensor:
    missing = keys - mask.size(-1)
    if mask.dtype == torch.bool:
        full = torch.constant_pad_nd(mask, [0, missing], False) if missing > 0 else mask
    else:
        bias = mask.to(dtype)
        full = torch.constant_pad_nd(bias, [0, missing], -inf) if missing > 0 else bias
    return torch.unsqueeze(full, 0) if full.dim() == 1 else full


# Which keys the queries may see by position and length, None if all.
def _attention_allowed(
    queries: int,
    keys: int,
    past: int,
    lengths: Optional[Tensor],
    is_causal: bool,
    left: int,
    right: int,
    device: Device,
) -> Optional[Tensor]:
    allowed: Optional[Tensor] = None
    key = torch.arange(keys, device=device)
    if is_causal or left >= 0 or right >= 0:
        position = torch.unsqueeze(torch.arange(past, past + queries, device=device), 1)
        if lengths is not None:
            offset = torch.reshape(lengths - queries, [-1, 1, 1, 1])
            position = position + offset
        if is_causal:
            allowed = key <= position
        elif right >= 0:
            allowed = key <= position + right
        if left >= 0:
            near = key >= position - left
            allowed = near if allowed is None else torch.logical_and(allowed, near)
    if lengths is not None:
        there = key < torch.reshape(lengths, [-1, 1, 1, 1])
        allowed = there if allowed is None else torch.logical_and(allowed, there)
    return allowed


# Term added to the scores, or as bool what takes part; None for neither.
def _attention_bias(
    mask: Optional[Tensor], allowed: Optional[Tensor]
) -> Optional[Tensor]:
    if mask is None:
        return allowed
    if allowed is None:
        return mask
    if mask.dtype == torch.bool:
        return torch.logical_and(mask, allowed)
    return torch.where(allowed, mask, -inf)


# The dtype that softmax computes in: PyTorch's number, or none given.
def _attention_softmax(
    scores: Tensor, bias: Optional[Tensor], precision: Optional[int]
) -> Tensor:
    dtype = scores.dtype
    if precision is not None:
        scores = scores.to(precision)
    probs = torch.softmax(scores, -1)
    if bias is not None:
        # Rows that see nothing are zero, whatever their scores were.
        seen = bias if bias.dtype == torch.bool else bias != -inf
        probs = torch.where(torch.any(seen, -1, True), probs, torch.zeros_like(probs))
    return probs.to(dtype)


def _attention_biased(scores: Tensor, bias: Optional[Tensor]) -> Tensor:
    if bias is None:
        return scores
    if bias.dtype == torch.bool:
        return torch.where(bias, scores, torch.full_like(scores, -inf))
    return torch.where(bias == -inf, torch.full_like(scores, -inf), scores + bias)


def _attention_scores(q: Tensor, k: Tensor, scale: Optional[float]) -> Tensor:
    # Half of the scale on each side keeps half precision from overflowing.
    root = math.sqrt(1.0 / math.sqrt(q.size(3)) if scale is None else scale)
    groups = q.size(1) // k.size(1)
    if groups != 1:
        k = torch.repeat_interleave(k, groups, 1)
    return torch.matmul(q * root, torch.transpose(k, 2, 3) * root)


def _attention_capped(scores: Tensor, softcap: float) -> Tensor:
    if softcap == 0.0:
        return scores
    return torch.tanh(scores / softcap) * softcap


def _attention_result(probs: Tensor, v: Tensor, flat: bool) -> Tensor:
    groups = probs.size(1) // v.size(1)
    if groups != 1:
        v = torch.repeat_interleave(v, groups, 1)
    Y = torch.matmul(probs, v.to(probs.dtype))
    return torch.flatten(torch.transpose(Y, 1, 2), 2) if flat else Y


def _attention_output(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Optional[Tensor],
    past: int,
    lengths: Optional[Tensor],
    is_causal: bool,
    left: int,
    right: int,
    scale: Optional[float],
    softcap: float,
    precision: Optional[int],
    flat: bool,
) -> Tensor:
    plain = softcap == 0.0 and (
        precision is None or precision == 6 or precision == q.dtype
    )
    # A lone query sees all that came before it.
    if q.size(2) == 1 and (lengths is not None or past + 1 == k.size(2)):
        is_causal = False
    simple = (
        attn_mask is None and lengths is None and past == 0 and left < 0 and right < 0
    )
    bias: Optional[Tensor] = None
    if not simple or (is_causal and not plain):
        allowed = _attention_allowed(
            q.size(2), k.size(2), past, lengths, is_causal, left, right, q.device
        )
        mask: Optional[Tensor] = None
        if attn_mask is not None:
            mask = _attention_mask(attn_mask, k.size(2), q.dtype)
        bias = _attention_bias(mask, allowed)
    if plain:
        Y = torch.scaled_dot_product_attention(
            q,
            k,
            v.to(q.dtype),
            bias,
            0.0,
            simple and is_causal,
            scale=scale,
            enable_gqa=q.size(1) != k.size(1),
        )
        return torch.flatten(torch.transpose(Y, 1, 2), 2) if flat else Y
    scores = _attention_biased(
        _attention_capped(_attention_scores(q, k, scale), softcap), bias
    )
    return _attention_result(_attention_softmax(scores, bias, precision), v, flat)


def Attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    attn_mask: Optional[Tensor],
    past_key: Optional[Tensor],
    past_value: Optional[Tensor],
    nonpad_kv_seqlen: Optional[Tensor],
    *,
    is_causal: bool = False,
    kv_num_heads: Optional[int] = None,
    left_window_size: int = -1,
    q_num_heads: Optional[int] = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: Optional[float] = None,
    softcap: float = 0.0,
    softmax_precision: Optional[int] = None,
) -> Tensor:
    q = _attention_heads(Q, q_num_heads)
    return _attention_output(
        q,
        _attention_join(past_key, _attention_heads(K, kv_num_heads)),
        _attention_join(past_value, _attention_heads(V, kv_num_heads)),
        attn_mask,
        0 if past_key is None else past_key.size(2),
        nonpad_kv_seqlen,
        is_causal,
        left_window_size,
        right_window_size,
        scale,
        softcap,
        softmax_precision,
        Q.dim() == 3,
    )


def Attention__present(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    attn_mask: Optional[Tensor],
    past_key: Optional[Tensor],
    past_value: Optional[Tensor],
    nonpad_kv_seqlen: Optional[Tensor],
    *,
    is_causal: bool = False,
    kv_num_heads: Optional[int] = None,
    left_window_size: int = -1,
    q_num_heads: Optional[int] = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: Optional[float] = None,
    softcap: float = 0.0,
    softmax_precision: Optional[int] = None,
) -> Tuple[Tensor, Tensor, Tensor]:
    q = _attention_heads(Q, q_num_heads)
    k = _attention_join(past_key, _attention_heads(K, kv_num_heads))
    v = _attention_join(past_value, _attention_heads(V, kv_num_heads))
    Y = _attention_output(
        q,
        k,
        v,
        attn_mask,
        0 if past_key is None else past_key.size(2),
        nonpad_kv_seqlen,
        is_causal,
        left_window_size,
        right_window_size,
        scale,
        softcap,
        softmax_precision,
        Q.dim() == 3,
    )
    return Y, k, v


def Attention__scores(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    attn_mask: Optional[Tensor],
    past_key: Optional[Tensor],
    past_value: Optional[Tensor],
    nonpad_kv_seqlen: Optional[Tensor],
    *,
    is_causal: bool = False,
    kv_num_heads: Optional[int] = None,
    left_window_size: int = -1,
    q_num_heads: Optional[int] = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: Optional[float] = None,
    softcap: float = 0.0,
    softmax_precision: Optional[int] = None,
) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    q = _attention_heads(Q, q_num_heads)
    k = _attention_join(past_key, _attention_heads(K, kv_num_heads))
    v = _attention_join(past_value, _attention_heads(V, kv_num_heads))
    past = 0 if past_key is None else past_key.size(2)
    allowed = _attention_allowed(
        q.size(2),
        k.size(2),
        past,
        nonpad_kv_seqlen,
        is_causal,
        left_window_size,
        right_window_size,
        q.device,
    )
    mask: Optional[Tensor] = None
    if attn_mask is not None:
        mask = _attention_mask(attn_mask, k.size(2), q.dtype)
    bias = _attention_bias(mask, allowed)
    raw = _attention_scores(q, k, scale)
    capped = _attention_capped(raw, softcap)
    biased = _attention_biased(capped, bias)
    probs = _attention_softmax(biased, bias, softmax_precision)
    Y = _attention_result(probs, v, Q.dim() == 3)
    if qk_matmul_output_mode == 0:
        return Y, k, v, raw
    if qk_matmul_output_mode == 1:
        return Y, k, v, capped
    if qk_matmul_output_mode == 2:
        return Y, k, v, biased
    if qk_matmul_output_mode == 3:
        return Y, k, v, probs
    raise ValueError("qk_matmul_output_mode is 0, 1, 2 or 3")


# Attention of the preview domain, without functions of its scores. Those are
# graphs: they stand between the three functions that follow.
def FlexAttention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    *,
    scale: Optional[float] = None,
    softmax_precision: Optional[int] = None,
) -> Tensor:
    precision = softmax_precision
    if precision is not None and precision != 7:
        # Our attention softmaxes half precision as float.
        precision = None
    return _attention_output(
        Q, K, V, None, 0, None, False, -1, -1, scale, 0.0, precision, False
    )


def _attention_flex_scores(
    Q: Tensor, K: Tensor, scale: Optional[float], softmax_precision: Optional[int]
) -> Tensor:
    dtype = 7 if Q.dtype == torch.float64 else 6
    if softmax_precision is not None:
        dtype = softmax_precision
    return _attention_scores(Q.to(dtype), K.to(dtype), scale)


def _attention_flex_probabilities(scores: Tensor) -> Tensor:
    return torch.softmax(scores, -1)


def _attention_flex_output(probabilities: Tensor, V: Tensor) -> Tensor:
    Y = _attention_result(probabilities, V.to(probabilities.dtype), False)
    return Y.to(V.dtype)


def RotaryEmbedding(
    X: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    position_ids: Optional[Tensor],
    *,
    interleaved: bool = False,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    if position_ids is not None:
        cos_cache = torch.index(cos_cache, [position_ids])
        sin_cache = torch.index(sin_cache, [position_ids])
    x = X
    if X.dim() == 3:
        if num_heads <= 0:
            raise ValueError("RotaryEmbedding of 3-d inputs needs num_heads")
        x = X.reshape([X.size(0), X.size(1), num_heads, X.size(2) // num_heads])
    heads = 2 if X.dim() == 3 else 1
    cos = torch.unsqueeze(cos_cache, heads)
    sin = torch.unsqueeze(sin_cache, heads)
    size = x.size(3) if rotary_embedding_dim == 0 else rotary_embedding_dim
    half = size // 2
    if interleaved:
        x1 = x[:, :, :, 0:size:2]
        x2 = x[:, :, :, 1:size:2]
    else:
        x1 = x[:, :, :, :half]
        x2 = x[:, :, :, half:size]
    real = cos * x1 - sin * x2
    imaginary = sin * x1 + cos * x2
    if interleaved:
        turned = torch.flatten(torch.stack([real, imaginary], 4), 3)
        if size == x.size(3):
            return turned.reshape(X.size())
        return torch.cat([turned, x[:, :, :, size:]], 3).reshape(X.size())
    if size == x.size(3):
        return torch.cat([real, imaginary], 3).reshape(X.size())
    return torch.cat([real, imaginary, x[:, :, :, size:]], 3).reshape(X.size())
