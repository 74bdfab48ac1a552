"""ONNX's operators of shapes: sizes, views, copies, tensors made of a shape."""

# Tuple[int] is a list that is known to have one element, a small one: a
# constant, or of a function named __one.


def Shape(data: Tensor) -> List[int]:
    return data.size()


def Shape__one(data: List[int]) -> List[int]:
    return [len(data)]


def Shape__int(data: int) -> List[int]:
    sizes: List[int] = []
    return sizes


def Shape_v15(data: Tensor, *, start: int = 0, end: Optional[int] = None) -> List[int]:
    return data.size()[start:end]


def Shape_v15__one(data: List[int]) -> List[int]:
    return [len(data)]


def Shape_v15__part(
    data: List[int], *, start: int, end: Optional[int] = None
) -> List[int]:
    return [len(data)][start:end]


def Shape_v15__int(
    data: int, *, start: int = 0, end: Optional[int] = None
) -> List[int]:
    sizes: List[int] = []
    return sizes


def Size(data: Tensor) -> int:
    return data.numel()


def Size__list(data: List[int]) -> int:
    return len(data)


def Size__int(data: int) -> int:
    return 1


def _shape_filled(sizes: List[int], shape: List[int]) -> List[int]:
    """The shape with zeros replaced by the sizes that stand there."""
    filled = shape
    if 0 in shape:
        filled = [sizes[i] if shape[i] == 0 else shape[i] for i in range(len(shape))]
    return filled


def Reshape(
    data: Tensor, *, shape: List[int], consumed_inputs: Optional[List[int]] = None
) -> Tensor:
    return data.reshape(_shape_filled(data.size(), shape))


def Reshape_v5(data: Tensor, shape: List[int]) -> Tensor:
    return data.reshape(_shape_filled(data.size(), shape))


def Reshape_v14(data: Tensor, shape: List[int], *, allowzero: bool = False) -> Tensor:
    return data.reshape(shape if allowzero else _shape_filled(data.size(), shape))


def Reshape_v5__list(data: List[int], shape: Tuple[int]) -> List[int]:
    return _shape_line(data, shape[0])


def Reshape_v14__list(
    data: List[int], shape: Tuple[int], *, allowzero: bool = False
) -> List[int]:
    return _shape_line(data, shape[0])


def Reshape_v5__int(data: int, shape: Tuple[int]) -> List[int]:
    return _shape_line([data], shape[0])


def Reshape_v14__int(
    data: int, shape: Tuple[int], *, allowzero: bool = False
) -> List[int]:
    return _shape_line([data], shape[0])


def _shape_line(data: List[int], size: int) -> List[int]:
    if size > 0 and size != len(data):
        raise ValueError("Reshape: the shape has not as many elements as the data")
    return data


def Transpose(data: Tensor, *, perm: Optional[List[int]] = None) -> Tensor:
    if perm is None:
        order = [data.dim() - 1 - i for i in range(data.dim())]
    else:
        order = perm
    return data.permute(order)


def Transpose__list(data: List[int], *, perm: Optional[List[int]] = None) -> List[int]:
    return data


def Concat(all_inputs: List[Tensor], *, axis: int = 1) -> Tensor:
    return torch.cat(all_inputs, axis)


def Concat_v4(all_inputs: List[Tensor], *, axis: int) -> Tensor:
    return torch.cat(all_inputs, axis)


def Concat_v4__lists(all_inputs: List[List[int]], *, axis: int) -> List[int]:
    out: List[int] = []
    for part in all_inputs:
        out = out + part
    return out


def _shape_parts(size: int, count: int) -> List[int]:
    """As equal as can be; the last ones are smaller, or empty."""
    most = (size + count - 1) // count
    return [max(min(most, size - i * most), 0) for i in range(count)]


def _shape_split(
    input: Tensor, split: Optional[List[int]], axis: int, count: int
) -> List[Tensor]:
    sizes = _shape_parts(input.size(axis), count) if split is None else split
    return input.split_with_sizes(sizes, axis)


# The list's elements are the node's outputs.
def Split(
    input: Tensor,
    split_sizes: Optional[List[int]],
    *,
    split: Optional[List[int]] = None,
    axis: int = 0,
    n_outputs: int,
) -> List[Tensor]:
    return _shape_split(
        input, split if split_sizes is None else split_sizes, axis, n_outputs
    )


def Split_v2(
    input: Tensor, *, split: Optional[List[int]] = None, axis: int = 0, n_outputs: int
) -> List[Tensor]:
    return _shape_split(input, split, axis, n_outputs)


def Split_v13(
    input: Tensor, split: Optional[List[int]], *, axis: int = 0, n_outputs: int
) -> List[Tensor]:
    return _shape_split(input, split, axis, n_outputs)


