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
    x: Tensor, y_scale: Tensor, y_zero_point: Optional[Tensor], *, axis: int = 1
) -> Tensor:
    return QuantizeLinear_v10(x, y_scale, y_zero_point, axis=axis)


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
    x = X.movedim([X.dim() - 1], [1]) if channels_last else X
    value = AveragePool(
        _microsoft_real(x, x_scale, x_zero_point),
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    out = _microsoft_quantized(value, y_scale, y_zero_point, X.dtype)
    return out.movedim([1], [X.dim() - 1]) if channels_last else out


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
    # Before opset 13 all dimensions from the axis on were one; of the last
    # alone both say the same.
    if axis != -1 and axis != X.dim() - 1:
        raise NotImplementedError("QLinearSoftmax along another axis than the last")
    value = torch.softmax(_microsoft_real(X, X_scale, x_zero_point), -1)
    return _microsoft_quantized(value, y_scale, y_zero_point, X.dtype)


# Rows by columns, exact in int32.
def _microsoft_product(
    A: Tensor, B: Tensor, a_zero_point: Optional[Tensor], b_zero_point: Optional[Tensor]
) -> Tensor:
    return ops.hotaru.matmul_integer(A, B, a_zero_point, b_zero_point).float()


def com_microsoft_MatMulIntegerToFloat(
    A: Tensor,
    B: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero_point: Optional[Tensor],
    b_zero_point: Optional[Tensor],
    bias: Optional[Tensor],
) -> Tensor:
    by = a_scale.squeeze() * b_scale.squeeze()
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


# Numbers of `bits` bits, the lower ones first, as one number a byte.
def _microsoft_unpacked(packed: Tensor, bits: int) -> Tensor:
    if bits == 8:
        return packed
    each = 8 // bits
    if each * bits != 8:
        raise NotImplementedError(f"MatMulNBits of {bits} bits")
    parts: List[Tensor] = []
    for i in range(each):
        parts.append((packed >> (i * bits)) & ((1 << bits) - 1))
    return torch.stack(parts, -1).flatten(-2)


def com_microsoft_MatMulNBits(
    A: Tensor,
    B: Tensor,
    scales: Tensor,
    zero_points: Optional[Tensor],
    g_idx: Optional[Tensor],
    bias: Optional[Tensor],
    *,
    K: int,
    N: int,
    bits: int = 4,
    block_size: int,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> Tensor:
    if g_idx is not None or weight_prepacked != 0:
        raise NotImplementedError("MatMulNBits with g_idx or packed weights")
    blocks = (K + block_size - 1) // block_size
    values = _microsoft_unpacked(B.reshape([N, blocks, -1]), bits)
    values = values[:, :, :block_size].to(A.dtype)
    if zero_points is None:
        values = values - float(1 << (bits - 1))
    elif zero_points.is_floating_point():
        zero = zero_points.reshape([N, blocks, 1])
        values = values - zero.to(A.dtype)
    else:
        rows = _microsoft_unpacked(zero_points.reshape([N, -1]), bits)
        zero = rows[:, :blocks].reshape([N, blocks, 1])
        values = values - zero.to(A.dtype)
    values = values * scales.reshape([N, blocks, 1]).to(A.dtype)
    return torch.linear(A, values.reshape([N, -1])[:, :K], bias)


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
    *,
    num_heads: int,
    unidirectional: bool = False,
    mask_filter_value: float = -10000.0,
    scale: Optional[float] = None,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
) -> Tensor:
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
    out, _, _ = _microsoft_attention(
        _attention_heads(q, num_heads),
        _attention_heads(k, num_heads),
        _attention_heads(v, num_heads),
        mask_index,
        None,
        None,
        None,
        unidirectional,
        mask_filter_value,
        scale,
    )
    return out
