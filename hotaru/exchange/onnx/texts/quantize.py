"""Integers that stand for real numbers, and products of them."""


def _quantize_axis(scale: Tensor, rank: int, axis: int) -> Tensor:
    # A scale for each entry along the axis; one alone is the whole tensor's.
    if scale.numel() == 1:
        return scale.squeeze()
    if scale.dim() != 1:
        raise ValueError(f"a scale of shape {scale.shape} is for blocks: no block_size")
    if rank == 1:
        return scale
    shape = [1] * rank
    shape[axis] = -1
    return scale.view(shape)


def _quantize_blocks(scale: Tensor, size: int, axis: int, block_size: int) -> Tensor:
    # Each entry block_size times; the last block may be cut off.
    return scale.repeat_interleave(block_size, axis).narrow(axis, 0, size)


def _quantize_scale(x: Tensor, scale: Tensor, axis: int, block_size: int) -> Tensor:
    if block_size > 0 and scale.dim() == x.dim() and scale.dim() > 0:
        return _quantize_blocks(scale, x.size(axis), axis, block_size)
    return _quantize_axis(scale, x.dim(), axis)


def _quantize_float8(x: Tensor, dtype: int, saturate: bool) -> Tensor:
    # ScalarTypes 23 to 26: e5m2, e4m3fn, e5m2fnuz, e4m3fnuz.
    largest = 57344.0
    overflow = 61440.0
    if dtype == 24:
        largest = 448.0
        overflow = 464.0
    elif dtype == 26:
        largest = 240.0
        overflow = 248.0
    if saturate:
        return x.clamp(-largest, largest).to(dtype)
    # The types without infinities have NaN in its place. In the middle between
    # the largest number and the next, the even one is taken.
    beyond = float("inf") if dtype == 23 else float("nan")
    fits = x.abs() < overflow
    if dtype == 24:
        fits = x.abs() <= overflow
    return torch.where(fits, x, torch.sign(x) * beyond).to(dtype)


def _quantize_integers(x: Tensor, dtype: int) -> Tensor:
    # Rounded values, saturated. 27 is uint16.
    if dtype == torch.uint8:
        return x.clamp(0.0, 255.0).to(dtype)
    if dtype == torch.int8:
        return x.clamp(-128.0, 127.0).to(dtype)
    if dtype == 27:
        return x.clamp(0.0, 65535.0).to(dtype)
    if dtype == torch.int16:
        return x.clamp(-32768.0, 32767.0).to(dtype)
    raise NotImplementedError(f"quantized values of PyTorch's ScalarType {dtype}")


def _quantize(
    x: Tensor,
    y_scale: Tensor,
    y_zero_point: Optional[Tensor],
    axis: int,
    block_size: int,
    output_dtype: Optional[int],
    precision: Optional[int],
    saturate: bool,
) -> Tensor:
    scale = _quantize_scale(x, y_scale, axis, block_size)
    by = precision if precision is not None else scale.dtype
    if not scale.is_floating_point() and precision is None:
        by = torch.float64
    quotient = x.to(by) / scale.to(by)
    # Sums with a zero point are not exact in 16 bits.
    if by != torch.float64:
        quotient = quotient.float()
    dtype = torch.uint8 if output_dtype is None else output_dtype
    if y_zero_point is not None:
        dtype = y_zero_point.dtype
    if dtype >= 23 and dtype <= 26:
        return _quantize_float8(quotient, dtype, saturate)
    rounded = torch.round(quotient)
    if y_zero_point is not None:
        rounded = rounded + _quantize_scale(x, y_zero_point, axis, block_size).to(
            rounded.dtype
        )
    return _quantize_integers(rounded, dtype)


def QuantizeLinear_v10(
    x: Tensor,
    y_scale: Tensor,
    y_zero_point: Optional[Tensor],
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: Optional[int] = None,
    precision: Optional[int] = None,
    saturate: bool = True,
    small_output_dtype: int = 0,
    small_y_zero_point: int = 0,
) -> Tensor:
    kind = small_output_dtype if small_y_zero_point == 0 else small_y_zero_point
    if kind != 0:
        out = _quantize_small(
            x, y_scale, y_zero_point, axis, block_size, precision, kind
        )
    else:
        out = _quantize(
            x,
            y_scale,
            y_zero_point,
            axis,
            block_size,
            output_dtype,
            precision,
            saturate,
        )
    return out


def _quantize_small(
    x: Tensor,
    y_scale: Tensor,
    y_zero_point: Optional[Tensor],
    axis: int,
    block_size: int,
    precision: Optional[int],
    kind: int,
) -> Tensor:
    scale = _quantize_scale(x, y_scale, axis, block_size)
    by = scale.dtype if precision is None else precision
    quotient = (x.to(by) / scale.to(by)).float()
    if kind == 23:
        return _small_cast(quotient, kind, True, "up")
    rounded = torch.round(quotient)
    if y_zero_point is not None:
        rounded = rounded + _quantize_scale(x, y_zero_point, axis, block_size).float()
    least, most = _small_range(kind)
    return rounded.clamp(least, most).to(_small_dtype(kind))