def Split_v18(
    input: Tensor,
    split: Optional[List[int]],
    *,
    axis: int = 0,
    num_outputs: Optional[int] = None,
    n_outputs: int,
) -> List[Tensor]:
    return _shape_split(
        input, split, axis, n_outputs if num_outputs is None else num_outputs
    )


def Split_v13__list(
    input: List[int], split: Optional[List[int]], *, axis: int = 0, n_outputs: int
) -> List[List[int]]:
    return _shape_split_list(input, split, n_outputs)


def Split_v18__list(
    input: List[int],
    split: Optional[List[int]],
    *,
    axis: int = 0,
    num_outputs: Optional[int] = None,
    n_outputs: int,
) -> List[List[int]]:
    return _shape_split_list(input, split, n_outputs)


def _shape_split_list(
    input: List[int], split: Optional[List[int]], count: int
) -> List[List[int]]:
    sizes = _shape_parts(len(input), count) if split is None else split
    out: List[List[int]] = []
    begin = 0
    for size in sizes:
        out.append(input[begin : begin + size])
        begin += size
    return out


def Slice(
    data: Tensor,
    *,
    starts: List[int],
    ends: List[int],
    axes: Optional[List[int]] = None,
) -> Tensor:
    return _shape_slice(data, starts, ends, axes, None)


def Slice_v10(
    data: Tensor,
    starts: List[int],
    ends: List[int],
    axes: Optional[List[int]],
    steps: Optional[List[int]],
) -> Tensor:
    return _shape_slice(data, starts, ends, axes, steps)


