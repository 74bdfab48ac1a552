"""Small tensors of numbers of the host, as shape arithmetic makes them of
float32, of two dimensions, or of truths: computed on the host, so that their
numbers are there while a graph is captured.
"""

# Functions named __known take and give tensors that were made of lists; the
# importer gives them nothing else. No operator may write one: reshape() of
# rows without gaps is a view.


def _known_of(numbers: List[int], dtype: int) -> Tensor:
    # Nothing is converted: that would be an operator's work.
    if dtype == torch.bool:
        out = torch.tensor([n != 0 for n in numbers], dtype=torch.bool)
    elif dtype == torch.int32:
        # Two of 32 bits are one of 64.
        count = len(numbers)
        pairs: List[int] = []
        for i in range(0, count, 2):
            upper = numbers[i + 1] if i + 1 < count else 0
            pairs.append((numbers[i] & 4294967295) | (upper << 32))
        whole = torch.tensor(pairs, dtype=torch.int64)
        out = whole.view(dtype=torch.int32)[:count]
    else:
        out = torch.tensor(numbers, dtype=dtype)
    return out


def _known_of_reals(numbers: List[float], dtype: int) -> Tensor:
    return torch.tensor(numbers, dtype=dtype)


def _known_number(number: int, dtype: int) -> Tensor:
    return _known_of([number], dtype).reshape(annotate(List[int], []))


def _known_ints(x: Tensor) -> List[int]:
    flat = x.reshape([-1])
    if x.dtype == torch.bool:
        return [int(bool(flat[i])) for i in range(x.numel())]
    return [int(flat[i]) for i in range(x.numel())]


def _known_reals(x: Tensor) -> List[float]:
    if not x.is_floating_point():
        return [float(i) for i in _known_ints(x)]
    flat = x.reshape([-1])
    return [float(flat[i]) for i in range(x.numel())]


