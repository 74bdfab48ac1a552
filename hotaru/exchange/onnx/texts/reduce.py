"""ONNX's operators along axes: reductions, running sums, sorting, softmax."""


def _reduce_noop(axes: Optional[List[int]], noop: bool) -> bool:
    return noop and (axes is None or len(axes) == 0)


def _reduce_dims(axes: Optional[List[int]]) -> List[int]:
    """Our operators take no dimensions for all of them."""
    dims: List[int] = []
    return dims if axes is None else axes


# uint16, uint32 and uint64 (27 to 29), which few kernels know, are worked on as
# int64: sums and products have the same bits, and uint64 has the same order
# with its highest bit turned.
def _reduce_wide(data: Tensor) -> Tensor:
    return data.to(torch.int64) if data.dtype >= 27 else data


def _reduce_narrow(data: Tensor, dtype: int) -> Tensor:
    return data.to(dtype) if dtype >= 27 else data


def _reduce_ordered(data: Tensor) -> Tensor:
    out = data
    if data.dtype >= 27:
        out = data.to(torch.int64)
        if data.dtype == 29:
            out = out ^ (-9223372036854775807 - 1)
    return out


def _reduce_unordered(data: Tensor, dtype: int) -> Tensor:
    out = data
    if dtype >= 27:
        if dtype == 29:
            out = out ^ (-9223372036854775807 - 1)
        out = out.to(dtype)
    return out


def _reduce_real(data: Tensor) -> Tensor:
    """Integers as numbers whose roots and logarithms can be taken."""
    return data if data.is_floating_point() else data.to(torch.float64)


def _reduce_sum(data: Tensor, axes: Optional[List[int]], keepdims: bool) -> Tensor:
    x = _reduce_wide(data)
    out = torch.sum(x, axes, keepdims, dtype=x.dtype)
    return _reduce_narrow(out, data.dtype)


def _reduce_mean(data: Tensor, axes: Optional[List[int]], keepdims: bool) -> Tensor:
    if data.is_floating_point():
        out = torch.mean(data, axes, keepdims)
    else:
        x = _reduce_wide(data)
        out = torch.sum(x, axes, keepdims, dtype=torch.int64)
        count = data.numel() // max(out.numel(), 1)
        out = torch.div(out, max(count, 1), rounding_mode="trunc").to(data.dtype)
    return out


def _reduce_prod(data: Tensor, axes: Optional[List[int]], keepdims: bool) -> Tensor:
    # Products are along one dimension or all.
    dims = _reduce_dims(axes)
    if len(dims) == 0:
        dims = [i for i in range(data.dim())]
    out = _reduce_wide(data)
    for axis in dims:
        out = out.prod(axis, True, dtype=out.dtype)
    out = out if keepdims else out.squeeze(dims)
    return _reduce_narrow(out, data.dtype)


def _reduce_sizes(data: Tensor, axes: Optional[List[int]], keepdims: bool) -> List[int]:
    sizes: List[int] = []
    dims = [a + data.dim() if a < 0 else a for a in _reduce_dims(axes)]
    for i in range(data.dim()):
        if len(dims) > 0 and i not in dims:
            sizes.append(data.size(i))
        elif keepdims:
            sizes.append(1)
    return sizes


def _reduce_nothing(data: Tensor, sizes: List[int], largest: bool) -> Tensor:
    """The extremum of no elements: the dtype's least value, or greatest."""
    like = data.new_empty(sizes)
    if data.is_floating_point():
        out = torch.full_like(like, -math.inf if largest else math.inf)
    elif data.dtype == torch.bool:
        out = torch.full_like(like, not largest)
    elif data.dtype == torch.uint8 or data.dtype >= 27:
        out = torch.full_like(like, 0 if largest else -1, dtype=torch.int64)
        out = out.to(data.dtype)
    else:
        half = 1 << (8 * data.element_size() - 2)
        out = torch.full_like(like, -half - half if largest else half - 1 + half)
    return out


def _reduce_max(data: Tensor, axes: Optional[List[int]], keepdims: bool) -> Tensor:
    if data.numel() > 0:
        out = _reduce_ordered(data).amax(_reduce_dims(axes), keepdims)
        out = _reduce_unordered(out, data.dtype)
    else:
        out = _reduce_nothing(data, _reduce_sizes(data, axes, keepdims), True)
    return out


