"""Products with weights of few bits of the domain com.microsoft, and tables of
them.
"""


# Numbers of `bits` bits, the lower ones first, as one number a byte.
def _microsoft_unpacked(packed: Tensor, bits: int) -> Tensor:
    if bits == 8:
        return packed
    each = 8 // bits
    if each * bits != 8:
        raise NotImplementedError(f"weights of {bits} bits")
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
    if weight_prepacked != 0:
        raise NotImplementedError("MatMulNBits with packed weights")
    if B.numel() == 0:
        # Weights that are left out are zero.
        nothing = torch.zeros([N, K], dtype=A.dtype, device=A.device)
        return torch.linear(A, nothing, bias)
    blocks = (K + block_size - 1) // block_size
    values = _microsoft_unpacked(B.reshape([N, blocks, -1]), bits)
    values = values[:, :, :block_size].to(A.dtype)
    zero = torch.full_like(values[:, :, :1], float(1 << (bits - 1)))
    if zero_points is not None:
        if zero_points.is_floating_point():
            zero = zero_points.reshape([N, blocks, 1]).to(A.dtype)
        else:
            rows = _microsoft_unpacked(zero_points.reshape([N, -1]), bits)
            zero = rows[:, :blocks].reshape([N, blocks, 1]).to(A.dtype)
    by = scales.reshape([N, blocks, 1]).to(A.dtype)
    if g_idx is None:
        weight = ((values - zero) * by).reshape([N, -1])[:, :K]
    else:
        # Which block's scale each column has.
        of = g_idx.to(torch.int64)[:K]
        weight = values.reshape([N, -1])[:, :K] - zero.squeeze(2)[:, of]
        weight = weight * by.squeeze(2)[:, of]
    return torch.linear(A, weight, bias)


# Values of 4 bits that stand for numbers; the upper half of a byte is first.
def _microsoft_bnb4(packed: Tensor, quant_type: int, dtype: int) -> Tensor:
    if quant_type == 0:
        table = [
            0.0,
            0.00520833333,
            0.66666667,
            1.0,
            0.33333333,
            0.5,
            0.16666667,
            0.25,
            -0.0,
            -0.00520833333,
            -0.66666667,
            -1.0,
            -0.33333333,
            -0.5,
            -0.16666667,
            -0.25,
        ]
    elif quant_type == 1:
        table = [
            -1.0,
            -0.6961928009986877,
            -0.5250730514526367,
            -0.39491748809814453,
            -0.28444138169288635,
            -0.18477343022823334,
            -0.09105003625154495,
            0.0,
            0.07958029955625534,
            0.16093020141124725,
            0.24611230194568634,
            0.33791524171829224,
            0.44070982933044434,
            0.5626170039176941,
            0.7229568362236023,
            1.0,
        ]
    else:
        raise ValueError(f"MatMulBnb4: the quant_type {quant_type}")
    numbers = torch.tensor(table, dtype=dtype, device=packed.device)
    flat = packed.reshape([-1]).to(torch.int64)
    places = torch.stack([flat >> 4, flat & 15], -1).flatten()
    return torch.index(numbers, [places])


def com_microsoft_MatMulBnb4(
    A: Tensor,
    B: Tensor,
    absmax: Tensor,
    *,
    K: int,
    N: int,
    block_size: int,
    quant_type: int,
    training_mode: int = 0,
    transB: bool = True,
) -> Tensor:
    values = _microsoft_bnb4(B, quant_type, A.dtype)[: N * K]
    by = absmax.to(A.dtype).repeat_interleave(block_size)[: N * K]
    weight = (values * by).reshape([N, K])
    return torch.matmul(A, weight.t() if transB else weight)


# Rows of a table whose values of few bits have a scale for each block along
# an axis. Rows that there are not are zero.
def com_microsoft_GatherBlockQuantized(
    data: Tensor,
    indices: Tensor,
    scales: Tensor,
    zero_points: Optional[Tensor],
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
    small_data: int = 0,
) -> Tensor:
    rank = data.dim()
    axis = gather_axis + rank if gather_axis < 0 else gather_axis
    along = quantize_axis + rank if quantize_axis < 0 else quantize_axis
    at = indices.to(torch.int64)
    size = data.size(axis)
    there = torch.logical_and(at >= -size, at < size)
    at = torch.where(there, torch.where(at < 0, at + size, at), 0)
    rows = data.index_select(axis, at.reshape([-1]))
    by = scales
    if scales.size(axis) != 1 or size == 1:
        by = scales.index_select(axis, at.reshape([-1]))
    if data.dtype == torch.uint8 and small_data == 0:
        values = _microsoft_unpacked(rows, bits).to(scales.dtype)
        zero = torch.full_like(by, float(1 << (bits - 1)))
        if zero_points is not None:
            zeros = zero_points.index_select(axis, at.reshape([-1]))
            zero = _microsoft_unpacked(zeros, bits).to(scales.dtype)
            zero = zero.narrow(along, 0, by.size(along))
        block = block_size
        length = values.size(along)
        values = values - _quantize_blocks(zero, length, along, block)
    else:
        # Numbers of 4 bits are read one a byte already; floats have no zero.
        values = rows.to(scales.dtype)
        length = values.size(along)
        if zero_points is not None:
            zero = zero_points.index_select(axis, at.reshape([-1]))
            values = values - _quantize_blocks(
                zero.to(scales.dtype), length, along, block_size
            )
        block = length if block_size == 0 else block_size
    out = values * _quantize_blocks(by, length, along, block)
    shape = [1] * rank
    shape[axis] = -1
    out = torch.where(there.reshape(shape), out, torch.zeros_like(out))
    sizes = out.size()
    return out.reshape(sizes[:axis] + indices.size() + sizes[axis + 1 :])