def _known_count(sizes: List[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


# Sizes that both become.
def _known_common(a: List[int], b: List[int]) -> List[int]:
    rank = max(len(a), len(b))
    out: List[int] = []
    for d in range(rank):
        m = a[d - rank + len(a)] if d - rank + len(a) >= 0 else 1
        n = b[d - rank + len(b)] if d - rank + len(b) >= 0 else 1
        if m != n and m != 1 and n != 1:
            raise ValueError(f"the sizes {a} and {b} don't go together")
        out.append(n if m == 1 else m)
    return out


# Where each element of those sizes is in rows of other sizes.
def _known_spread(sizes: List[int], of: List[int]) -> List[int]:
    out: List[int] = []
    for i in range(_known_count(sizes)):
        rest = i
        at = 0
        stride = 1
        for k in range(len(sizes)):
            size = sizes[len(sizes) - 1 - k]
            if k < len(of):
                own = of[len(of) - 1 - k]
                at += (rest % size if own != 1 else 0) * stride
                stride *= own
            rest = rest // size
        out.append(at)
    return out


def _known_picked(x: Tensor, places: List[int], sizes: List[int]) -> Tensor:
    if x.is_floating_point():
        reals = _known_reals(x)
        out = _known_of_reals([reals[i] for i in places], x.dtype)
    else:
        ints = _known_ints(x)
        out = _known_of([ints[i] for i in places], x.dtype)
    return out.reshape(sizes)


# Elements of x at the given places along an axis.
def _known_taken(x: Tensor, axis: int, at: List[int]) -> Tensor:
    sizes = x.size()
    d = axis + len(sizes) if axis < 0 else axis
    inner = _known_count(sizes[d + 1 :])
    places: List[int] = []
    for i in range(_known_count(sizes[:d])):
        for k in at:
            row = k + sizes[d] if k < 0 else k
            if row < 0 or row >= sizes[d]:
                raise IndexError(f"{k} is no place of {sizes[d]}")
            for j in range(inner):
                places.append((i * sizes[d] + row) * inner + j)
    return _known_picked(x, places, sizes[:d] + [len(at)] + sizes[d + 1 :])


def _known_quotient(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    return nan if a == 0.0 or a != a else (inf if a > 0.0 else -inf)


def _known_real(a: float, b: float, op: str) -> float:
    if op == "Add":
        return a + b
    if op == "Sub":
        return a - b
    if op == "Mul":
        return a * b
    if op == "Min":
        return min(a, b)
    if op == "Max":
        return max(a, b)
    return _known_quotient(a, b)


def _known_int(a: int, b: int, op: str) -> int:
    if op == "Add":
        return a + b
    if op == "Sub":
        return a - b
    if op == "Mul":
        return a * b
    if op == "Min":
        return min(a, b)
    if op == "Max":
        return max(a, b)
    if op == "Mod":
        return a - (a // b) * b
    return _math_divide_ints(a, b)


def _known_pair(A: Tensor, B: Tensor, op: str) -> Tensor:
    sizes = _known_common(A.size(), B.size())
    at = _known_spread(sizes, A.size())
    to = _known_spread(sizes, B.size())
    count = len(at)
    if A.is_floating_point():
        x = _known_reals(A)
        y = _known_reals(B)
        reals = [_known_real(x[at[i]], y[to[i]], op) for i in range(count)]
        out = _known_of_reals(reals, A.dtype)
    else:
        m = _known_ints(A)
        n = _known_ints(B)
        ints = [_known_int(m[at[i]], n[to[i]], op) for i in range(count)]
        out = _known_of(ints, A.dtype)
    return out.reshape(sizes)


# Truths: -1, 0 or 1 as a < b, a == b, a > b, of which some are asked for.
def _known_compared(A: Tensor, B: Tensor, wanted: List[int]) -> Tensor:
    sizes = _known_common(A.size(), B.size())
    at = _known_spread(sizes, A.size())
    to = _known_spread(sizes, B.size())
    order: List[int] = []
    if A.is_floating_point():
        x = _known_reals(A)
        y = _known_reals(B)
        for i in range(len(at)):
            a = x[at[i]]
            b = y[to[i]]
            order.append(0 if a == b else (-1 if a < b else 1))
    else:
        m = _known_ints(A)
        n = _known_ints(B)
        for i in range(len(at)):
            k = m[at[i]]
            j = n[to[i]]
            order.append(0 if k == j else (-1 if k < j else 1))
    truths = [int(o in wanted) for o in order]
    return _known_of(truths, torch.bool).reshape(sizes)


def Add__known(A: Tensor, B: Tensor) -> Tensor:
    return _known_pair(A, B, "Add")


def Sub__known(A: Tensor, B: Tensor) -> Tensor:
    return _known_pair(A, B, "Sub")


def Mul__known(A: Tensor, B: Tensor) -> Tensor:
    return _known_pair(A, B, "Mul")


def Div__known(A: Tensor, B: Tensor) -> Tensor:
    return _known_pair(A, B, "Div")


def Equal__known(A: Tensor, B: Tensor) -> Tensor:
    return _known_compared(A, B, [0])


def Less__known(A: Tensor, B: Tensor) -> Tensor:
    return _known_compared(A, B, [-1])


def Greater__known(A: Tensor, B: Tensor) -> Tensor:
    return _known_compared(A, B, [1])


def LessOrEqual__known(A: Tensor, B: Tensor) -> Tensor:
    return _known_compared(A, B, [-1, 0])


def GreaterOrEqual__known(A: Tensor, B: Tensor) -> Tensor:
    return _known_compared(A, B, [0, 1])


def Not__known(X: Tensor) -> Tensor:
    truths = [1 - i for i in _known_ints(X)]
    return _known_of(truths, torch.bool).reshape(X.size())


def Min__known(all_inputs: List[Tensor]) -> Tensor:
    out = all_inputs[0]
    for i in range(1, len(all_inputs)):
        out = _known_pair(out, all_inputs[i], "Min")
    return out


def Max__known(all_inputs: List[Tensor]) -> Tensor:
    out = all_inputs[0]
    for i in range(1, len(all_inputs)):
        out = _known_pair(out, all_inputs[i], "Max")
    return out


def Where_v9__known(condition: Tensor, X: Tensor, Y: Tensor) -> Tensor:
    sizes = _known_common(X.size(), Y.size())
    sizes = _known_common(condition.size(), sizes)
    truths = _known_ints(condition)
    asked = _known_spread(sizes, condition.size())
    x = _known_picked(X, _known_spread(sizes, X.size()), sizes)
    y = _known_picked(Y, _known_spread(sizes, Y.size()), sizes)
    count = len(asked)
    if X.is_floating_point():
        a = _known_reals(x)
        b = _known_reals(y)
        reals = [a[i] if truths[asked[i]] else b[i] for i in range(count)]
        out = _known_of_reals(reals, X.dtype)
    else:
        m = _known_ints(x)
        n = _known_ints(y)
        ints = [m[i] if truths[asked[i]] else n[i] for i in range(count)]
        out = _known_of(ints, X.dtype)
    return out.reshape(sizes)


# Whole numbers in the neighbourhood; beyond 2^53 all are.
def _known_whole(x: float, op: str) -> float:
    if not abs(x) < 9007199254740992.0:
        return x
    low = float(math.floor(x))
    if op == "Floor" or x == low:
        return low
    if op == "Ceil":
        return low + 1.0
    # To the nearest, ties to even.
    if x - low == 0.5:
        return low if low % 2.0 == 0.0 else low + 1.0
    return low if x - low < 0.5 else low + 1.0


def Floor__known(X: Tensor) -> Tensor:
    reals = [_known_whole(x, "Floor") for x in _known_reals(X)]
    return _known_of_reals(reals, X.dtype).reshape(X.size())


def Ceil__known(X: Tensor) -> Tensor:
    reals = [_known_whole(x, "Ceil") for x in _known_reals(X)]
    return _known_of_reals(reals, X.dtype).reshape(X.size())


def Round_v11__known(X: Tensor) -> Tensor:
    reals = [_known_whole(x, "Round") for x in _known_reals(X)]
    return _known_of_reals(reals, X.dtype).reshape(X.size())


def Sqrt__known(X: Tensor) -> Tensor:
    reals = [math.sqrt(x) if x >= 0.0 else nan for x in _known_reals(X)]
    return _known_of_reals(reals, X.dtype).reshape(X.size())


def Neg__known(X: Tensor) -> Tensor:
    if X.is_floating_point():
        out = _known_of_reals([-x for x in _known_reals(X)], X.dtype)
    else:
        out = _known_of([-i for i in _known_ints(X)], X.dtype)
    return out.reshape(X.size())


def Cast__known(
    input: Tensor, *, to: int, saturate: bool = True, round_mode: str = "up"
) -> Tensor:
    if to == 6 or to == 7:
        out = _known_of_reals(_known_reals(input), to)
    elif input.is_floating_point():
        reals = _known_reals(input)
        if to == 11:
            out = _known_of([int(x != 0.0) for x in reals], to)
        else:
            out = _known_of([int(x) for x in reals], to)
    elif to == 11:
        out = _known_of([int(i != 0) for i in _known_ints(input)], to)
    else:
        out = _known_of(_known_ints(input), to)
    return out.reshape(input.size())


def Reshape_v5__known(data: Tensor, shape: List[int]) -> Tensor:
    return data.reshape(_shape_filled(data.size(), shape))


def Reshape_v14__known(
    data: Tensor, shape: List[int], *, allowzero: bool = False
) -> Tensor:
    sizes = shape if allowzero else _shape_filled(data.size(), shape)
    return data.reshape(sizes)


def Transpose__known(data: Tensor, *, perm: Optional[List[int]] = None) -> Tensor:
    sizes = data.size()
    rank = len(sizes)
    order = [rank - 1 - i for i in range(rank)]
    if perm is not None:
        order = perm
    turned = [sizes[d] for d in order]
    places: List[int] = []
    for i in range(_known_count(sizes)):
        rest = i
        at = 0
        for k in range(rank):
            d = order[rank - 1 - k]
            size = turned[rank - 1 - k]
            at += (rest % size) * _known_count(sizes[d + 1 :])
            rest = rest // size
        places.append(at)
    return _known_picked(data, places, turned)


def Concat_v4__known(all_inputs: List[Tensor], *, axis: int) -> Tensor:
    first = all_inputs[0]
    d = axis + first.dim() if axis < 0 else axis
    sizes = first.size()
    rows = _known_count(sizes[:d])
    length = 0
    for x in all_inputs:
        length += x.size(d)
    reals: List[float] = []
    ints: List[int] = []
    for i in range(rows):
        for x in all_inputs:
            row = _known_count(x.size()[d:])
            if first.is_floating_point():
                reals = reals + _known_reals(x)[i * row : (i + 1) * row]
            else:
                ints = ints + _known_ints(x)[i * row : (i + 1) * row]
    if first.is_floating_point():
        out = _known_of_reals(reals, first.dtype)
    else:
        out = _known_of(ints, first.dtype)
    return out.reshape(sizes[:d] + [length] + sizes[d + 1 :])


def _known_sliced(
    data: Tensor,
    starts: List[int],
    ends: List[int],
    axes: Optional[List[int]],
    steps: Optional[List[int]],
) -> Tensor:
    out = data
    for i in range(len(starts)):
        axis = i if axes is None else axes[i]
        step = 1 if steps is None else steps[i]
        size = data.size(axis)
        start = starts[i] + size if starts[i] < 0 else starts[i]
        end = ends[i] + size if ends[i] < 0 else ends[i]
        if step > 0:
            at = list(range(min(max(start, 0), size), min(end, size), step))
        else:
            first = min(max(start, 0), size - 1)
            at = list(range(first, min(max(end, -1), size - 1), step))
        out = _known_taken(out, axis, at)
    return out


def Slice__known(
    data: Tensor,
    *,
    starts: List[int],
    ends: List[int],
    axes: Optional[List[int]] = None,
) -> Tensor:
    return _known_sliced(data, starts, ends, axes, None)


def Slice_v10__known(
    data: Tensor,
    starts: List[int],
    ends: List[int],
    axes: Optional[List[int]],
    steps: Optional[List[int]],
) -> Tensor:
    return _known_sliced(data, starts, ends, axes, steps)


def Gather__known(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    d = axis + data.dim() if axis < 0 else axis
    rows = _known_taken(data, d, _known_ints(indices))
    sizes = data.size()
    return rows.reshape(sizes[:d] + indices.size() + sizes[d + 1 :])


def Squeeze__known(data: Tensor, *, axes: Optional[List[int]] = None) -> Tensor:
    return _shape_squeezed(data, axes)


def Squeeze_v13__known(data: Tensor, axes: Optional[List[int]]) -> Tensor:
    return _shape_squeezed(data, axes)


def Unsqueeze__known(data: Tensor, *, axes: List[int]) -> Tensor:
    return _shape_unsqueezed(data, axes)


def Unsqueeze_v13__known(data: Tensor, axes: List[int]) -> Tensor:
    return _shape_unsqueezed(data, axes)


def Flatten__known(input: Tensor, *, axis: int = 1) -> Tensor:
    sizes = input.size()
    rows = _known_count(sizes[:axis])
    return input.reshape([rows, _known_count(sizes[axis:])])


# Elements that become one are brought together in the last dimension.
def _known_reduced(
    data: Tensor, axes: Optional[List[int]], keepdims: bool, op: str
) -> Tensor:
    rank = data.dim()
    gone = list(range(rank))
    if axes is not None and len(axes) > 0:
        gone = [a + rank if a < 0 else a for a in axes]
    kept = [d for d in range(rank) if d not in gone]
    sizes = data.size()
    rows = Transpose__known(data, perm=kept + gone)
    each = _known_count([sizes[d] for d in gone])
    out = rows.reshape([_known_count([sizes[d] for d in kept]), each])
    if each > 0:
        result = _known_taken(out, 1, [0])
    else:
        nothing = [1 if op == "Mul" else 0] * _known_count([sizes[d] for d in kept])
        if op == "Min" or op == "Max":
            raise ValueError("the least and the largest of nothing")
        if data.is_floating_point():
            result = _known_of_reals([float(i) for i in nothing], data.dtype)
        else:
            result = _known_of(nothing, data.dtype)
    for i in range(1, each):
        result = _known_pair(result, _known_taken(out, 1, [i]), op)
    last = [1 if d in gone else sizes[d] for d in range(rank)]
    if not keepdims:
        last = [sizes[d] for d in kept]
    return result.reshape(last)


def ReduceProd__known(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _known_reduced(data, axes, keepdims, "Mul")


def ReduceProd_v18__known(
    data: Tensor, axes: Optional[List[int]], *, keepdims: bool = True
) -> Tensor:
    return _known_reduced(data, axes, keepdims, "Mul")


def ReduceSum__known(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _known_reduced(data, axes, keepdims, "Add")


def ReduceSum_v13__known(
    data: Tensor, axes: Optional[List[int]], *, keepdims: bool = True
) -> Tensor:
    return _known_reduced(data, axes, keepdims, "Add")


def ReduceMax__known(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _known_reduced(data, axes, keepdims, "Max")


def ReduceMax_v18__known(
    data: Tensor, axes: Optional[List[int]], *, keepdims: bool = True
) -> Tensor:
    return _known_reduced(data, axes, keepdims, "Max")


def ReduceMin__known(
    data: Tensor, *, axes: Optional[List[int]] = None, keepdims: bool = True
) -> Tensor:
    return _known_reduced(data, axes, keepdims, "Min")


def ReduceMin_v18__known(
    data: Tensor, axes: Optional[List[int]], *, keepdims: bool = True
) -> Tensor:
    return _known_reduced(data, axes, keepdims, "Min")
