"""Conversions between types. Those of less than a byte, and powers of two, are
in tensors of types that hold their values: int8 and uint8, float8_e4m3fn
(FLOAT4E2M1), bfloat16 (FLOAT8E8M0).
"""


def Cast(
    input: Tensor,
    *,
    to: int,
    saturate: bool = True,
    round_mode: str = "up",
    small_to: int = 0,
) -> Tensor:
    if small_to != 0:
        return _small_cast(input, small_to, saturate, round_mode)
    # PyTorch's casts to floats of 8 bits do not saturate where ONNX's do.
    if saturate and (to == 23 or to == 24 or to == 25 or to == 26):
        limit = 57344.0 if to == 23 or to == 25 else (448.0 if to == 24 else 240.0)
        wide = input.to(torch.float32)
        # Not-a-number stays what it is.
        return torch.clamp(wide, -limit, limit).to(to)
    if to == 24:
        # PyTorch's cast to float8_e4m3fn alone always saturates.
        return _quantize_float8(input.to(torch.float32), to, False)
    return input.to(to)


# Made of numbers at once, so that their values are known at capture.
def Cast__number(
    input: int,
    *,
    to: int,
    saturate: bool = True,
    round_mode: str = "up",
    small_to: int = 0,
    on_device: torch.device,
) -> Tensor:
    if (to >= 23 and to <= 26) or small_to != 0:
        return Cast(
            torch.tensor(input, device=on_device),
            to=to,
            saturate=saturate,
            round_mode=round_mode,
            small_to=small_to,
        )
    # A float32 is made of a float without a conversion by an operator.
    if to == torch.float32:
        return torch.tensor(float(input), dtype=to, device=on_device)
    return torch.tensor(input, dtype=to, device=on_device)


def Cast__numbers(
    input: List[int],
    *,
    to: int,
    saturate: bool = True,
    round_mode: str = "up",
    small_to: int = 0,
    on_device: torch.device,
) -> Tensor:
    if (to >= 23 and to <= 26) or small_to != 0:
        return Cast(
            _host_tensor(input, on_device),
            to=to,
            saturate=saturate,
            round_mode=round_mode,
            small_to=small_to,
        )
    if to == torch.float32:
        reals = [float(x) for x in input]
        return torch.tensor(reals, dtype=to, device=on_device)
    return torch.tensor(input, dtype=to, device=on_device)


def CastLike_v15(
    input: Tensor,
    target_type: Tensor,
    *,
    saturate: bool = True,
    round_mode: str = "up",
    small_target_type: int = 0,
) -> Tensor:
    return Cast(
        input,
        to=target_type.dtype,
        saturate=saturate,
        round_mode=round_mode,
        small_to=small_target_type,
    )


# Kinds are TensorProto's numbers: 21 UINT4, 22 INT4, 23 FLOAT4E2M1,
# 24 FLOAT8E8M0, 25 UINT2, 26 INT2. A keyword `small_` with the name of an
# attribute or an input asks for the kind of that, 0 for any other type.


def _small_range(kind: int) -> Tuple[float, float]:
    if kind == 21:
        return 0.0, 15.0
    if kind == 22:
        return -8.0, 7.0
    if kind == 25:
        return 0.0, 3.0
    return -2.0, 1.0


def _small_dtype(kind: int) -> int:
    if kind == 21 or kind == 25:
        return torch.uint8
    if kind == 22 or kind == 26:
        return torch.int8
    # ScalarTypes of float8_e4m3fn and bfloat16.
    return 24 if kind == 23 else 15


# To the nearest, ties to even, saturated; NaN, which there is not, is 0.
def _small_e2m1(x: Tensor) -> Tensor:
    size = x.abs().clamp(0.0, 6.0)
    size = torch.where(size.isnan(), torch.zeros_like(size), size)
    step = torch.where(size < 4.0, 1.0, 2.0)
    step = torch.where(size < 2.0, 0.5, step)
    near = torch.round(size / step) * step
    return torch.copysign(near, x).to(24)


# Exponents of float32 alone, whose fraction is rounded; 255 is NaN.
def _small_e8m0(x: Tensor, saturate: bool, round_mode: str) -> Tensor:
    bits = x.view(dtype=torch.int32)
    exponent = (bits >> 23) & 255
    fraction = bits & 8388607
    if round_mode == "up":
        more = fraction > 0
    elif round_mode == "nearest":
        half = fraction >= 4194304
        more = torch.logical_and(
            half, torch.logical_or(fraction > 4194304, exponent > 0)
        )
    elif round_mode == "down":
        more = torch.zeros_like(fraction, dtype=torch.bool)
    else:
        raise ValueError("Cast: the round_mode " + round_mode)
    most = 254 if saturate else 255
    found = torch.where(
        exponent == 255, exponent, (exponent + more.int()).clamp(0, most)
    )
    # A half of the least normal number, and a quiet NaN.
    pattern = torch.where(found == 0, 64, found << 7)
    pattern = torch.where(found == 255, 32704, pattern)
    return pattern.to(torch.int16).view(dtype=torch.bfloat16)


def _small_cast(x: Tensor, kind: int, saturate: bool, round_mode: str) -> Tensor:
    if kind == 23:
        out = _small_e2m1(x.float())
    elif kind == 24:
        out = _small_e8m0(x.float().contiguous(), saturate, round_mode)
    else:
        # Bits that have no place are dropped.
        whole = x.to(torch.int64)
        if kind == 21 or kind == 25:
            out = whole & (15 if kind == 21 else 3)
        else:
            half = 8 if kind == 22 else 2
            out = ((whole + half) & (2 * half - 1)) - half
        out = out.to(_small_dtype(kind))
    return out
