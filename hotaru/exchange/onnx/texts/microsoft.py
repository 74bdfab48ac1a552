"""Operators of the domain com.microsoft, which ONNX Runtime's tools write in
place of several of ONNX's.
"""


# Numbers are alpha, beta and gamma, as far as the node has them.
def _microsoft_activated(x: Tensor, activation: str, numbers: List[float]) -> Tensor:
    if activation == "" or activation == "Identity":
        return x
    if activation == "Relu":
        return torch.relu(x)
    if activation == "Tanh":
        return torch.tanh(x)
    if activation == "Sigmoid":
        return torch.sigmoid(x)
    if activation == "Softplus":
        return Softplus(x)
    if activation == "Softsign":
        return Softsign(x)
    if activation == "HardSwish":
        return HardSwish(x)
    if len(numbers) < 1:
        raise ValueError("the activation " + activation + " lacks its numbers")
    alpha = numbers[0]
    if activation == "LeakyRelu":
        return torch.leaky_relu(x, alpha)
    if activation == "Elu":
        return torch.where(x > 0, x, torch.expm1(x) * alpha)
    if activation == "ThresholdedRelu":
        return ThresholdedRelu(x, alpha=alpha)
    if len(numbers) < 2:
        raise ValueError("the activation " + activation + " lacks its numbers")
    beta = numbers[1]
    if activation == "Clip":
        return torch.clamp(x, alpha, beta)
    if activation == "HardSigmoid":
        return torch.clamp(x * alpha + beta, 0.0, 1.0)
    if activation == "ScaledTanh":
        return torch.tanh(x * beta) * alpha
    if activation == "ParametricSoftplus":
        return Softplus(x * beta) * alpha
    if activation == "Selu" and len(numbers) > 2:
        gamma = numbers[2]
        return torch.where(x > 0, x, torch.expm1(x) * alpha) * gamma
    raise NotImplementedError("the activation " + activation)


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
    activation_gamma: Optional[float] = None,
) -> Tensor:
    out = Gemm(A, B, C, alpha=alpha, beta=beta, transA=transA, transB=transB)
    return _microsoft_activated(
        out,
        activation,
        _microsoft_numbers(
            activation, activation_alpha, activation_beta, activation_gamma
        ),
    )


# Numbers that the node has not are the activation's own.
def _microsoft_numbers(
    activation: str,
    alpha: Optional[float],
    beta: Optional[float],
    gamma: Optional[float],
) -> List[float]:
    numbers = [1.0, 1.0, 1.0]
    if activation == "HardSigmoid":
        numbers = [0.2, 0.5, 0.0]
    elif activation == "LeakyRelu":
        numbers = [0.01, 0.0, 0.0]
    elif activation == "Selu":
        numbers = [1.67326319, 0.0, 1.05070098]
    if alpha is not None:
        numbers[0] = alpha
    if beta is not None:
        numbers[1] = beta
    if gamma is not None:
        numbers[2] = gamma
    return numbers


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


def com_microsoft_FusedMatMulActivation(
    A: Tensor,
    B: Tensor,
    *,
    activation: str,
    activation_alpha: Optional[float] = None,
    activation_beta: Optional[float] = None,
    activation_gamma: Optional[float] = None,
    activation_axis: int = -1,
    alpha: float = 1.0,
    transA: bool = False,
    transB: bool = False,
    transBatchA: bool = False,
    transBatchB: bool = False,
) -> Tensor:
    out = com_microsoft_FusedMatMul(
        A,
        B,
        alpha=alpha,
        transA=transA,
        transB=transB,
        transBatchA=transBatchA,
        transBatchB=transBatchB,
    )
    if activation == "Softmax":
        return torch.softmax(out, activation_axis)
    return _microsoft_activated(
        out,
        activation,
        _microsoft_numbers(
            activation, activation_alpha, activation_beta, activation_gamma
        ),
    )


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


# How many words of each text there are.
def _microsoft_words(ids: Tensor, mask: Optional[Tensor]) -> Tensor:
    if mask is None:
        return torch.zeros([ids.size(0)], dtype=torch.int32, device=ids.device)
    return (mask != 0).sum([1]).to(torch.int32)


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
    return out, _microsoft_words(input_ids, mask), whole


# Gelu(A B + bias), as tanh has it.
def com_microsoft_GemmFastGelu(X: Tensor, W: Tensor, bias: Optional[Tensor]) -> Tensor:
    return com_microsoft_FastGelu(torch.matmul(X, W), bias)


def com_microsoft_BiasAdd(X: Tensor, bias: Tensor, skip: Tensor) -> Tensor:
    return X + bias + skip


def com_microsoft_BiasSplitGelu(X: Tensor, bias: Tensor) -> Tensor:
    left, right = torch.chunk(X + bias, 2, -1)
    return left * torch.gelu(right)


