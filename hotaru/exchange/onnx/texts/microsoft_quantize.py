"""Operators on quantized values of the domain com.microsoft, which the tools
of ONNX Runtime write.
"""


# Without an axis, or along the last one.
def _microsoft_real(x: Tensor, scale: Tensor, zero: Optional[Tensor]) -> Tensor:
    value = x.float()
    if zero is not None:
        value = value - zero.squeeze().float()
    return value * scale.squeeze().float()


def _microsoft_quantized(
    x: Tensor, scale: Tensor, zero: Optional[Tensor], dtype: int
) -> Tensor:
    return _quantize(x, scale.squeeze(), zero, -1, 0, dtype, torch.float32, True)


# As the bytes are that ONNX Runtime makes of a product's first factor.
def _microsoft_rounded(x: Tensor) -> Tensor:
    q, scale, zero = DynamicQuantizeLinear_v11(x)
    return (q.float() - zero.float()) * scale


def com_microsoft_QuantizeLinear(
    x: Tensor,
    y_scale: Tensor,
    y_zero_point: Optional[Tensor],
    *,
    axis: int = 1,
    small_y_zero_point: int = 0,
) -> Tensor:
    return QuantizeLinear_v10(
        x, y_scale, y_zero_point, axis=axis, small_y_zero_point=small_y_zero_point
    )


def com_microsoft_DequantizeLinear(
    x: Tensor, x_scale: Tensor, x_zero_point: Optional[Tensor], *, axis: int = 1
) -> Tensor:
    # Differences of integers of 32 bits are exact in double.
    if x.dtype == torch.int32:
        value = x.double()
        if x_zero_point is not None:
            value = value - _quantize_axis(x_zero_point, x.dim(), axis).double()
        scale = _quantize_axis(x_scale, x.dim(), axis)
        return value.to(x_scale.dtype) * scale
    return DequantizeLinear_v10(x, x_scale, x_zero_point, axis=axis)


def com_microsoft_QLinearAdd(
    A: Tensor,
    A_scale: Tensor,
    A_zero_point: Optional[Tensor],
    B: Tensor,
    B_scale: Tensor,
    B_zero_point: Optional[Tensor],
    C_scale: Tensor,
    C_zero_point: Optional[Tensor],
) -> Tensor:
    value = _microsoft_real(A, A_scale, A_zero_point) + _microsoft_real(
        B, B_scale, B_zero_point
    )
    return _microsoft_quantized(value, C_scale, C_zero_point, A.dtype)


def com_microsoft_QLinearMul(
    A: Tensor,
    A_scale: Tensor,
    A_zero_point: Optional[Tensor],
    B: Tensor,
    B_scale: Tensor,
    B_zero_point: Optional[Tensor],
    C_scale: Tensor,
    C_zero_point: Optional[Tensor],
) -> Tensor:
    value = _microsoft_real(A, A_scale, A_zero_point) * _microsoft_real(
        B, B_scale, B_zero_point
    )
    return _microsoft_quantized(value, C_scale, C_zero_point, A.dtype)


def com_microsoft_QLinearSigmoid(
    X: Tensor,
    X_scale: Tensor,
    X_zero_point: Optional[Tensor],
    Y_scale: Tensor,
    Y_zero_point: Optional[Tensor],
) -> Tensor:
    value = torch.sigmoid(_microsoft_real(X, X_scale, X_zero_point))
    return _microsoft_quantized(value, Y_scale, Y_zero_point, X.dtype)


def com_microsoft_QLinearLeakyRelu(
    X: Tensor,
    X_scale: Tensor,
    X_zero_point: Optional[Tensor],
    Y_scale: Tensor,
    Y_zero_point: Optional[Tensor],
    *,
    alpha: float = 0.01,
) -> Tensor:
    value = torch.leaky_relu(_microsoft_real(X, X_scale, X_zero_point), alpha)
    return _microsoft_quantized(value, Y_scale, Y_zero_point, X.dtype)