def _reduce_min(data: Tensor, axes: Optional[List[int]], keepdims: bool) -> Tensor:
    if data.numel() > 0:
        out = _reduce_ordered(data).amin(_reduce_dims(axes), keepdims)
        out = _reduce_unordered(out, data.dtype)
    else:
        out = _reduce_nothing(data, _reduce_sizes(data, axes, keepdims), False)
    return out


def _reduce_l1(data: Tensor, axes: Optional[List[int]], keepdims: bool) -> Tensor:
    if data.is_floating_point():
        out = torch.linalg_vector_norm(data, 1.0, axes, keepdims)
    else:
        out = _reduce_sum(_reduce_abs(data), axes, keepdims)
    return out


def _reduce_abs(data: Tensor) -> Tensor:
    return data if data.dtype >= 27 else data.abs()


def _reduce_l2(data: Tensor, axes: Optional[List[int]], keepdims: bool) -> Tensor:
    return torch.linalg_vector_norm(_reduce_real(data), 2.0, axes, keepdims).to(
        data.dtype
    )


def _reduce_log_sum(data: Tensor, axes: Optional[List[int]], keepdims: bool) -> Tensor:
    return torch.sum(_reduce_real(data), axes, keepdims).log().to(data.dtype)


def _reduce_log_sum_exp(
    data: Tensor, axes: Optional[List[int]], keepdims: bool
) -> Tensor:
    dims = _reduce_dims(axes)
    if len(dims) == 0:
        dims = [i for i in range(data.dim())]
    return torch.logsumexp(_reduce_real(data), dims, keepdims).to(data.dtype)


def _reduce_sum_square(
    data: Tensor, axes: Optional[List[int]], keepdims: bool
) -> Tensor:
    return _reduce_sum(_reduce_square(data), axes, keepdims)


def _reduce_square(data: Tensor) -> Tensor:
    x = _reduce_wide(data)
    return _reduce_narrow(x * x, data.dtype)


