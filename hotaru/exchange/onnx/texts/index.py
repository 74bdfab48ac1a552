"""ONNX's operators of indices: gathering, scattering, conditions."""


def _index_wrapped(indices: Tensor, size: int) -> Tensor:
    """Negative ones count from the end; kernels refuse what is outside."""
    return torch.where(indices < 0, indices + size, indices)


def Gather(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    at = axis + data.dim() if axis < 0 else axis
    where: List[Optional[Tensor]] = []
    for _ in range(at):
        where.append(None)
    where.append(indices)
    return torch.index(data, where)


def Gather__select(data: Tensor, indices: int, *, axis: int = 0) -> Tensor:
    return data.select(axis, indices)


# An only element stays one, a small one.
def Gather__one(data: Tuple[int], indices: Tuple[int], *, axis: int = 0) -> List[int]:
    if indices[0] != 0 and indices[0] != -1:
        raise IndexError("Gather: there is one element")
    return [data[0]]


def Gather__elements(
    data: List[int], indices: List[int], *, axis: int = 0
) -> List[int]:
    return [data[i] for i in indices]


def Gather__element(data: List[int], indices: int, *, axis: int = 0) -> int:
    return data[indices]


def GatherElements_v11(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    return data.gather(axis, _index_wrapped(indices, data.size(axis)))


def GatherND_v11(data: Tensor, indices: Tensor) -> Tensor:
    return torch.index(data, indices.unbind(-1))


def GatherND_v12(data: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    where: List[Tensor] = []
    for d in range(batch_dims):
        shape = [1] * (indices.dim() - 1)
        shape[d] = data.size(d)
        where.append(torch.arange(data.size(d), device=data.device).reshape(shape))
    return torch.index(data, where + indices.unbind(-1))


def Scatter_v9(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0
) -> Tensor:
    return _index_scatter(data, indices, updates, axis, "none")


def ScatterElements_v11(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0
) -> Tensor:
    return _index_scatter(data, indices, updates, axis, "none")


def ScatterElements_v16(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    axis: int = 0,
    reduction: str = "none",
) -> Tensor:
    return _index_scatter(data, indices, updates, axis, reduction)


def _index_reduction(reduction: str) -> str:
    if reduction == "mul":
        name = "prod"
    elif reduction == "max":
        name = "amax"
    elif reduction == "min":
        name = "amin"
    else:
        raise ValueError("the reduction " + reduction + " is not supported")
    return name


def _index_scatter(
    data: Tensor, indices: Tensor, updates: Tensor, axis: int, reduction: str
) -> Tensor:
    index = _index_wrapped(indices, data.size(axis))
    if reduction == "none":
        out = data.scatter(axis, index, updates)
    else:
        x = _index_signed(data, reduction)
        y = _index_signed(updates, reduction)
        if reduction == "add":
            out = x.scatter_add(axis, index, y)
        else:
            out = x.scatter_reduce(axis, index, y, _index_reduction(reduction))
        out = _index_unsigned(out, data.dtype, reduction)
    return out


# Numbers of uint16, uint32 and uint64 as int64, which has the same sums and
# products; where they are compared, in their order.
def _index_signed(x: Tensor, reduction: str) -> Tensor:
    if int(x.dtype) < 27:
        return x
    ordered = reduction == "min" or reduction == "max"
    return _bits_ordered(x) if ordered else _bits_signed(x)


def _index_unsigned(x: Tensor, dtype: int, reduction: str) -> Tensor:
    if dtype < 27:
        return x
    ordered = reduction == "min" or reduction == "max"
    return _bits_unordered(x, dtype) if ordered else _bits_unsigned(x, dtype)


def ScatterND_v11(data: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    return torch.index_put(data, indices.unbind(-1), updates, False)


def ScatterND_v16(
    data: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none"
) -> Tensor:
    if reduction == "none":
        out = torch.index_put(data, indices.unbind(-1), updates, False)
    else:
        x = _index_signed(data, reduction)
        y = _index_signed(updates, reduction)
        if reduction == "add":
            out = torch.index_put(x, indices.unbind(-1), y, True)
        else:
            out = _index_put_reduced(x, indices, y, _index_reduction(reduction))
        out = _index_unsigned(out, data.dtype, reduction)
    return out


def _index_put_reduced(
    data: Tensor, indices: Tensor, updates: Tensor, reduction: str
) -> Tensor:
    """The indexed dimensions as one."""
    depth = indices.size(-1)
    rows = 1
    row = torch.zeros(indices.size()[:-1], dtype=indices.dtype, device=indices.device)
    for d in range(depth):
        rows *= data.size(d)
        row = row * data.size(d) + _index_wrapped(indices.select(-1, d), data.size(d))
    rest = data.size()[depth:]
    flat = data.reshape([rows] + rest)
    flat = flat.index_reduce(
        0, row.flatten(), updates.reshape([row.numel()] + rest), reduction
    )
    return flat.reshape(data.size())


def TensorScatter_v24(
    past_cache: Tensor,
    update: Tensor,
    write_indices: Optional[Tensor],
    *,
    mode: str = "linear",
    axis: int = -2,
) -> Tensor:
    count = update.size(axis)
    if write_indices is None:
        out = torch.slice_scatter(past_cache, update, axis, 0, count)
    else:
        shape = [1] * update.dim()
        shape[axis] = count
        index = torch.arange(count, device=update.device).reshape(shape)
        shape[axis] = 1
        shape[0] = update.size(0)
        index = index + write_indices.reshape(shape)
        if mode == "circular":
            index = index.remainder(past_cache.size(axis))
        out = past_cache.scatter(axis, index.expand(update.size()), update)
    return out


def Compress_v9(
    input: Tensor, condition: Tensor, *, axis: Optional[int] = None
) -> Tensor:
    chosen = condition.nonzero().flatten()
    if axis is None:
        out = input.flatten().index_select(0, chosen)
    else:
        out = input.index_select(axis, chosen)
    return out


def NonZero_v9(X: Tensor) -> Tensor:
    # uint16, uint32 and uint64 (27 to 29) are zero where int64 is.
    x = X.to(torch.int64) if X.dtype >= 27 else X
    return x.nonzero().t()


def Where_v9(condition: Tensor, X: Tensor, Y: Tensor) -> Tensor:
    return torch.where(condition, X, Y)


def Where_v9__int(condition: bool, X: int, Y: int) -> int:
    return X if condition else Y


# The condition's truths are 0 and 1.
def Where_v9__lists(condition: List[int], X: List[int], Y: List[int]) -> List[int]:
    count = max([len(condition), len(X), len(Y)])
    if len(condition) != 1 and len(condition) != count:
        raise ValueError("Where: lists that don't broadcast")
    x, _ = _math_lists(X, [0] * count)
    y, _ = _math_lists(Y, [0] * count)
    return [
        x[i] if condition[i if len(condition) > 1 else 0] != 0 else y[i]
        for i in range(count)
    ]


def Where_v9__list(condition: bool, X: List[int], Y: List[int]) -> List[int]:
    count = len(Y) if len(X) == 1 else len(X)
    chosen = X if condition else Y
    return chosen * count if len(chosen) == 1 else chosen