def com_microsoft_BiasSoftmax(
    data: Tensor, bias: Tensor, *, axis: int = 1, is_inner_broadcast: bool
) -> Tensor:
    first = axis + data.dim() if axis < 0 else axis
    added = bias
    if is_inner_broadcast and bias.dim() < data.dim():
        # The bias lacks the dimensions just before the axis.
        lead = bias.dim() - (data.dim() - first)
        shape = bias.size()
        ones = [1] * (data.dim() - bias.dim())
        added = bias.reshape(shape[:lead] + ones + shape[lead:])
    whole = data + added
    return torch.softmax(whole.flatten(first), -1).reshape(whole.size())


def com_microsoft_ScaledSiLU(
    X: Tensor, scale: Optional[Tensor], *, alpha: float = 1.0
) -> Tensor:
    if scale is None:
        by = X * alpha
    else:
        by = (X * scale.squeeze()).to(X.dtype)
    return by * torch.sigmoid(by)


def com_microsoft_ExpandDims(X: Tensor, axis: int) -> Tensor:
    return X.unsqueeze(axis)


def com_microsoft_Range(
    start: Tensor, limit: Tensor, delta: Optional[Tensor]
) -> Tensor:
    step = torch.ones_like(start) if delta is None else delta
    return _shape_range(start.squeeze(), limit.squeeze(), step.squeeze())


def com_microsoft_GatherND(data: Tensor, indices: Tensor) -> Tensor:
    return torch.index(data, indices.to(torch.int64).unbind(-1))


def com_microsoft_Pad(
    data: Tensor, pads: List[int], value: Optional[float], *, mode: str = "constant"
) -> Tensor:
    return _shape_padded(data, pads, 0.0 if value is None else value, None, mode)


def com_microsoft_Unique(x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    values, _, inverse, counts = _reduce_unique(x, None, False)
    return values, inverse, counts


def com_microsoft_UnfoldTensor(
    input: Tensor, *, dim: int = -1, size: int, step: int = 1
) -> Tensor:
    return input.unfold(dim, size, step)


def com_microsoft_TorchEmbedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: Optional[Tensor],
    scale_grad_by_freq: Optional[Tensor],
) -> Tensor:
    return torch.embedding(weight, indices)


# Words that would repeat an n-gram of the text are no more to be chosen.
def com_microsoft_NGramRepeatBlock(
    input_ids: Tensor, scores: Tensor, *, ngram_size: int
) -> Tensor:
    length = input_ids.size(1)
    if ngram_size < 1 or length < ngram_size:
        return scores
    grams = input_ids.unfold(1, ngram_size, 1)
    begins = grams[:, :, : ngram_size - 1]
    last = input_ids[:, length - ngram_size + 1 :].unsqueeze(1)
    again = (begins == last).all(2)
    hits = torch.zeros(
        [scores.size(0), scores.size(1)], dtype=torch.int64, device=scores.device
    ).scatter_add(1, grams[:, :, ngram_size - 1].to(torch.int64), again.long())
    return torch.where(hits > 0, torch.full_like(scores, -inf), scores)


def com_microsoft_IsAllFinite(
    all_inputs: List[Tensor], *, isinf_only: bool = False, isnan_only: bool = False
) -> Tensor:
    found: List[Tensor] = []
    for x in all_inputs:
        if isinf_only:
            bad = x.isinf()
        elif isnan_only:
            bad = x.isnan()
        else:
            bad = torch.logical_not(x.isfinite())
        found.append(bad.any())
    return torch.logical_not(torch.stack(found).any())


def _microsoft_complex(x: Tensor) -> Tensor:
    return torch.view_as_complex(x.reshape(x.size()[:-1] + [-1, 2]))


# Real and imaginary parts lie side by side in the last dimension.
def com_microsoft_ComplexMul(A: Tensor, B: Tensor) -> Tensor:
    product = _microsoft_complex(A) * _microsoft_complex(B)
    return torch.view_as_real(product).flatten(-2)


def com_microsoft_ComplexMulConj(A: Tensor, B: Tensor) -> Tensor:
    product = _microsoft_complex(A) * _microsoft_complex(B).conj()
    return torch.view_as_real(product.resolve_conj()).flatten(-2)


def com_microsoft_Rfft(
    X: Tensor, *, normalized: bool = False, onesided: bool = True, signal_ndim: int = 1
) -> Tensor:
    if normalized or not onesided:
        raise NotImplementedError("Rfft that is normalized or of both sides")
    dims = list(range(X.dim() - signal_ndim, X.dim()))
    return torch.view_as_real(torch.fft_rfftn(X, None, dims, "backward"))


def com_microsoft_Irfft(
    X: Tensor, *, normalized: bool = False, onesided: bool = True, signal_ndim: int
) -> Tensor:
    if normalized or not onesided:
        raise NotImplementedError("Irfft that is normalized or of both sides")
    dims = list(range(X.dim() - 1 - signal_ndim, X.dim() - 1))
    whole = torch.view_as_complex(X.contiguous())
    return torch.fft_irfftn(whole, None, dims, "backward")