def ReduceSum(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_sum(data, axes, keepdims)


def ReduceSum_v13(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = data
    else:
        out = _reduce_sum(data, axes, keepdims)
    return out


def ReduceMean(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_mean(data, axes, keepdims)


def ReduceMean_v18(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = data
    else:
        out = _reduce_mean(data, axes, keepdims)
    return out


def ReduceProd(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_prod(data, axes, keepdims)


def ReduceProd_v18(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = data
    else:
        out = _reduce_prod(data, axes, keepdims)
    return out


def ReduceMax(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_max(data, axes, keepdims)


def ReduceMax_v18(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = data
    else:
        out = _reduce_max(data, axes, keepdims)
    return out


def ReduceMin(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_min(data, axes, keepdims)


def ReduceMin_v18(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = data
    else:
        out = _reduce_min(data, axes, keepdims)
    return out


def ReduceL1(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_l1(data, axes, keepdims)


def ReduceL1_v18(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = _reduce_abs(data)
    else:
        out = _reduce_l1(data, axes, keepdims)
    return out


def ReduceL2(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_l2(data, axes, keepdims)


def ReduceL2_v18(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = _reduce_abs(data)
    else:
        out = _reduce_l2(data, axes, keepdims)
    return out


def ReduceLogSum(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_log_sum(data, axes, keepdims)


def ReduceLogSum_v18(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = _reduce_real(data).log().to(data.dtype)
    else:
        out = _reduce_log_sum(data, axes, keepdims)
    return out


def ReduceLogSumExp(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_log_sum_exp(data, axes, keepdims)


def ReduceLogSumExp_v18(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = data
    else:
        out = _reduce_log_sum_exp(data, axes, keepdims)
    return out


def ReduceSumSquare(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _reduce_sum_square(data, axes, keepdims)


def ReduceSumSquare_v18(
    data: Tensor,
    axes: Optional[List[int]],
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> Tensor:
    if _reduce_noop(axes, noop_with_empty_axes):
        out = _reduce_square(data)
    else:
        out = _reduce_sum_square(data, axes, keepdims)
    return out


# Reductions of shapes. NAME__0 stands for an attribute that is 0 in the node,
# NAME__1 for one that is 1.


def _reduce_list_prod(data: List[int]) -> int:
    out = 1
    for size in data:
        out *= size
    return out


def ReduceSum__int(
    data: List[int], *, keepdims__0: bool, axes: Optional[List[int]] = None
) -> int:
    return sum(data)


def ReduceSum_v13__int(
    data: List[int],
    axes: Optional[List[int]],
    *,
    keepdims__0: bool,
    noop_with_empty_axes__0: bool = True,
) -> int:
    return sum(data)


def ReduceSum__list(
    data: List[int], *, keepdims__1: bool = True, axes: Optional[List[int]] = None
) -> List[int]:
    return [sum(data)]


def ReduceSum_v13__list(
    data: List[int],
    axes: Optional[List[int]],
    *,
    keepdims__1: bool = True,
    noop_with_empty_axes__0: bool = True,
) -> List[int]:
    return [sum(data)]


def ReduceProd__int(
    data: List[int], *, keepdims__0: bool, axes: Optional[List[int]] = None
) -> int:
    return _reduce_list_prod(data)


def ReduceProd_v18__int(
    data: List[int],
    axes: Optional[List[int]],
    *,
    keepdims__0: bool,
    noop_with_empty_axes__0: bool = True,
) -> int:
    return _reduce_list_prod(data)


def ReduceProd__list(
    data: List[int], *, keepdims__1: bool = True, axes: Optional[List[int]] = None
) -> List[int]:
    return [_reduce_list_prod(data)]


def ReduceProd_v18__list(
    data: List[int],
    axes: Optional[List[int]],
    *,
    keepdims__1: bool = True,
    noop_with_empty_axes__0: bool = True,
) -> List[int]:
    return [_reduce_list_prod(data)]


def ReduceMax__int(
    data: List[int], *, keepdims__0: bool, axes: Optional[List[int]] = None
) -> int:
    return max(data)


def ReduceMax_v18__int(
    data: List[int],
    axes: Optional[List[int]],
    *,
    keepdims__0: bool,
    noop_with_empty_axes__0: bool = True,
) -> int:
    return max(data)


def ReduceMax__list(
    data: List[int], *, keepdims__1: bool = True, axes: Optional[List[int]] = None
) -> List[int]:
    return [max(data)]


def ReduceMax_v18__list(
    data: List[int],
    axes: Optional[List[int]],
    *,
    keepdims__1: bool = True,
    noop_with_empty_axes__0: bool = True,
) -> List[int]:
    return [max(data)]


def ReduceMin__int(
    data: List[int], *, keepdims__0: bool, axes: Optional[List[int]] = None
) -> int:
    return min(data)


def ReduceMin_v18__int(
    data: List[int],
    axes: Optional[List[int]],
    *,
    keepdims__0: bool,
    noop_with_empty_axes__0: bool = True,
) -> int:
    return min(data)


def ReduceMin__list(
    data: List[int], *, keepdims__1: bool = True, axes: Optional[List[int]] = None
) -> List[int]:
    return [min(data)]


def ReduceMin_v18__list(
    data: List[int],
    axes: Optional[List[int]],
    *,
    keepdims__1: bool = True,
    noop_with_empty_axes__0: bool = True,
) -> List[int]:
    return [min(data)]


def _reduce_position(
    data: Tensor, axis: int, keepdims: bool, largest: bool, last: bool
) -> Tensor:
    # The first of equal ones, so from the other end for the last.
    x = _reduce_ordered(data)
    x = x.flip([axis]) if last else x
    out = x.argmax(axis, keepdims) if largest else x.argmin(axis, keepdims)
    return data.size(axis) - 1 - out if last else out


def ArgMax(data: Tensor, *, axis: int = 0, keepdims: bool = True) -> Tensor:
    return _reduce_position(data, axis, keepdims, True, False)


def ArgMax_v12(
    data: Tensor,
    *,
    axis: int = 0,
    keepdims: bool = True,
    select_last_index: bool = False,
) -> Tensor:
    return _reduce_position(data, axis, keepdims, True, select_last_index)


def ArgMin(data: Tensor, *, axis: int = 0, keepdims: bool = True) -> Tensor:
    return _reduce_position(data, axis, keepdims, False, False)


def ArgMin_v12(
    data: Tensor,
    *,
    axis: int = 0,
    keepdims: bool = True,
    select_last_index: bool = False,
) -> Tensor:
    return _reduce_position(data, axis, keepdims, False, select_last_index)


# Takes the first ones of equal elements, which is what our kernels give.
def _reduce_topk(
    X: Tensor, k: int, axis: int, largest: bool, sorted: bool
) -> Tuple[Tensor, Tensor]:
    values, indices = torch.topk(_reduce_ordered(X), k, axis, largest, sorted)
    return _reduce_unordered(values, X.dtype), indices


def TopK(X: Tensor, *, k: int, axis: int = -1) -> Tuple[Tensor, Tensor]:
    return _reduce_topk(X, k, axis, True, True)


def TopK_v10(X: Tensor, K: int, *, axis: int = -1) -> Tuple[Tensor, Tensor]:
    return _reduce_topk(X, K, axis, True, True)


def TopK_v11(
    X: Tensor, K: int, *, axis: int = -1, largest: bool = True, sorted: bool = True
) -> Tuple[Tensor, Tensor]:
    return _reduce_topk(X, K, axis, largest, sorted)


def Unique_v11(X: Tensor, *, axis: Optional[int] = None, sorted: bool = True) -> Tensor:
    return _reduce_unique(X, axis, sorted)[0]


def Unique_v11__all(
    X: Tensor, *, axis: Optional[int] = None, sorted: bool = True
) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    return _reduce_unique(X, axis, sorted)


def _reduce_unique(
    X: Tensor, axis: Optional[int], sorted: bool
) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    x = _reduce_ordered(X)
    x = x.flatten() if axis is None else x
    dim = 0 if axis is None else axis
    if axis is None:
        values, inverse, counts = torch._unique2(x, True, True, True)
    else:
        values, inverse, counts = torch.unique_dim(x, axis, True, True, True)
    positions = torch.arange(x.size(dim), device=x.device)
    first = torch.full_like(counts, x.size(dim))
    first = first.scatter_reduce(0, inverse, positions, "amin")
    values = _reduce_unordered(values, X.dtype)
    if not sorted:
        order = first.argsort()
        place = torch.empty_like(order).scatter(0, order, positions[: order.size(0)])
        values = values.index_select(dim, order)
        first = first.index_select(0, order)
        counts = counts.index_select(0, order)
        inverse = place.index_select(0, inverse)
    return values, first, inverse, counts


def _reduce_running(
    x: Tensor, axis: int, exclusive: bool, reverse: bool, product: bool
) -> Tensor:
    out = _reduce_wide(x)
    out = out.flip([axis]) if reverse else out
    if exclusive:
        # All one place on, the last one out.
        around = [0] * (2 * (-axis if axis < 0 else x.dim() - axis))
        around[-2] = 1
        around[-1] = -1
        out = torch.constant_pad_nd(out, around, 1 if product else 0)
    if product:
        out = out.cumprod(axis, dtype=out.dtype)
    else:
        out = out.cumsum(axis, dtype=out.dtype)
    out = out.flip([axis]) if reverse else out
    return _reduce_narrow(out, x.dtype)


def CumSum_v11(
    x: Tensor, axis: int, *, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    return _reduce_running(x, axis, exclusive, reverse, False)


def CumProd_v26(
    x: Tensor, axis: int, *, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    return _reduce_running(x, axis, exclusive, reverse, True)


# Before opset 13 the axes from `axis` on are one.
def Hardmax(input: Tensor, *, axis: int = 1) -> Tensor:
    return _reduce_hardmax(input.flatten(axis), -1).reshape(input.size())


def Hardmax_v13(input: Tensor, *, axis: int = -1) -> Tensor:
    return _reduce_hardmax(input, axis)


def _reduce_hardmax(input: Tensor, axis: int) -> Tensor:
    return torch.zeros_like(input).scatter(axis, input.argmax(axis, True), 1)


def Softmax(input: Tensor, *, axis: int = 1) -> Tensor:
    return input.flatten(axis).softmax(-1).reshape(input.size())


def Softmax_v13(input: Tensor, *, axis: int = -1) -> Tensor:
    return input.softmax(axis)


def LogSoftmax(input: Tensor, *, axis: int = 1) -> Tensor:
    return input.flatten(axis).log_softmax(-1).reshape(input.size())


def LogSoftmax_v13(input: Tensor, *, axis: int = -1) -> Tensor:
    return input.log_softmax(axis)