def DequantizeLinear_v10(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Optional[Tensor],
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: Optional[int] = None,
) -> Tensor:
    dtype = x_scale.dtype if output_dtype is None else output_dtype
    # Differences of 8- and 16-bit integers are exact in float.
    value = x.float()
    if x_zero_point is not None:
        value = value - _quantize_scale(x, x_zero_point, axis, block_size).float()
    return (value * _quantize_scale(x, x_scale, axis, block_size).float()).to(dtype)


def DynamicQuantizeLinear_v11(x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    return ops.hotaru.dynamic_quantize_linear(x)


def _quantize_rows(zero_point: Tensor) -> Tensor:
    # One a row, of shape [M] or [..., M, 1].
    if zero_point.dim() == 1 and zero_point.numel() > 1:
        return zero_point.unsqueeze(1)
    return zero_point.squeeze() if zero_point.numel() == 1 else zero_point


def _quantize_columns(zero_point: Tensor) -> Tensor:
    return zero_point.squeeze() if zero_point.numel() == 1 else zero_point


def _quantize_is_byte(x: Tensor) -> bool:
    return x.dtype == torch.uint8 or x.dtype == torch.int8


def MatMulInteger_v10(
    A: Tensor, B: Tensor, a_zero_point: Optional[Tensor], b_zero_point: Optional[Tensor]
) -> Tensor:
    return ops.hotaru.matmul_integer(A, B, a_zero_point, b_zero_point)


def QLinearMatMul_v10(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
) -> Tensor:
    by_a = a_scale.float()
    by_b = b_scale.float()
    by_y = y_scale.float()
    if _quantize_is_byte(a) and _quantize_is_byte(y_zero_point):
        return ops.hotaru.qlinear_matmul(
            a, by_a, a_zero_point, b, by_b, b_zero_point, by_y, y_zero_point
        )
    scale = _quantize_rows(by_a) * _quantize_columns(by_b) / by_y
    if a.is_floating_point() or b.is_floating_point():
        value = torch.matmul(
            a.float() - _quantize_rows(a_zero_point).float(),
            b.float() - _quantize_columns(b_zero_point).float(),
        )
    else:
        value = ops.hotaru.matmul_integer(a, b, a_zero_point, b_zero_point).float()
    if y_zero_point.is_floating_point():
        return _quantize_float8(value * scale, y_zero_point.dtype, True)
    return _quantize_integers(
        torch.round(value * scale) + y_zero_point.float(), y_zero_point.dtype
    )


def _quantize_pads(
    x: Tensor,
    w: Tensor,
    auto_pad: str,
    dilations: List[int],
    pads: Optional[List[int]],
    strides: List[int],
) -> Tuple[List[int], List[int]]:
    n = w.dim() - 2
    begins = [0] * n
    ends = [0] * n
    if auto_pad == "SAME_UPPER" or auto_pad == "SAME_LOWER":
        for i in range(n):
            windows = (x.size(i + 2) + strides[i] - 1) // strides[i]
            total = max(
                (windows - 1) * strides[i]
                + dilations[i] * (w.size(i + 2) - 1)
                + 1
                - x.size(i + 2),
                0,
            )
            begins[i] = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            ends[i] = total - begins[i]
    elif pads is not None and auto_pad == "NOTSET":
        begins = pads[:n]
        ends = pads[n:]
    elif auto_pad != "VALID" and auto_pad != "NOTSET":
        raise ValueError(f"auto_pad is {auto_pad}")
    return begins, ends


def ConvInteger_v10(
    x: Tensor,
    w: Tensor,
    x_zero_point: Optional[Tensor],
    w_zero_point: Optional[Tensor],
    *,
    auto_pad: str = "NOTSET",
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    n = w.dim() - 2
    d = [1] * n if dilations is None else dilations
    s = [1] * n if strides is None else strides
    begins, ends = _quantize_pads(x, w, auto_pad, d, pads, s)
    return ops.hotaru.conv_integer(
        x, w, x_zero_point, w_zero_point, s, begins, ends, d, group
    )


def QLinearConv_v10(
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
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    n = w.dim() - 2
    d = [1] * n if dilations is None else dilations
    s = [1] * n if strides is None else strides
    begins, ends = _quantize_pads(x, w, auto_pad, d, pads, s)
    return ops.hotaru.qlinear_conv(
        x,
        x_scale.float(),
        x_zero_point,
        w,
        w_scale.float(),
        w_zero_point,
        y_scale.float(),
        y_zero_point,
        B,
        s,
        begins,
        ends,
        d,
        group,
    )
