"""Operators of the domain com.microsoft, which ONNX Runtime's tools write in
place of several of ONNX's.
"""


def _microsoft_activated(x: Tensor, activation: str, numbers: List[float]) -> Tensor:
    if activation == "" or activation == "Identity":
        return x
    if activation == "Relu":
        return torch.relu(x)
    if activation == "Tanh":
        return torch.tanh(x)
    if activation == "Sigmoid":
        return torch.sigmoid(x)
    if activation == "LeakyRelu":
        return torch.leaky_relu(x, numbers[0])
    if activation == "Clip":
        return torch.clamp(x, numbers[0], numbers[1])
    if activation == "HardSigmoid":
        return torch.clamp(x * numbers[0] + numbers[1], 0.0, 1.0)
    raise NotImplementedError("the activation " + activation)


def com_microsoft_FusedConv(
    X: Tensor,
    W: Tensor,
    B: Optional[Tensor],
    Z: Optional[Tensor],
    *,
    activation: str = "",
    activation_params: Optional[List[float]] = None,
    auto_pad: str = "NOTSET",
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    out = Conv(
        X,
        W,
        B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    if Z is not None:
        out = out + Z
    numbers: List[float] = []
    if activation_params is not None:
        numbers = activation_params
    return _microsoft_activated(out, activation, numbers)


def com_microsoft_FusedGemm(
    A: Tensor,
    B: Tensor,
    C: Optional[Tensor] = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: bool = False,
    transB: bool = False,
    activation: str = "",
    activation_alpha: Optional[float] = None,
    activation_beta: Optional[float] = None,
    activation_gamma: float = 0.0,
) -> Tensor:
    out = Gemm(A, B, C, alpha=alpha, beta=beta, transA=transA, transB=transB)
    hard = activation == "HardSigmoid"
    first = 0.2 if hard else 0.01
    second = 0.5
    if activation_alpha is not None:
        first = activation_alpha
    if activation_beta is not None:
        second = activation_beta
    return _microsoft_activated(out, activation, [first, second])


# The second dimension from the end first: [b1, M, b2, K] as [b1, b2, M, K].
def _microsoft_turned(x: Tensor, batch: bool, last: bool) -> Tensor:
    out = x
    if batch:
        out = out.movedim([0], [out.dim() - 2])
    if last and out.dim() > 1:
        out = torch.transpose(out, -1, -2)
    return out


def com_microsoft_FusedMatMul(
    A: Tensor,
    B: Tensor,
    *,
    alpha: float = 1.0,
    transA: bool = False,
    transB: bool = False,
    transBatchA: bool = False,
    transBatchB: bool = False,
) -> Tensor:
    a = _microsoft_turned(A, transBatchA, transA)
    b = _microsoft_turned(B, transBatchB, transB)
    out = torch.matmul(a, b)
    return out if alpha == 1.0 else out * alpha


def com_microsoft_TransposeMatMul(
    A: Tensor,
    B: Tensor,
    *,
    alpha: float = 1.0,
    transA: bool = False,
    transB: bool = False,
) -> Tensor:
    return com_microsoft_FusedMatMul(A, B, alpha=alpha, transA=transA, transB=transB)


def com_microsoft_Gelu(X: Tensor) -> Tensor:
    return torch.gelu(X)


def com_microsoft_BiasGelu(A: Tensor, B: Tensor) -> Tensor:
    return torch.gelu(A + B)


def com_microsoft_FastGelu(X: Tensor, bias: Optional[Tensor]) -> Tensor:
    return torch.gelu(X if bias is None else X + bias, approximate="tanh")


def com_microsoft_QuickGelu(X: Tensor, *, alpha: float = 1.702) -> Tensor:
    return X * torch.sigmoid(X * alpha)


def com_microsoft_Inverse(X: Tensor) -> Tensor:
    return torch.linalg_inv(X)


def com_microsoft_Trilu(X: Tensor, k: Optional[int], *, upper: bool = True) -> Tensor:
    return Trilu_v14(X, k, upper=upper)


def com_microsoft_CDist(A: Tensor, B: Tensor, *, metric: str = "sqeuclidean") -> Tensor:
    difference = A.unsqueeze(1) - B.unsqueeze(0)
    squares = (difference * difference).sum([-1])
    return squares.sqrt() if metric == "euclidean" else squares


# ONNX Runtime has it in ONNX's own domain.
def SimplifiedLayerNormalization(
    X: Tensor,
    scale: Tensor,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:
    return RMSNormalization_v23(
        X, scale, axis=axis, epsilon=epsilon, stash_type=stash_type
    )


def _microsoft_skipped(input: Tensor, skip: Tensor, bias: Optional[Tensor]) -> Tensor:
    out = input + skip
    return out if bias is None else out + bias


def com_microsoft_SkipLayerNormalization(
    input: Tensor,
    skip: Tensor,
    gamma: Tensor,
    beta: Optional[Tensor],
    bias: Optional[Tensor],
    *,
    epsilon: float = 1e-12,
) -> Tensor:
    whole = _microsoft_skipped(input, skip, bias)
    return torch.layer_norm(whole, whole.size()[-1:], gamma, beta, epsilon, False)


def com_microsoft_SkipLayerNormalization__sum(
    input: Tensor,
    skip: Tensor,
    gamma: Tensor,
    beta: Optional[Tensor],
    bias: Optional[Tensor],
    *,
    epsilon: float = 1e-12,
) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    whole = _microsoft_skipped(input, skip, bias)
    out, mean, rstd = torch.native_layer_norm(
        whole, whole.size()[-1:], gamma, beta, epsilon
    )
    return out, mean, rstd, whole


def com_microsoft_SkipSimplifiedLayerNormalization(
    input: Tensor,
    skip: Tensor,
    gamma: Tensor,
    bias: Optional[Tensor],
    *,
    epsilon: float = 1e-12,
) -> Tensor:
    whole = _microsoft_skipped(input, skip, bias)
    return torch.rms_norm(whole, whole.size()[-1:], gamma, epsilon)


# The second result, which ONNX Runtime does not write, is zero.
def com_microsoft_SkipSimplifiedLayerNormalization__sum(
    input: Tensor,
    skip: Tensor,
    gamma: Tensor,
    bias: Optional[Tensor],
    *,
    epsilon: float = 1e-12,
) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    whole = _microsoft_skipped(input, skip, bias)
    square = torch.mean(whole * whole, [-1], True)
    out = torch.rms_norm(whole, whole.size()[-1:], gamma, epsilon)
    rstd = torch.rsqrt(square + epsilon)
    return out, torch.zeros_like(square), rstd, whole


def com_microsoft_EmbedLayerNormalization(
    input_ids: Tensor,
    segment_ids: Optional[Tensor],
    word_embedding: Tensor,
    position_embedding: Tensor,
    segment_embedding: Optional[Tensor],
    gamma: Tensor,
    beta: Tensor,
    mask: Optional[Tensor],
    position_ids: Optional[Tensor],
    *,
    epsilon: float = 1e-12,
    mask_index_type: int = 0,
) -> Tuple[Tensor, Tensor, Tensor]:
    words = torch.embedding(word_embedding, input_ids)
    if position_ids is None:
        places = position_embedding[: input_ids.size(1)]
    else:
        places = torch.embedding(position_embedding, position_ids)
    whole = words + places
    if segment_ids is not None and segment_embedding is not None:
        whole = whole + torch.embedding(segment_embedding, segment_ids)
    out = torch.layer_norm(whole, whole.size()[-1:], gamma, beta, epsilon, False)
    # How many words of each text there are.
    if mask is None:
        count = torch.zeros(
            [input_ids.size(0)], dtype=torch.int32, device=input_ids.device
        )
    else:
        count = (mask != 0).sum([1]).to(torch.int32)
    return out, count, whole


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
        elif mask.size(0) != batch:
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
    return _microsoft_attention(
        _attention_heads(q, num_heads),
        _attention_heads(k, num_heads),
        _attention_heads(v, num_heads),
        key_padding_mask,
        attention_bias,
        past_key,
        past_value,
        unidirectional,
        mask_filter_value,
        scale,
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
    if is_packed_batching != 0 or scale != 1.0:
        raise NotImplementedError("RotaryEmbedding of packed batches, scaled")
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
