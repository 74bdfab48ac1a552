"""Arithmetic, comparisons, logic and products."""


def _math_old_broadcast(A: Tensor, B: Tensor, axis: Optional[int]) -> Tensor:
    # Before opset 7, B's dimensions stood at those of A from `axis` on.
    if axis is None:
        return B
    shape = B.shape
    first = axis if axis >= 0 else axis + A.dim()
    for i in range(A.dim() - first - B.dim()):
        shape.append(1)
    return B.reshape(shape)


def Add(
    A: Tensor,
    B: Tensor,
    *,
    axis: Optional[int] = None,
    broadcast: int = 0,
    consumed_inputs: Optional[List[int]] = None,
) -> Tensor:
    return _math_sum(A, _math_old_broadcast(A, B, axis))


def _math_sum(A: Tensor, B: Tensor) -> Tensor:
    if int(A.dtype) >= 27:
        # Sums of uint16, uint32 and uint64 have the same bits as int64's.
        out = torch.add(A.to(torch.int64), B.to(torch.int64)).to(A.dtype)
    else:
        out = torch.add(A, B)
    return out


def Add_v7(A: Tensor, B: Tensor) -> Tensor:
    return _math_sum(A, B)


def Add__host(A: int, B: int) -> int:
    return A + B


# Lists of one small number each stay that.
def Add__one(A: Tuple[int], B: Tuple[int]) -> List[int]:
    return [A[0] + B[0]]


def Add__one_and_number(A: Tuple[int], B: int) -> List[int]:
    return [A[0] + B]


def Add__lists(A: List[int], B: List[int]) -> List[int]:
    a, b = _math_lists(A, B)
    return [a[i] + b[i] for i in range(len(a))]


def _math_lists(A: List[int], B: List[int]) -> Tuple[List[int], List[int]]:
    if len(A) == len(B):
        return A, B
    if len(A) == 1:
        return [A[0] for i in range(len(B))], B
    if len(B) == 1:
        return A, [B[0] for i in range(len(A))]
    raise RuntimeError(
        "lists of {} and {} numbers don't broadcast".format(len(A), len(B))
    )


def Sub(
    A: Tensor,
    B: Tensor,
    *,
    axis: Optional[int] = None,
    broadcast: int = 0,
    consumed_inputs: Optional[List[int]] = None,
) -> Tensor:
    return _math_difference(A, _math_old_broadcast(A, B, axis))


def _math_difference(A: Tensor, B: Tensor) -> Tensor:
    if int(A.dtype) >= 27:
        out = torch.sub(A.to(torch.int64), B.to(torch.int64)).to(A.dtype)
    else:
        out = torch.sub(A, B)
    return out


def Sub_v7(A: Tensor, B: Tensor) -> Tensor:
    return _math_difference(A, B)


def Sub__host(A: int, B: int) -> int:
    return A - B


def Sub__one(A: Tuple[int], B: Tuple[int]) -> List[int]:
    return [A[0] - B[0]]


def Sub__one_of_number(A: int, B: Tuple[int]) -> List[int]:
    return [A - B[0]]


def Sub__one_and_number(A: Tuple[int], B: int) -> List[int]:
    return [A[0] - B]


def Sub__lists(A: List[int], B: List[int]) -> List[int]:
    a, b = _math_lists(A, B)
    return [a[i] - b[i] for i in range(len(a))]


def Mul(
    A: Tensor,
    B: Tensor,
    *,
    axis: Optional[int] = None,
    broadcast: int = 0,
    consumed_inputs: Optional[List[int]] = None,
) -> Tensor:
    return torch.mul(A, _math_old_broadcast(A, B, axis))


def Mul_v7(A: Tensor, B: Tensor) -> Tensor:
    return torch.mul(A, B)


def Mul__host(A: int, B: int) -> int:
    return A * B


def Mul__lists(A: List[int], B: List[int]) -> List[int]:
    a, b = _math_lists(A, B)
    return [a[i] * b[i] for i in range(len(a))]


def _math_divide(A: Tensor, B: Tensor) -> Tensor:
    # Integers are divided rounding towards zero, as in C.
    if A.is_floating_point() or A.is_complex():
        return torch.div(A, B)
    if int(A.dtype) >= 27:  # uint16, uint32, uint64
        return _bits_quotient(A, B)
    return torch.div(A, B, rounding_mode="trunc")