def _shape_slice(
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
        if step > 0:
            out = torch.slice(out, axis, starts[i], ends[i], step)
        else:
            # The elements between are turned round.
            size = out.size(axis)
            start = starts[i] + size if starts[i] < 0 else starts[i]
            end = ends[i] + size if ends[i] < 0 else ends[i]
            start = min(max(start, 0), size - 1)
            end = min(max(end, -1), size - 1)
            out = torch.slice(out, axis, end + 1, start + 1).flip([axis])
            if step < -1:
                out = torch.slice(out, axis, 0, size, -step)
    return out


def Slice__list(
    data: List[int],
    *,
    starts: List[int],
    ends: List[int],
    axes: Optional[List[int]] = None,
) -> List[int]:
    return data[starts[0] : ends[0]]


def Slice_v10__list(
    data: List[int],
    starts: List[int],
    ends: List[int],
    axes: Optional[List[int]],
    steps: Optional[List[int]],
) -> List[int]:
    step = 1 if steps is None else steps[0]
    start = starts[0]
    if step < 0:
        start = max(start, -len(data))
    return data[start : ends[0] : step]


def _shape_squeezed(data: Tensor, axes: Optional[List[int]]) -> Tensor:
    if axes is None:
        out = data.squeeze()
    else:
        out = data.squeeze(axes)
    return out


def Squeeze(data: Tensor, *, axes: Optional[List[int]] = None) -> Tensor:
    return _shape_squeezed(data, axes)


def Squeeze_v13(data: Tensor, axes: Optional[List[int]]) -> Tensor:
    return _shape_squeezed(data, axes)


def _shape_only(data: List[int]) -> int:
    if len(data) != 1:
        raise ValueError("Squeeze: the axis has another size than 1")
    return data[0]


# Without axes a list of more than one element stays one.
def Squeeze__list(data: List[int], *, axes: List[int]) -> int:
    return _shape_only(data)


def Squeeze_v13__list(data: List[int], axes: List[int]) -> int:
    return _shape_only(data)


def _shape_unsqueezed(data: Tensor, axes: List[int]) -> Tensor:
    out = data
    if len(axes) == 1:
        out = data.unsqueeze(axes[0])
    else:
        rank = data.dim() + len(axes)
        for axis in sorted([a + rank if a < 0 else a for a in axes]):
            out = out.unsqueeze(axis)
    return out


def Unsqueeze(data: Tensor, *, axes: List[int]) -> Tensor:
    return _shape_unsqueezed(data, axes)


def Unsqueeze_v13(data: Tensor, axes: List[int]) -> Tensor:
    return _shape_unsqueezed(data, axes)


def Unsqueeze__list(data: int, *, axes: List[int]) -> List[int]:
    if len(axes) != 1:
        raise ValueError("Unsqueeze: a number of a shape becomes a list only")
    return [data]


def Unsqueeze_v13__list(data: int, axes: Tuple[int]) -> List[int]:
    return [data]


def Flatten(input: Tensor, *, axis: int = 1) -> Tensor:
    if axis == 1 and input.dim() > 1:
        out = input.flatten(1)
    else:
        rows = 1
        for size in input.size()[:axis]:
            rows *= size
        columns = 1
        for size in input.size()[axis:]:
            columns *= size
        out = input.reshape([rows, columns])
    return out


def Expand_v8(input: Tensor, shape: List[int]) -> Tensor:
    return input.expand(_shape_broadcast(input.size(), shape))


def _shape_broadcast(sizes: List[int], shape: List[int]) -> List[int]:
    """Sizes that both become; expand() finds those that don't go together."""
    out = shape
    if len(sizes) > len(shape):
        out = sizes[: len(sizes) - len(shape)] + shape
    missing = len(out) - len(sizes)
    if len(sizes) > 0 and 1 in shape:
        out = [
            sizes[i - missing] if i >= missing and out[i] == 1 else out[i]
            for i in range(len(out))
        ]
    return out


def Expand_v8__list(input: List[int], shape: Tuple[int]) -> List[int]:
    return input * shape[0] if len(input) == 1 else input


def Expand_v8__int(input: int, shape: Tuple[int]) -> List[int]:
    return [input] * shape[0]


def Tile(input: Tensor, tiles: int, axis: int) -> Tensor:
    repeats = [1] * input.dim()
    repeats[axis] = tiles
    return input.repeat(repeats)


def Tile_v6(input: Tensor, repeats: List[int]) -> Tensor:
    return input.repeat(repeats)


def Tile_v6__list(input: List[int], repeats: List[int]) -> List[int]:
    return input * repeats[0]


def Pad(
    data: Tensor, *, paddings: List[int], mode: str = "constant", value: float = 0.0
) -> Tensor:
    return _shape_padded(data, paddings, value, None, mode)


def Pad_v2(
    data: Tensor, *, pads: List[int], mode: str = "constant", value: float = 0.0
) -> Tensor:
    return _shape_padded(data, pads, value, None, mode)


def Pad_v11(
    data: Tensor,
    pads: List[int],
    constant_value: Optional[float],
    *,
    mode: str = "constant",
) -> Tensor:
    value = 0.0 if constant_value is None else constant_value
    return _shape_padded(data, pads, value, None, mode)


def Pad_v11__tensor(
    data: Tensor, pads: List[int], constant_value: Tensor, *, mode: str = "constant"
) -> Tensor:
    return _shape_padded_by_tensor(data, pads, constant_value, None, mode)


def Pad_v18(
    data: Tensor,
    pads: List[int],
    constant_value: Optional[float],
    axes: Optional[List[int]],
    *,
    mode: str = "constant",
) -> Tensor:
    value = 0.0 if constant_value is None else constant_value
    return _shape_padded(data, pads, value, axes, mode)


def Pad_v18__tensor(
    data: Tensor,
    pads: List[int],
    constant_value: Tensor,
    axes: Optional[List[int]],
    *,
    mode: str = "constant",
) -> Tensor:
    return _shape_padded_by_tensor(data, pads, constant_value, axes, mode)


def _shape_padded_by_tensor(
    data: Tensor, pads: List[int], value: Tensor, axes: Optional[List[int]], mode: str
) -> Tensor:
    out = _shape_padded(data, pads, 0.0, axes, mode)
    if mode == "constant":
        # The value is not read, so that nothing waits for it.
        inside = _shape_padded(
            torch.ones_like(data, dtype=torch.bool), pads, 0.0, axes, mode
        )
        out = torch.where(inside, out, value.squeeze())
    return out


def _shape_padded(
    data: Tensor, pads: List[int], value: float, axes: Optional[List[int]], mode: str
) -> Tensor:
    """pads are ONNX's: all that stand before axes, then those behind."""
    rank = data.dim()
    around = [0] * (2 * rank)  # PyTorch's: before and behind, the last axis first
    for i in range(len(pads) // 2):
        axis = i if axes is None else axes[i]
        axis = axis + rank if axis < 0 else axis
        around[2 * (rank - 1 - axis)] = pads[i]
        around[2 * (rank - 1 - axis) + 1] = pads[len(pads) // 2 + i]
    if mode == "constant" and data.dtype >= 27:
        # uint16, uint32 and uint64 (27 to 29) have the same bits as int64.
        out = torch.constant_pad_nd(data.to(torch.int64), around, value)
        out = out.to(data.dtype)
    elif mode == "constant":
        out = torch.constant_pad_nd(data, around, value)
    else:
        out = _shape_padded_by_itself(data, around, mode)
    return out


def _shape_padded_by_itself(data: Tensor, around: List[int], mode: str) -> Tensor:
    out = data
    planes = data.dim() == 4 and data.numel() > 0 and around[4:] == [0, 0, 0, 0]
    planes = planes and data.is_floating_point() and min(around) >= 0
    if mode == "reflect":
        small = (
            planes and max(around[:2]) < data.size(3) and max(around[2:]) < data.size(2)
        )
    else:
        small = planes and mode == "edge"
    if small:
        if mode == "reflect":
            out = torch.reflection_pad2d(data, around[:4])
        else:
            out = torch.replication_pad2d(data, around[:4])
    else:
        for axis in range(data.dim()):
            at = 2 * (data.dim() - 1 - axis)
            before, behind = around[at], around[at + 1]
            if before != 0 or behind != 0:
                size = data.size(axis)
                index = torch.arange(-before, size + behind, device=data.device)
                out = out.index_select(axis, _shape_position(index, size, mode))
    return out


def _shape_position(index: Tensor, size: int, mode: str) -> Tensor:
    """Where the elements of a padded axis come from."""
    if mode == "edge":
        out = index.clamp(0, size - 1)
    elif mode == "wrap":
        out = index.remainder(size)
    elif mode == "reflect":
        # There and back again; an axis of one element has only that.
        last = size - 1
        out = last - (index.remainder(max(2 * last, 1)) - last).abs()
    else:
        raise ValueError("Pad: the mode " + mode + " is not supported")
    return out


# Beside a shape, a shape: of as many int64 as it has.
def ConstantOfShape_v9__list(input: Tuple[int], *, value: int) -> List[int]:
    return [value] * input[0]


def ConstantOfShape_v9(
    input: List[int], *, value: Optional[Tensor] = None, on_device: torch.device
) -> Tensor:
    if value is None:
        out = torch.zeros(input, dtype=torch.float32, device=on_device)
    else:
        out = value.squeeze().expand(input)
    return out


# Three numbers are waited for where they are not known, and no kernel runs.
def _shape_range(start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    if start.is_floating_point():
        first = float(start)
        end = float(limit)
        step = float(delta)
        # Nothing where the limit lies on the other side.
        ahead = max(end, first) if step > 0 else min(end, first)
        out = torch.arange(first, ahead, step, dtype=start.dtype, device=start.device)
    else:
        out = _shape_range_of_ints(int(start), int(limit), int(delta), start.device).to(
            start.dtype
        )
    return out


def _shape_range_of_ints(
    start: int, limit: int, delta: int, on_device: torch.device
) -> Tensor:
    ahead = max(limit, start) if delta > 0 else min(limit, start)
    return torch.arange(start, ahead, delta, dtype=torch.int64, device=on_device)


# From a constant to a number, which may be known where a tensor is not.
def _shape_range_to(start: float, limit: Tensor, delta: float) -> Tensor:
    end = float(limit)
    ahead = max(end, start) if delta > 0 else min(end, start)
    return torch.arange(start, ahead, delta, dtype=limit.dtype, device=limit.device)


def Range_v11__limit(start: float, limit: Tensor, delta: float) -> Tensor:
    return _shape_range_to(start, limit, delta)


def Range_v11(start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    return _shape_range(start, limit, delta)


# A tensor: the list may be long, and is seldom a shape.
def Range_v11__ints(
    start: int, limit: int, delta: int, *, on_device: torch.device
) -> Tensor:
    return _shape_range_of_ints(start, limit, delta, on_device)


def Range_v27(
    start: Tensor, limit: Tensor, delta: Tensor, *, stash_type: int = 1
) -> Tensor:
    if stash_type != 1:
        raise ValueError("Range: only 1 is supported as stash_type")
    return _shape_range(start, limit, delta)


def Range_v27__ints(
    start: int, limit: int, delta: int, *, stash_type: int = 1, on_device: torch.device
) -> Tensor:
    return _shape_range_of_ints(start, limit, delta, on_device)


def EyeLike_v9(input: Tensor, *, dtype: Optional[int] = None, k: int = 0) -> Tensor:
    kind = input.dtype if dtype is None else dtype
    return torch.ones(input.size(), dtype=kind, device=input.device).triu(k).tril(k)


def Trilu_v14(input: Tensor, k: Optional[int], *, upper: bool = True) -> Tensor:
    diagonal = 0 if k is None else k
    return input.triu(diagonal) if upper else input.tril(diagonal)


def ReverseSequence_v10(
    input: Tensor, sequence_lens: Tensor, *, batch_axis: int = 1, time_axis: int = 0
) -> Tensor:
    steps = torch.arange(input.size(time_axis), device=input.device)
    lengths = sequence_lens.unsqueeze(time_axis)
    steps = steps.unsqueeze(batch_axis)
    index = torch.where(steps < lengths, lengths - 1 - steps, steps)
    for _ in range(input.dim() - 2):
        index = index.unsqueeze(-1)
    return input.gather(time_axis, index.expand(input.size()))


def OneHot_v9(indices: Tensor, depth: int, values: Tensor, *, axis: int = -1) -> Tensor:
    index = indices.to(torch.int64)
    index = torch.where(index < 0, index + depth, index).unsqueeze(axis)
    places = [1] * index.dim()
    places[axis] = depth
    classes = torch.arange(depth, device=indices.device).reshape(places)
    return torch.where(index == classes, values[1], values[0])
