"""Functions that make nested tensors."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .._tensor.nested_names import jagged
from . import _jagged, _packed
from ._base import as_view, is_nested
from ._jagged import NestedTensor
from ._packed import StridedNested


def _unsupported(layout) -> RuntimeError:
    return RuntimeError(f"Specified layout is unsupported for nested tensors: {layout}")


def nested_tensor(
    tensor_list,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
) -> Tensor:
    """A nested tensor of copies of tensors, or of nested lists of numbers,
    without their history.

    Layout `strided` (the default) takes any sizes, `jagged` those that differ
    in one dimension. TypeError for what is no list, RuntimeError where
    tensors do not fit together.
    """
    layout = _C.strided if layout is None else layout
    if layout is not _C.strided and layout is not jagged:
        raise _unsupported(layout)
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError(
            "Only lists (List[Tensor] and List[List...[Scalar]]) are accepted "
            "in nested_tensor"
        )
    given = [x.detach() if isinstance(x, Tensor) else _C.tensor(x) for x in tensor_list]
    if layout is jagged:
        made = jagged_from_list(given, None, device=device, dtype=dtype)[0]
        made = made.detach() if made.requires_grad else made
    else:
        made = _nested_tensor_from_tensor_list(given, dtype, None, device)
    if pin_memory:
        made = made.pin_memory()
    return made.requires_grad_() if requires_grad else made


def _nested_tensor_from_tensor_list(
    list, dtype=None, layout=None, device=None, pin_memory=None
) -> StridedNested:
    """A nested tensor of copies of tensors, with their history."""
    tensors = [x for x in list]
    for i, (before, x) in enumerate(zip(tensors, tensors[1:]), 1):
        if x.dim() != before.dim():
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same "
                f"dimension. Found dimension {x.dim()} for Tensor at index {i} "
                f"and dimension {before.dim()} for Tensor at index {i - 1}."
            )
    if not tensors:
        options = {"dtype": dtype, "device": device}
        empty = _C.ops.empty(0, **{k: v for k, v in options.items() if v is not None})
        return _packed.join([], empty)
    dtype = tensors[0].dtype if dtype is None else dtype
    device = tensors[0].device if device is None else device
    return _packed.join([x.to(device=device, dtype=dtype) for x in tensors])


def as_nested_tensor(ts, dtype=None, device=None, layout=None) -> Tensor:
    """A nested tensor of tensors, with their history; of a tensor, its rows.

    RuntimeError to change the layout of one, and for tensors with less than
    two dimensions; TypeError for anything else.
    """
    if not isinstance(ts, (list, tuple, Tensor)):
        raise TypeError(
            "as_nested_tensor(): Expected first argument to be a tensor or a "
            "list / tuple of tensors "
        )
    if isinstance(ts, Tensor) and ts.dim() < 2:
        raise RuntimeError(
            "as_nested_tensor(): Expected tensor argument to have dim() > 1"
        )
    if is_nested(ts):
        if ts.layout is not layout:
            raise RuntimeError(
                "as_nested_tensor(): Converting between nested tensor layouts "
                "is not supported"
            )
        return ts.to(device=device or ts.device, dtype=dtype or ts.dtype)
    layout = _C.strided if layout is None else layout
    if layout is _C.strided:
        if isinstance(ts, Tensor):
            ts = ts.to(device=device or ts.device, dtype=dtype or ts.dtype)
            sizes = [tuple(ts.shape[1:])] * ts.shape[0]
            made = _packed.build(ts.reshape(-1), _packed.dense(sizes))
            return as_view(made, ts)
        return _nested_tensor_from_tensor_list(ts, dtype, None, device)
    if layout is not jagged:
        raise _unsupported(layout)
    if not isinstance(ts, Tensor):
        return jagged_from_list(ts, None, device=device, dtype=dtype)[0]
    ts = ts.to(device=device or ts.device, dtype=dtype or ts.dtype)
    count, length = ts.shape[:2]
    offsets = (
        _C.ops.arange(
            0, count * length + 1, length or 1, device=ts.device, dtype=_C.int64
        )
        if length
        else _C.ops.zeros(count + 1, dtype=_C.int64)
    )
    cache = {"min_seqlen": length, "max_seqlen": length}
    made = _jagged.build(ts.flatten(0, 1), offsets, cache=cache)
    return as_view(made, ts)


def jagged_from_list(tensors, offsets, dtype=None, device=None):
    """A jagged tensor of tensors, with their history, and its offsets: those
    given, else new ones. RuntimeError where they do not fit together.
    """
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    for what in ("dtype", "device"):
        if len({getattr(x, what) for x in tensors}) != 1:
            on = "on the same device" if what == "device" else ("have the same dtype")
            raise RuntimeError(
                "When constructing a nested tensor, all tensors in list must "
                + ("be " if what == "device" else "")
                + on
            )
    if len({x.dim() for x in tensors}) != 1:
        raise RuntimeError(
            "When constructing a nested tensor, all tensors in list must have "
            "the same dim"
        )
    if tensors[0].dim() == 0:
        raise RuntimeError(
            "Cannot construct a nested tensor from a list of zero-dim tensors"
        )
    sizes = [tuple(x.shape) for x in tensors]
    ragged = [i for i, each in enumerate(zip(*sizes)) if len(set(each)) > 1]
    if len(ragged) > 1:
        raise RuntimeError(
            "Cannot represent given tensor list as a nested tensor with the "
            "jagged layout. Note that the jagged layout only allows for a "
            "single ragged dimension. "
            "For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim."
        )
    place = ragged[0] if ragged else 0
    dtype = tensors[0].dtype if dtype is None else dtype
    device = tensors[0].device if device is None else device
    values = _C.ops.cat([x.to(device=device, dtype=dtype) for x in tensors], place)
    lengths = [size[place] for size in sizes]
    if offsets is None:
        ends = [0]
        for length in lengths:
            ends.append(ends[-1] + length)
        offsets = _C.tensor(ends, dtype=_C.int64, device=values.device)
    cache = {"min_seqlen": min(lengths), "max_seqlen": max(lengths)}
    made = _jagged.build(values, offsets, None, place + 1, cache)
    return made, offsets


def nested_tensor_from_jagged(
    values,
    offsets=None,
    lengths=None,
    jagged_dim=None,
    min_seqlen=None,
    max_seqlen=None,
) -> NestedTensor:
    """A view of `values`: element i begins at offsets[i] along dimension
    `jagged_dim` - 1 (0), and is as long as lengths[i], else to the next one.

    RuntimeError without both offsets and lengths, ValueError for a jagged
    dimension below 1.
    """
    from ..fx import Proxy

    if isinstance(values, Proxy):
        raise RuntimeError(
            "torch.nested.nested_tensor_from_jagged does not support tracing "
            "with fx.symbolic_trace. Use fx.wrap to wrap the function that "
            "calls nested_tensor_from_jagged."
        )
    if offsets is None:
        if lengths is None:
            raise RuntimeError(
                "nested_tensor_from_jagged(): At least one of offsets or "
                "lengths is required."
            )
        offsets, lengths = _jagged._ends(lengths), None
    place = 1 if jagged_dim is None else jagged_dim
    if place < 1:
        raise ValueError(f"Expected jagged_dim >=1, but got {place}.")
    cache = {"min_seqlen": min_seqlen, "max_seqlen": max_seqlen}
    cache = {k: v for k, v in cache.items() if v is not None}
    made = _jagged.build(values, offsets, lengths, place, cache)
    return as_view(made, values)


def narrow(tensor, dim: int, start, length, layout=None) -> Tensor:
    """The rows start to start + length of each element of a (B, N, ...)
    tensor, as a view with layout `jagged`; of a tensor with layout `strided`
    some of the elements, copied.
    """
    layout = _C.strided if layout is None else layout
    for name, value in (("start", start), ("length", length)):
        if not isinstance(value, (int, Tensor)):
            raise RuntimeError(f"{name} must be an integer or a tensor")
    if layout is _C.strided:
        if isinstance(start, Tensor) or isinstance(length, Tensor):
            raise RuntimeError(
                "start and length must be integers for the strided layout NT impl"
            )
        nested = as_nested_tensor(list(tensor.unbind(0)))
        return nested.narrow(dim, start, length)
    if layout is not jagged:
        raise RuntimeError(
            f"Specified layout is unsupported for nested narrow: {layout}"
        )
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    return _narrowed(tensor, start, length)


def _narrowed(tensor, start, length) -> NestedTensor:
    count, rows = tensor.shape[:2]
    options = {"dtype": _C.int64, "device": tensor.device}
    begins, lengths = (
        x.to(tensor.device)
        if isinstance(x, Tensor)
        else _C.ops.full((count,), x, **options)
        for x in (start, length)
    )
    if any(x.shape not in ((), (1,), (count,)) for x in (begins, lengths)):
        raise RuntimeError(
            "When constructing a jagged nested tensor using narrow(), your "
            "start and length must be Tensors that broadcast to input.shape[0]"
        )
    lengths = lengths.expand(count).contiguous()
    begins = begins + _C.ops.arange(count, **options) * rows
    last = (begins[-1:] + lengths[-1:]) if count else begins.new_zeros(1)
    offsets = _C.ops.cat([begins, last])
    values = tensor.reshape(-1, *tensor.shape[2:])
    ends = (begins + lengths)[:-1]
    if (
        bool((ends == begins[1:]).all())
        and int(offsets[0]) == 0
        and (int(offsets[-1]) == len(values))
    ):
        return _jagged.build(values, offsets)
    return _jagged.build(values, offsets, lengths)


def masked_select(tensor, mask) -> NestedTensor:
    """The elements of a strided tensor where the mask is True, row by row:
    (B, j). RuntimeError for another layout.
    """
    for name, x in (("tensor", tensor), ("mask", mask)):
        if x.layout is not _C.strided:
            given = "given" if name == "tensor" else "given:"
            raise RuntimeError(
                f"torch.nested.masked_select requires a strided {name}, "
                f"{given} {x.layout}"
            )
    values = tensor.masked_select(mask)
    mask = mask.expand(_C.ops.broadcast_tensors([tensor, mask])[0].shape)
    rows = mask.sum(tuple(range(1, mask.dim()))) if mask.dim() > 1 else (mask.long())
    return _jagged.build(values, _jagged._ends(rows))


def to_padded_tensor(input, padding: float, output_size=None) -> Tensor:
    """A nested tensor as one with `padding` behind what is smaller."""
    return input.to_padded_tensor(padding, output_size)


def _nested_tensor_from_mask_left_aligned(t, mask) -> bool:
    """Tells whether the True of each row of the mask (N, L) stand in front."""
    sizes = mask.sum(1)
    places = _C.ops.arange(mask.shape[1], device=mask.device)
    return bool((mask == (places < sizes.unsqueeze(1))).all())


def _nested_tensor_from_mask(t, mask, mask_check: bool = True):
    """The rows of `t` (N, L, D) where `mask` (N, L) is True, which must be
    the first ones of each element: RuntimeError.
    """
    if mask.dtype != _C.bool:
        raise RuntimeError(
            f"Expected mask to be of ScalarType Bool, but got {mask.dtype} instead."
        )
    if mask.dim() != 2:
        raise RuntimeError("Padding mask should be 2D")
    if t.dim() != 3:
        raise RuntimeError("Input should be a 3D tensor, N * L * D")
    if t.shape[:2] != mask.shape:
        raise RuntimeError("Mask size should match input size")
    if mask_check and not _nested_tensor_from_mask_left_aligned(t, mask):
        raise RuntimeError("Mask must be left-aligned without gaps")
    lengths = mask.sum(1).tolist()
    return _packed.join([row[:n] for row, n in zip(t.unbind(0), lengths)], t)


def _nested_from_padded(
    padded, cpu_nested_shape_example, fuse_transform_0213: bool = False
):
    """The upper left parts of the elements of `padded`, in these sizes (B, D).

    With `fuse_transform_0213`, of (B, H, N, D) as (B, N, H, D) with the last
    two in one.
    """
    if fuse_transform_0213:
        padded = padded.permute(0, 2, 1, 3).flatten(2)
    made = []
    for row, size in zip(padded.unbind(0), cpu_nested_shape_example.tolist()):
        made.append(row[tuple(slice(length) for length in size)])
    return _packed.join(made, padded)


def _nested_from_padded_and_nested_example(padded, nt_example):
    """The upper left parts of the elements of `padded` in the example's sizes,
    as `_nested_from_padded`.
    """
    return _nested_from_padded(padded, nt_example._nested_tensor_size())


def _nested_compute_contiguous_strides_offsets(nested_size):
    """Strides of the elements of a nested tensor with these sizes, and where
    each begins, if they lie one behind the other.
    """
    sizes = [tuple(row) for row in nested_size.tolist()]
    places = _packed.dense(sizes)
    table = nested_size.new_tensor([list(s) for s in places.strides])
    return (table.reshape(nested_size.shape), nested_size.new_tensor(places.offsets))


def _nested_view_from_buffer(
    buffer: Tensor, nested_size, nested_strides, offsets
) -> StridedNested:
    """The nested tensor of these sizes, strides and offsets in a buffer, with
    the buffer's history.

    RuntimeError where an element would reach behind the buffer, or the tables
    are not of one length.
    """
    sizes, strides = (
        [tuple(row) for row in table.tolist()]
        for table in (nested_size, nested_strides)
    )
    starts = offsets.tolist()
    if buffer.dim() != 1 or not len(sizes) == len(strides) == len(starts):
        raise RuntimeError(
            "_nested_view_from_buffer: expected a buffer of one dimension, and "
            "a size, strides and an offset of each element"
        )
    for size, stride, start in zip(sizes, strides, starts):
        last = start + sum((n - 1) * s for n, s in zip(size, stride))
        if 0 not in size and not 0 <= start <= last < buffer.numel():
            raise RuntimeError(
                f"_nested_view_from_buffer: an element of size {size} at "
                f"{start} with strides {stride} reaches behind a buffer of "
                f"{buffer.numel()} elements"
            )
    return _packed.build(buffer, _packed.Places(sizes, strides, starts))