def Div(
    A: Tensor,
    B: Tensor,
    *,
    axis: Optional[int] = None,
    broadcast: int = 0,
    consumed_inputs: Optional[List[int]] = None,
) -> Tensor:
    return _math_divide(A, _math_old_broadcast(A, B, axis))


def Div_v7(A: Tensor, B: Tensor) -> Tensor:
    return _math_divide(A, B)


def _math_divide_ints(a: int, b: int) -> int:
    q = a // b
    if q < 0 and q * b != a:
        q = q + 1
    return q


def Div__host(A: int, B: int) -> int:
    return _math_divide_ints(A, B)


def Div__lists(A: List[int], B: List[int]) -> List[int]:
    a, b = _math_lists(A, B)
    return [_math_divide_ints(a[i], b[i]) for i in range(len(a))]


def Neg(X: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.neg(X)


def Neg__host(X: int) -> int:
    return -X


def Neg__list(X: List[int]) -> List[int]:
    return [-x for x in X]


def Pow(
    X: Tensor, Y: Tensor, *, axis: Optional[int] = None, broadcast: int = 0
) -> Tensor:
    return torch.pow(X, _math_old_broadcast(X, Y, axis))


def Pow_v7__number(X: Tensor, Y: float) -> Tensor:
    if X.is_floating_point():
        return torch.pow(X, Y)
    if Y >= 0.0 and Y == float(int(Y)):
        # Beyond 2**53 doubles would round.
        return torch.pow(X.to(torch.int64), int(Y)).to(X.dtype)
    return torch.pow(X.to(torch.float64), Y).to(X.dtype)


def Pow_v7(X: Tensor, Y: Tensor) -> Tensor:
    return _math_pow(X, Y)


def _math_pow(X: Tensor, Y: Tensor) -> Tensor:
    # The result has X's dtype, whatever Y's is.
    if X.dtype == Y.dtype:
        return torch.pow(X, Y)
    if X.is_floating_point():
        return torch.pow(X, Y.to(X.dtype))
    if Y.is_floating_point():
        return torch.pow(X.to(torch.float64), Y.to(torch.float64)).to(X.dtype)
    return torch.pow(X.to(torch.int64), Y.to(torch.int64)).to(X.dtype)


def Abs(X: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.abs(X)


def Sqrt(X: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.sqrt(X)


def Reciprocal(X: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.reciprocal(X)


def Exp(input: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.exp(input)


def Log(input: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.log(input)


def Floor(X: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.floor(X)


def Ceil(X: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.ceil(X)


def Round_v11(X: Tensor) -> Tensor:
    return torch.round(X)


def Sign_v9(input: Tensor) -> Tensor:
    if int(input.dtype) >= 27:
        # Unsigned numbers, which torch.sign does not take.
        out = (_bits_signed(input) != 0).to(input.dtype)
    else:
        out = torch.sign(input)
    return out


def Erf_v9(input: Tensor) -> Tensor:
    return torch.erf(input)


def Sin_v7(input: Tensor) -> Tensor:
    return torch.sin(input)


def Cos_v7(input: Tensor) -> Tensor:
    return torch.cos(input)


def Tan_v7(input: Tensor) -> Tensor:
    return torch.tan(input)


def Asin_v7(input: Tensor) -> Tensor:
    return torch.asin(input)


def Acos_v7(input: Tensor) -> Tensor:
    return torch.acos(input)


def Atan_v7(input: Tensor) -> Tensor:
    return torch.atan(input)


def Sinh_v9(input: Tensor) -> Tensor:
    return torch.sinh(input)


def Cosh_v9(input: Tensor) -> Tensor:
    return torch.cosh(input)


def Asinh_v9(input: Tensor) -> Tensor:
    return torch.asinh(input)


def Acosh_v9(input: Tensor) -> Tensor:
    return torch.acosh(input)


def Atanh_v9(input: Tensor) -> Tensor:
    return torch.atanh(input)


def IsNaN_v9(X: Tensor) -> Tensor:
    return torch.isnan(X)


def IsInf_v10(
    X: Tensor, *, detect_negative: bool = True, detect_positive: bool = True
) -> Tensor:
    if detect_negative and detect_positive:
        return torch.isinf(X)
    if detect_negative:
        return torch.isneginf(X)
    if detect_positive:
        return torch.isposinf(X)
    return torch.zeros_like(X, dtype=torch.bool)


def Sum(
    all_inputs: List[Tensor], *, consumed_inputs: Optional[List[int]] = None
) -> Tensor:
    out = all_inputs[0]
    for i in range(1, len(all_inputs)):
        out = torch.add(out, all_inputs[i])
    return out


def Mean(
    all_inputs: List[Tensor], *, consumed_inputs: Optional[List[int]] = None
) -> Tensor:
    out = all_inputs[0]
    for i in range(1, len(all_inputs)):
        out = torch.add(out, all_inputs[i])
    return torch.div(out, len(all_inputs))


def Max(
    all_inputs: List[Tensor], *, consumed_inputs: Optional[List[int]] = None
) -> Tensor:
    out = _bits_ordered(all_inputs[0])
    for i in range(1, len(all_inputs)):
        out = torch.maximum(out, _bits_ordered(all_inputs[i]))
    return _bits_unordered(out, all_inputs[0].dtype)


def Max__host(all_inputs: List[int]) -> int:
    return max(all_inputs)


def Max__lists(all_inputs: List[List[int]]) -> List[int]:
    out = all_inputs[0]
    for i in range(1, len(all_inputs)):
        a, b = _math_lists(out, all_inputs[i])
        out = [max(a[j], b[j]) for j in range(len(a))]
    return out


def Min(
    all_inputs: List[Tensor], *, consumed_inputs: Optional[List[int]] = None
) -> Tensor:
    out = _bits_ordered(all_inputs[0])
    for i in range(1, len(all_inputs)):
        out = torch.minimum(out, _bits_ordered(all_inputs[i]))
    return _bits_unordered(out, all_inputs[0].dtype)


def Min__host(all_inputs: List[int]) -> int:
    return min(all_inputs)


def Min__lists(all_inputs: List[List[int]]) -> List[int]:
    out = all_inputs[0]
    for i in range(1, len(all_inputs)):
        a, b = _math_lists(out, all_inputs[i])
        out = [min(a[j], b[j]) for j in range(len(a))]
    return out


def Clip(
    input: Tensor,
    *,
    min: float = -3.4028234663852886e38,
    max: float = 3.4028234663852886e38,
    consumed_inputs: Optional[List[int]] = None,
) -> Tensor:
    # The largest float32, which half precision has not, is no bound.
    low: Optional[float] = None
    high: Optional[float] = None
    if min > -3.4028234663852886e38:
        low = min
    if max < 3.4028234663852886e38:
        high = max
    if low is None and high is None:
        return input
    return torch.clamp(input, low, high)


def Clip_v11__numbers(
    input: Tensor, min: Optional[float] = None, max: Optional[float] = None
) -> Tensor:
    if min is None and max is None:
        return input
    if input.is_floating_point():
        return torch.clamp(input, min, max)
    low: Optional[int] = None
    high: Optional[int] = None
    if min is not None:
        low = int(min)
    if max is not None:
        high = int(max)
    return torch.clamp(input, low, high)


def Clip_v11(
    input: Tensor, min: Optional[Tensor] = None, max: Optional[Tensor] = None
) -> Tensor:
    out = input
    if min is not None:
        out = torch.maximum(out, min)
    if max is not None:
        out = torch.minimum(out, max)
    return out


def Equal(
    A: Tensor, B: Tensor, *, axis: Optional[int] = None, broadcast: int = 0
) -> Tensor:
    return torch.eq(A, _math_old_broadcast(A, B, axis))


def Equal__host(
    A: int, B: int, *, axis: Optional[int] = None, broadcast: int = 0
) -> bool:
    return A == B


# Truths are 0 and 1.
def Equal__lists(
    A: List[int], B: List[int], *, axis: Optional[int] = None, broadcast: int = 0
) -> List[int]:
    a, b = _math_lists(A, B)
    return [int(a[i] == b[i]) for i in range(len(a))]


def Greater(
    A: Tensor, B: Tensor, *, axis: Optional[int] = None, broadcast: int = 0
) -> Tensor:
    b = _math_old_broadcast(A, B, axis)
    return torch.gt(_bits_ordered(A), _bits_ordered(b))


def Greater__host(
    A: int, B: int, *, axis: Optional[int] = None, broadcast: int = 0
) -> bool:
    return A > B


def Greater__lists(
    A: List[int], B: List[int], *, axis: Optional[int] = None, broadcast: int = 0
) -> List[int]:
    a, b = _math_lists(A, B)
    return [int(a[i] > b[i]) for i in range(len(a))]


def Less(
    A: Tensor, B: Tensor, *, axis: Optional[int] = None, broadcast: int = 0
) -> Tensor:
    b = _math_old_broadcast(A, B, axis)
    return torch.lt(_bits_ordered(A), _bits_ordered(b))


def Less__host(
    A: int, B: int, *, axis: Optional[int] = None, broadcast: int = 0
) -> bool:
    return A < B


def Less__lists(
    A: List[int], B: List[int], *, axis: Optional[int] = None, broadcast: int = 0
) -> List[int]:
    a, b = _math_lists(A, B)
    return [int(a[i] < b[i]) for i in range(len(a))]


def GreaterOrEqual_v12(A: Tensor, B: Tensor) -> Tensor:
    return torch.ge(_bits_ordered(A), _bits_ordered(B))


def GreaterOrEqual_v12__host(A: int, B: int) -> bool:
    return A >= B


def GreaterOrEqual_v12__lists(A: List[int], B: List[int]) -> List[int]:
    a, b = _math_lists(A, B)
    return [int(a[i] >= b[i]) for i in range(len(a))]


def LessOrEqual_v12(A: Tensor, B: Tensor) -> Tensor:
    return torch.le(_bits_ordered(A), _bits_ordered(B))


def LessOrEqual_v12__host(A: int, B: int) -> bool:
    return A <= B


def LessOrEqual_v12__lists(A: List[int], B: List[int]) -> List[int]:
    a, b = _math_lists(A, B)
    return [int(a[i] <= b[i]) for i in range(len(a))]


def And(
    A: Tensor, B: Tensor, *, axis: Optional[int] = None, broadcast: int = 0
) -> Tensor:
    return torch.logical_and(A, _math_old_broadcast(A, B, axis))


def And__host(
    A: bool, B: bool, *, axis: Optional[int] = None, broadcast: int = 0
) -> bool:
    return A and B


def Or(
    A: Tensor, B: Tensor, *, axis: Optional[int] = None, broadcast: int = 0
) -> Tensor:
    return torch.logical_or(A, _math_old_broadcast(A, B, axis))


def Or__host(
    A: bool, B: bool, *, axis: Optional[int] = None, broadcast: int = 0
) -> bool:
    return A or B


def Xor(
    A: Tensor, B: Tensor, *, axis: Optional[int] = None, broadcast: int = 0
) -> Tensor:
    return torch.logical_xor(A, _math_old_broadcast(A, B, axis))


def Not(X: Tensor) -> Tensor:
    return torch.logical_not(X)


def Not__host(X: bool) -> bool:
    return not X


def MatMul(A: Tensor, B: Tensor) -> Tensor:
    return torch.matmul(A, B)


def Gemm(
    A: Tensor,
    B: Tensor,
    C: Optional[Tensor] = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: bool = False,
    transB: bool = False,
    broadcast: int = 0,
) -> Tensor:
    # One return and questions about B alone, so that a call of it becomes part
    # of its caller, and one product where B and C are constants.
    a = A.t() if transA else A
    real = B.is_floating_point()
    if (
        transB
        and alpha == 1.0
        and beta == 1.0
        and C is not None
        and C.dim() == 1
        and real
    ):
        out = torch.linear(a, B, C)
    else:
        b = B.t() if transB else B
        if real and C is not None:
            out = torch.addmm(C, a, b, beta=beta, alpha=alpha)
        else:
            out = torch.mm(a, b)
            if alpha != 1.0:
                out = out * alpha if real else out * int(alpha)
            if C is not None:
                if beta == 1.0:
                    out = out + C
                else:
                    out = out + (C * beta if real else C * int(beta))
    return out