def com_microsoft_QLinearAveragePool(
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Optional[Tensor],
    y_scale: Tensor,
    y_zero_point: Optional[Tensor],
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
    channels_last: bool = False,
    count_include_pad: bool = False,
    kernel_shape: List[int],
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    x = _microsoft_channels_first(X) if channels_last else X
    value = _microsoft_real(x, x_scale, x_zero_point)
    n = len(kernel_shape)
    steps = [1] * n if strides is None else strides
    if count_include_pad:
        # All windows have the kernel's size, even where they reach beyond the
        # padding; ONNX's AveragePool does not count what lies there.
        sizes = x.size()[2:]
        around = _pool_pads(sizes, kernel_shape, steps, pads, auto_pad)
        windows = _pool_windows(sizes, kernel_shape, steps, around, ceil_mode)
        value = _pool_average(
            _pool_padded(value, kernel_shape, steps, around[:n], windows, 0.0),
            kernel_shape,
            steps,
            [0] * n,
            False,
            True,
            None,
        )
    else:
        value = AveragePool(
            value,
            auto_pad=auto_pad,
            ceil_mode=ceil_mode,
            kernel_shape=kernel_shape,
            pads=pads,
            strides=strides,
        )
    # The zero point is added before the rounding.
    rounded = value / y_scale.squeeze().float()
    if y_zero_point is not None:
        rounded = rounded + y_zero_point.squeeze().float()
    out = _quantize_integers(torch.round(rounded), X.dtype)
    return _microsoft_channels_last(out) if channels_last else out


def com_microsoft_QLinearGlobalAveragePool(
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Optional[Tensor],
    y_scale: Tensor,
    y_zero_point: Optional[Tensor],
    *,
    channels_last: bool = False,
) -> Tensor:
    first = 1 if channels_last else 2
    dims = list(range(first, first + X.dim() - 2))
    value = torch.mean(_microsoft_real(X, x_scale, x_zero_point), dims, True)
    return _microsoft_quantized(value, y_scale, y_zero_point, X.dtype)


def com_microsoft_QLinearConcat(
    Y_scale: Tensor,
    Y_zero_point: Optional[Tensor],
    all_inputs: List[Tensor],
    *,
    axis: int,
) -> Tensor:
    parts: List[Tensor] = []
    for i in range(len(all_inputs) // 3):
        parts.append(
            _microsoft_real(
                all_inputs[3 * i], all_inputs[3 * i + 1], all_inputs[3 * i + 2]
            )
        )
    return _microsoft_quantized(
        torch.cat(parts, axis), Y_scale, Y_zero_point, all_inputs[0].dtype
    )


def com_microsoft_QLinearWhere(
    condition: Tensor,
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    Y: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    z_scale: Tensor,
    z_zero_point: Tensor,
) -> Tensor:
    value = torch.where(
        condition,
        _microsoft_real(X, x_scale, x_zero_point),
        _microsoft_real(Y, y_scale, y_zero_point),
    )
    return _microsoft_quantized(value, z_scale, z_zero_point, X.dtype)


def com_microsoft_QLinearSoftmax(
    X: Tensor,
    X_scale: Tensor,
    x_zero_point: Optional[Tensor],
    y_scale: Tensor,
    y_zero_point: Tensor,
    *,
    axis: int = -1,
    opset: int = 1,
) -> Tensor:
    value = _microsoft_real(X, X_scale, x_zero_point)
    first = axis + X.dim() if axis < 0 else axis
    if opset == 1 and first != X.dim() - 1:
        # The domain's own is no opset of ONNX's.
        raise NotImplementedError("QLinearSoftmax along another axis than the last")
    if opset < 13:
        # All dimensions from the axis on are one.
        value = torch.softmax(value.flatten(first), -1).reshape(X.size())
    else:
        value = torch.softmax(value, first)
    return _microsoft_quantized(value, y_scale, y_zero_point, X.dtype)


def com_microsoft_QLinearReduceMean(
    data: Tensor,
    data_scale: Tensor,
    data_zero_point: Optional[Tensor],
    reduced_scale: Tensor,
    reduced_zero_point: Optional[Tensor],
    *,
    axes: List[int],
    keepdims: bool,
) -> Tensor:
    value = torch.mean(
        _microsoft_real(data, data_scale, data_zero_point), axes, keepdims
    )
    return _microsoft_quantized(value, reduced_scale, reduced_zero_point, data.dtype)


def com_microsoft_ReduceSumInteger(
    data: Tensor, *, axes: List[int], keepdims: bool
) -> Tensor:
    return data.to(torch.int32).sum(axes, keepdims, dtype=torch.int32)


def com_microsoft_MulInteger(
    A: Tensor, A_zero_point: Optional[Tensor], B: Tensor, B_zero_point: Optional[Tensor]
) -> Tensor:
    a = A.to(torch.int32)
    if A_zero_point is not None:
        a = a - A_zero_point.squeeze().to(torch.int32)
    b = B.to(torch.int32)
    if B_zero_point is not None:
        b = b - B_zero_point.squeeze().to(torch.int32)
    return a * b


def com_microsoft_MatMulInteger16(A: Tensor, B: Tensor) -> Tensor:
    # Sums of 2^23 products of 16 bits are exact in double; they wrap in int32.
    sums = torch.matmul(A.double(), B.double())
    return sums.to(torch.int64).to(torch.int32)


def com_microsoft_QLinearConv(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    B: Optional[Tensor],
    *,
    auto_pad: str = "NOTSET",
    channels_last: bool = False,
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    first = x
    if channels_last:
        first = _microsoft_channels_first(x).contiguous()
    out = QLinearConv_v10(
        first,
        x_scale,
        x_zero_point,
        w,
        w_scale,
        w_zero_point,
        y_scale,
        y_zero_point,
        B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return _microsoft_channels_last(out) if channels_last else out


# Rows by columns, exact in int32.
def _microsoft_product(
    A: Tensor, B: Tensor, a_zero_point: Optional[Tensor], b_zero_point: Optional[Tensor]
) -> Tensor:
    return ops.hotaru.matmul_integer(A, B, a_zero_point, b_zero_point).float()


# Each column of each matrix may have its own.
def _microsoft_scale(scale: Tensor) -> Tensor:
    return scale.squeeze() if scale.numel() == 1 else scale


def com_microsoft_MatMulIntegerToFloat(
    A: Tensor,
    B: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero_point: Optional[Tensor],
    b_zero_point: Optional[Tensor],
    bias: Optional[Tensor],
) -> Tensor:
    by = _microsoft_scale(a_scale) * _microsoft_scale(b_scale)
    out = _microsoft_product(A, B, a_zero_point, b_zero_point) * by
    return out if bias is None else out + bias


def com_microsoft_DynamicQuantizeMatMul(
    A: Tensor,
    B: Tensor,
    b_scale: Tensor,
    b_zero_point: Optional[Tensor],
    bias: Optional[Tensor],
) -> Tensor:
    a, a_scale, a_zero_point = DynamicQuantizeLinear_v11(A)
    return com_microsoft_MatMulIntegerToFloat(
        a, B, a_scale, b_scale, a_zero_point, b_zero_point, bias
    )


def com_microsoft_QGemm(
    A: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    B: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    C: Optional[Tensor],
    y_scale: Optional[Tensor],
    y_zero_point: Optional[Tensor],
    *,
    alpha: float = 1.0,
    transA: bool = False,
    transB: bool = False,
) -> Tensor:
    a = A.t() if transA else A
    b = B.t() if transB else B
    sums = ops.hotaru.matmul_integer(
        a.contiguous(), b.contiguous(), a_zero_point, b_zero_point
    )
    if C is not None:
        sums = sums + C
    value = sums.float() * (alpha * (a_scale.squeeze() * b_scale.squeeze()))
    if y_scale is None:
        return value
    return _microsoft_quantized(value, y_scale, y_zero_point, A.dtype)


# Weights of a direction, [input, 4 * hidden], as [4 * hidden, input].
def _microsoft_gates(W: Tensor, scale: Tensor, zero: Tensor, direction: int) -> Tensor:
    value = W[direction].float()
    many = scale.numel() > scale.size(0)
    if many:
        return ((value - zero[direction].float()) * scale[direction]).t()
    flat_scale = scale.reshape([-1])
    flat_zero = zero.reshape([-1])
    return ((value - flat_zero[direction].float()) * flat_scale[direction]).t()


def com_microsoft_DynamicQuantizeLSTM(
    X: Tensor,
    W: Tensor,
    R: Tensor,
    B: Optional[Tensor],
    sequence_lens: Optional[Tensor],
    initial_h: Optional[Tensor],
    initial_c: Optional[Tensor],
    P: Optional[Tensor],
    W_scale: Tensor,
    W_zero_point: Tensor,
    R_scale: Tensor,
    R_zero_point: Tensor,
    *,
    activation_alpha: Optional[List[float]] = None,
    activation_beta: Optional[List[float]] = None,
    activations: Optional[List[str]] = None,
    clip: Optional[float] = None,
    direction: str = "forward",
    hidden_size: Optional[int] = None,
    input_forget: bool = False,
) -> Tuple[Tensor, Tensor, Tensor]:
    directions = _rnn_directions(direction, W)
    hidden = R.size(1)
    h = _rnn_state(initial_h, X, directions, X.size(1), hidden, 0)
    c = _rnn_state(initial_c, X, directions, X.size(1), hidden, 0)
    names = _rnn_names(activations, ["Sigmoid", "Tanh", "Tanh"], directions)
    alphas = _rnn_parameters(names, activation_alpha, True)
    betas = _rnn_parameters(names, activation_beta, False)
    there: Optional[Tensor] = None
    if sequence_lens is not None:
        there = torch.unsqueeze(_rnn_mask(X, sequence_lens), 2)
    outputs: List[Tensor] = []
    states: List[Tensor] = []
    cells: List[Tensor] = []
    x = _microsoft_rounded(X)
    for d in range(directions):
        bias: Optional[Tensor] = None
        if B is not None:
            bias = B[d, : 4 * hidden] + B[d, 4 * hidden :]
        w = _microsoft_gates(W, W_scale, W_zero_point, d)
        Y, Y_h, Y_c = _rnn_lstm_steps(
            torch.linear(x, w, bias),
            _microsoft_gates(R, R_scale, R_zero_point, d),
            None if P is None else P[d],
            h[d],
            c[d],
            there,
            direction == "reverse" or d == 1,
            input_forget,
            clip,
            names[3 * d : 3 * d + 3],
            alphas[3 * d : 3 * d + 3],
            betas[3 * d : 3 * d + 3],
            True,
        )
        outputs.append(Y)
        states.append(Y_h)
        cells.append(Y_c)
    return (
        _rnn_sequence(torch.cat(outputs, 2), directions, 0),
        torch.stack(states, 0),
        torch.stack(cells, 0),
    )


def com_microsoft_QAttention(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    input_scale: Tensor,
    weight_scale: Tensor,
    mask_index: Optional[Tensor],
    input_zero_point: Optional[Tensor],
    weight_zero_point: Optional[Tensor],
    past: Optional[Tensor],
    *,
    num_heads: int,
    unidirectional: bool = False,
    mask_filter_value: float = -10000.0,
    scale: Optional[float] = None,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
) -> Tuple[Tensor, Tensor]:
    _microsoft_refused(do_rotary, past_present_share_buffer)
    packed = com_microsoft_MatMulIntegerToFloat(
        input,
        weight,
        input_scale,
        weight_scale,
        input_zero_point,
        weight_zero_point,
        bias,
    )
    q, k, v = torch.split(packed, packed.size(2) // 3, 2)
    out, all_k, all_v = _microsoft_attention(
        _attention_heads(q, num_heads),
        _attention_heads(k, num_heads),
        _attention_heads(v, num_heads),
        mask_index,
        None,
        None if past is None else past[0],
        None if past is None else past[1],
        unidirectional,
        mask_filter_value,
        scale,
    )
    return out, torch.stack([all_k, all_v])


# A table's rows as numbers.
def _microsoft_rows(table: Tensor, rows: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    return _microsoft_real(torch.index(table, [rows.long()]), scale, zero)


def com_microsoft_QEmbedLayerNormalization(
    input_ids: Tensor,
    segment_ids: Optional[Tensor],
    word_embedding_quant: Tensor,
    position_embedding_quant: Tensor,
    segment_embedding: Optional[Tensor],
    gamma_quant: Tensor,
    beta_quant: Tensor,
    mask: Optional[Tensor],
    word_embedding_scale: Tensor,
    position_embedding_scale: Tensor,
    segment_embedding_scale: Optional[Tensor],
    gamma_scale: Tensor,
    beta_scale: Tensor,
    word_embedding_zero_point: Tensor,
    position_embedding_zero_point: Tensor,
    segment_embedding_zero_point: Optional[Tensor],
    gamma_zero_point: Tensor,
    beta_zero_point: Tensor,
    *,
    epsilon: float = 1e-12,
) -> Tuple[Tensor, Tensor]:
    whole = _microsoft_rows(
        word_embedding_quant, input_ids, word_embedding_scale, word_embedding_zero_point
    ) + _microsoft_real(
        position_embedding_quant[: input_ids.size(1)],
        position_embedding_scale,
        position_embedding_zero_point,
    )
    if (
        segment_ids is not None
        and segment_embedding is not None
        and segment_embedding_scale is not None
        and segment_embedding_zero_point is not None
    ):
        whole = whole + _microsoft_rows(
            segment_embedding,
            segment_ids,
            segment_embedding_scale,
            segment_embedding_zero_point,
        )
    out = torch.layer_norm(
        whole,
        whole.size()[-1:],
        _microsoft_real(gamma_quant, gamma_scale, gamma_zero_point),
        _microsoft_real(beta_quant, beta_scale, beta_zero_point),
        epsilon,
        False,
    )
    return out, _microsoft_words(input_ids, mask)
