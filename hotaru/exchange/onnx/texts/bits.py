"""Bits, remainders, and sums of products."""


def BitwiseAnd(A: Tensor, B: Tensor) -> Tensor:
    return torch.bitwise_and(A, B)


def BitwiseAnd__number(A: int, B: int) -> int:
    return A & B


def BitwiseOr(A: Tensor, B: Tensor) -> Tensor:
    return torch.bitwise_or(A, B)


def BitwiseOr__number(A: int, B: int) -> int:
    return A | B


def BitwiseXor(A: Tensor, B: Tensor) -> Tensor:
    return torch.bitwise_xor(A, B)


def BitwiseXor__number(A: int, B: int) -> int:
    return A ^ B


# Unsigned types beyond uint8 have no arithmetic of their own: their numbers
# stand in int64, those of uint64 (29) by their bits.
def _bits_is_wide(X: Tensor) -> bool:
    return int(X.dtype) == 27 or int(X.dtype) == 28 or int(X.dtype) == 29


def _bits_signed(X: Tensor) -> Tensor:
    if int(X.dtype) == 29:
        return X.contiguous().view(dtype=torch.int64)
    return X.to(torch.int64)


def _bits_unsigned(X: Tensor, dtype: int) -> Tensor:
    if dtype == 29:
        return X.contiguous().view(dtype=dtype)
    if dtype == 28:
        return torch.bitwise_and(X, 4294967295).to(dtype)
    return torch.bitwise_and(X, 65535).to(dtype)


def BitwiseNot(X: Tensor) -> Tensor:
    if _bits_is_wide(X):
        return _bits_unsigned(torch.bitwise_not(_bits_signed(X)), X.dtype)
    return torch.bitwise_not(X)


def BitwiseNot__number(X: int) -> int:
    return -X - 1


# Shifts bits that stand in int64, as unsigned: those that come in are zero.
def _bits_shift_right(x: Tensor, count: Tensor) -> Tensor:
    # The sign goes first, so that what is left to shift is positive.
    rest = torch.bitwise_and(torch.bitwise_right_shift(x, 1), 9223372036854775807)
    shifted = torch.bitwise_right_shift(rest, torch.clamp(count - 1, 0, 63))
    return torch.where(count == 0, x, shifted)


# Shifts by a number's width or more leave nothing but the sign.
def BitShift(X: Tensor, Y: Tensor, *, direction: str) -> Tensor:
    if direction != "LEFT" and direction != "RIGHT":
        raise ValueError("BitShift's direction is LEFT or RIGHT, not " + direction)
    if _bits_is_wide(X):
        x = _bits_signed(X)
        y = _bits_signed(Y)
        if direction == "LEFT":
            shifted = torch.bitwise_left_shift(x, torch.clamp(y, 0, 63))
        else:
            shifted = _bits_shift_right(x, y)
        inside = torch.logical_and(y >= 0, y < 64)
        return _bits_unsigned(
            torch.where(inside, shifted, torch.zeros_like(shifted)), X.dtype
        )
    if direction == "LEFT":
        return torch.bitwise_left_shift(X, Y)
    return torch.bitwise_right_shift(X, Y)


def BitCast(input: Tensor, *, to: int) -> Tensor:
    return input.contiguous().view(dtype=to)


def Einsum(all_inputs: List[Tensor], *, equation: str) -> Tensor:
    return torch.einsum(equation, all_inputs)


def Det(X: Tensor) -> Tensor:
    # LU has no kernel for half precision.
    if X.dtype == torch.float16 or X.dtype == torch.bfloat16:
        return torch.linalg_det(X.to(torch.float32)).to(X.dtype)
    return torch.linalg_det(X)


# a < b of uint64 numbers that stand in int64.
def _bits_is_less(a: Tensor, b: Tensor) -> Tensor:
    lowest = -9223372036854775807 - 1
    return torch.bitwise_xor(a, lowest) < torch.bitwise_xor(b, lowest)


# Numbers of any type in the order that they have, as other ones: unsigned ones
# as int64, uint64 with its highest bit turned.
def _bits_ordered(X: Tensor) -> Tensor:
    out = X
    if int(X.dtype) >= 27:
        out = _bits_signed(X)
        if int(X.dtype) == 29:
            out = torch.bitwise_xor(out, -9223372036854775807 - 1)
    return out


def _bits_unordered(X: Tensor, dtype: int) -> Tensor:
    out = X
    if dtype >= 27:
        if dtype == 29:
            out = torch.bitwise_xor(X, -9223372036854775807 - 1)
        out = _bits_unsigned(out, dtype)
    return out


def _bits_quotient(A: Tensor, B: Tensor) -> Tensor:
    a = _bits_signed(A)
    b = _bits_signed(B)
    if int(A.dtype) == 29:
        # The difference is a multiple; it is halved so as to be positive.
        rest = _bits_remainder(a, b)
        once = torch.where(_bits_is_less(a, b), torch.zeros_like(a), torch.ones_like(a))
        half = torch.bitwise_and(
            torch.bitwise_right_shift(a - rest, 1), 9223372036854775807
        )
        divisor = torch.where(b > 0, b, torch.ones_like(b))
        quotient = torch.div(half, divisor, rounding_mode="trunc") * 2
        # Half of an odd multiple of an odd number is short of half of b.
        short = (a - rest) - quotient * b
        quotient = quotient + (short != 0).to(torch.int64)
        out = torch.where(b > 0, quotient, once)
    else:
        out = torch.div(a, b, rounding_mode="trunc")
    return _bits_unsigned(out, A.dtype)


# The quotient of half the number is at most one short of half the quotient.
def _bits_remainder(a: Tensor, b: Tensor) -> Tensor:
    half = torch.bitwise_and(torch.bitwise_right_shift(a, 1), 9223372036854775807)
    divisor = torch.where(b > 0, b, torch.ones_like(b))
    quotient = torch.div(half, divisor, rounding_mode="trunc") * 2
    quotient = torch.where(b > 0, quotient, torch.zeros_like(quotient))
    rest = a - quotient * b
    return torch.where(_bits_is_less(rest, b), rest, rest - b)


# The sign is the divisor's, or with fmod the dividend's.
def Mod(A: Tensor, B: Tensor, *, fmod: bool = False) -> Tensor:
    if _bits_is_wide(A):
        a = _bits_signed(A)
        b = _bits_signed(B)
        if int(A.dtype) == 29:
            return _bits_unsigned(_bits_remainder(a, b), A.dtype)
        return torch.remainder(a, b).to(A.dtype)
    if fmod:
        return torch.fmod(A, B)
    return torch.remainder(A, B)


def Mod__number(A: int, B: int, *, fmod: bool = False) -> int:
    if fmod:
        size = abs(A) % abs(B)
        return -size if A < 0 else size
    return A % B


def Mod__numbers(A: List[int], B: int, *, fmod: bool = False) -> List[int]:
    result: List[int] = []
    for a in A:
        if fmod:
            size = abs(a) % abs(B)
            result.append(-size if a < 0 else size)
        else:
            result.append(a % B)
    return result
