"""Copies, views, parts and joins of nested tensors with the layout jagged."""

from __future__ import annotations

import math

from .. import _C
from .._answering.names import words
from .._answering.table import answers
from .._C import Tensor
from .._dims import check_distinct, moved_dims
from . import _ints
from ._base import JAGGED, is_nested, packed, plain, with_whole
from ._jagged import NestedTensor, build, inner, joined, like, parts, sizes_of, wrap
from ._jagged_pointwise import ragged_part


@answers("detach", "data", "alias", of=JAGGED)
def detach(x):
    """The same elements without history."""
    return with_whole(x, x._values)


@answers("cpu", of=JAGGED)
def cpu(x, *args, **kwargs):
    """On the CPU."""
    return x if x.device.type == "cpu" else x.to("cpu")


@answers("nbytes", of=JAGGED)
def nbytes(x) -> int:
    """The bytes of the elements."""
    return x.numel() * x._values.element_size()


@answers("clone", of=JAGGED)
def clone(x, *, memory_format=_C.preserve_format):
    """A copy; with `contiguous_format` without gaps."""
    if memory_format is _C.contiguous_format:
        if x._lengths is not None:
            return joined(x, [p.contiguous() for p in parts(x)])
        return like(x, packed(x).contiguous().clone())
    return like(x, packed(x).clone(memory_format=memory_format))


@answers("contiguous", of=JAGGED)
def contiguous(x, memory_format=_C.contiguous_format):
    """The tensor itself, or a copy without gaps and with dense rows."""
    if x.is_contiguous():
        return x
    return clone(x, memory_format=_C.contiguous_format)


def _converted(name: str):
    method = getattr(Tensor, name)

    def convert(x, *args, **kwargs):
        given = [a._values if is_nested(a) else a for a in args]
        whole = packed(x)
        found = method(whole, *given, **kwargs)
        if not isinstance(found, Tensor):
            return found
        if found is whole or found is x._values:
            return x
        if found.device == x.device:
            return like(x, found)
        return _moved(x, found)

    convert.__name__ = name
    return convert


def _moved(x, values: Tensor) -> NestedTensor:
    device = values.device
    offsets, lengths = x._offsets.to(device), x._lengths
    if lengths is None:
        _ints.share(x._offsets, offsets)
    else:
        lengths = _ints.share(lengths, lengths.to(device))
    return build(values, offsets, lengths, x._ragged_idx, x._metadata_cache)


for _name in words(
    "to float double half bfloat16 int long short char byte bool cuda "
    "type type_as pin_memory"
):
    JAGGED[_name] = _converted(_name)


@answers("unbind", of=JAGGED)
def unbind(x, dim: int = 0):
    """The elements. RuntimeError where offsets and lengths lead outside."""
    if dim != 0:
        raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
    place = x._ragged_idx - 1
    if place < 0:
        raise RuntimeError(
            f"unbind(): nested tensor ragged_idx out of bounds (should be >= 1,"
            f" got {x._ragged_idx})"
        )
    total = x._values.shape[place]
    for begin, size in zip(plain(x._offsets.tolist), sizes_of(x)):
        if begin + size > total:
            raise RuntimeError(
                "unbind(): nested tensor offsets and lengths do not match "
                "ragged_idx dimension"
            )
    return parts(x)


@answers("__iter__", of=JAGGED)
def iterate(x):
    """Over the elements."""
    return iter(unbind(x))


@answers("select", of=JAGGED)
def select(x, dim: int, index: int):
    """An element, or of each one the part at `index` along `dim`."""
    if wrap(x, dim) == 0:
        return unbind(x)[index]
    place = inner(x, dim, "select")
    ragged = x._ragged_idx - (wrap(x, dim) < x._ragged_idx)
    return like(x, packed(x).select(place, index), ragged)


@answers("slice", of=JAGGED)
def slice_(x, dim: int = 0, start=None, end=None, step: int = 1):
    """Every `step`-th from start to end, along an inner dimension."""
    place = inner(x, dim, "slice")
    index = (slice(None),) * place + (slice(start, end, step),)
    return like(x, packed(x)[index])


@answers("__getitem__", of=JAGGED)
def get_item(x, index):
    """Elements by integers; parts of all of them behind an ellipsis."""
    given = index if isinstance(index, tuple) else (index,)
    result, dim = x, 0
    for i, part in enumerate(given):
        if part is Ellipsis:
            left = [p for p in given[i + 1 :] if p is not None]
            dim = result.dim() - len(left)
        elif part is None:
            result = result.unsqueeze(dim)
            dim += 1
        elif isinstance(part, int) and not isinstance(part, bool):
            result = select(result, dim, part)
            if not is_nested(result):
                rest = tuple(given[i + 1 :])
                return result[rest] if rest else result
        elif isinstance(part, slice):
            result = slice_(result, dim, part.start, part.stop, part.step or 1)
            dim += 1
        else:
            raise NotImplementedError(
                "aten.index.Tensor: nested tensors are not indexed by tensors"
            )
    return result


@answers("narrow", of=JAGGED)
def narrow(x, dim: int, start: int, length: int):
    """The part of a length from start on, along an inner dimension."""
    return like(x, packed(x).narrow(inner(x, dim, "narrow"), start, length))


@answers("chunk", of=JAGGED)
def chunk(x, chunks: int, dim: int = 0):
    """Parts along the first or an inner dimension."""
    place = inner(x, dim, "chunk", batch=True)
    if wrap(x, dim) != 0:
        return tuple(like(x, each) for each in packed(x).chunk(chunks, place))
    if not x.is_contiguous():
        raise ValueError(
            "chunk: expected self to be a contiguous jagged layout NestedTensor"
        )
    count, found = x._size[0], []
    width = -(-count // chunks)
    elements, lengths = parts(x), x._offsets.diff()
    for begin in range(0, count, width or 1):
        some = elements[begin : begin + width]
        ends = lengths[begin : begin + width].cumsum(0)
        offsets = _C.ops.cat([ends.new_zeros(1), ends])
        found.append(build(_C.ops.cat(some, place), offsets))
    return tuple(found)


def _split(name: str):
    def function(x, *args, dim: int = 0, **kwargs):
        if len(args) > 1:
            *args, dim = args
        place = inner(x, dim, _named(name, args))
        found = getattr(packed(x), name)(*args, dim=place, **kwargs)
        return tuple(like(x, each) for each in found)

    function.__name__ = name
    return function


def _named(name: str, args) -> str:
    sizes = name == "split" and args and not isinstance(args[0], int)
    return "split_with_sizes" if sizes else name


for _name in ("split", "split_with_sizes", "tensor_split"):
    JAGGED[_name] = _split(_name)


@answers("transpose", "swapaxes", "swapdims", of=JAGGED)
def transpose(x, dim0: int, dim1: int):
    """Two dimensions exchanged, not the first. ValueError for that."""
    a, b = wrap(x, dim0), wrap(x, dim1)
    if a == b:
        return x
    if 0 in (a, b):
        raise ValueError(
            "Transpose is not supported on the batch dimension for jagged NT"
        )
    ragged = {a: b, b: a}.get(x._ragged_idx, x._ragged_idx)
    return like(x, packed(x).transpose(a - 1, b - 1), ragged)


JAGGED["mT"] = lambda x: transpose(x, -2, -1)
JAGGED["mH"] = JAGGED["adjoint"] = lambda x: transpose(x, -2, -1).conj()


@answers("T", of=JAGGED)
def reversed_dims(x):
    """ValueError: the first dimension stays where it is."""
    return permute(x, *reversed(range(x.dim())))


@answers("permute", of=JAGGED)
def permute(x, *dims):
    """The dimensions in another order, the first where it is."""
    given = dims[0] if isinstance(dims[0], (tuple, list)) else dims
    if len(given) != x.dim():
        raise ValueError(
            "permute(): number of dimensions in the tensor input "
            f"({x.dim()}) does not match the length of the desired ordering "
            f"of dimensions ({len(given)})."
        )
    places = [wrap(x, d) for d in given]
    check_distinct(places, ValueError)
    if places[0] != 0:
        raise ValueError(
            "Permute is not supported on the batch dimension for jagged NT"
        )
    values = packed(x).permute([p - 1 for p in places[1:]])
    return like(x, values, places.index(x._ragged_idx))


@answers("movedim", "moveaxis", of=JAGGED)
def movedim(x, source, destination):
    """Dimensions moved to other places, the first where it is."""
    return permute(x, *moved_dims(source, destination, x.dim()))


@answers("unsqueeze", of=JAGGED)
def unsqueeze(x, dim: int):
    """A dimension of size 1, not the first."""
    place = wrap(x, dim, x.dim() + 1)
    if place == 0:
        raise RuntimeError("unsqueeze(): not supported for NestedTensor on dim=0")
    ragged = x._ragged_idx + (place <= x._ragged_idx)
    return like(x, packed(x).unsqueeze(place - 1), ragged)


@answers("squeeze", of=JAGGED)
def squeeze(x, dim=None):
    """Without an inner dimension of size 1."""
    if dim is None:
        raise NotImplementedError(
            "aten.squeeze.default: say which dimension to squeeze"
        )
    dims = [dim] if isinstance(dim, int) else list(dim)
    for place in sorted({wrap(x, d) for d in dims}, reverse=True):
        where = inner(x, place, "squeeze")
        if x._values.shape[where] == 1:
            ragged = x._ragged_idx - (place < x._ragged_idx)
            x = like(x, packed(x).squeeze(where), ragged)
    return x


@answers("expand", "broadcast_to", "expand_copy", of=JAGGED)
def expand(x, *size, implicit=False):
    """Inner dimensions of size 1 repeated, without a copy."""
    shape = _shape(size)
    if len(shape) != x.dim() or not _fits(x, shape):
        raise RuntimeError(f"expand(): cannot expand shape {x._size} -> {list(shape)}")
    place = x._ragged_idx
    sizes = [-1 if i == place else s for i, s in enumerate(shape)][1:]
    return like(x, packed(x).expand(sizes))


JAGGED["expand_as"] = lambda x, other: expand(x, *other.shape)


def _shape(given: tuple) -> tuple:
    one = len(given) == 1 and isinstance(given[0], (tuple, list))
    return tuple(given[0]) if one else tuple(given)


def _fits(x, shape: tuple) -> bool:
    """Tells whether the sizes up to the ragged one are those of `x`, or -1."""
    end = x._ragged_idx + 1
    ours, theirs = x._size[:end], shape[:end]
    return len(ours) == len(theirs) and all(
        (type(b) is int and b == -1) or a == b for a, b in zip(ours, theirs)
    )


def _viewed(x, given: tuple, method) -> NestedTensor:
    shape = _shape(given)
    if tuple(shape) == x._size:
        return like(x, packed(x))
    if x._ragged_idx != 1:
        raise RuntimeError(
            "view(): does not support ragged_idx != 1 except when inp._size =="
            f" size. inp._size is ({x._size}) and size is ({list(shape)})."
        )
    whole = packed(x)
    count = math.prod(s for s in shape[2:] if s != -1)
    wanted = math.prod(whole.shape[1:])
    free = shape[2:].count(-1)
    if not _fits(x, shape) or (count != wanted and not free):
        raise RuntimeError(f"view(): cannot view shape {x._size} as {list(shape)}")
    return like(x, method(whole, (whole.shape[0], *shape[2:])))


@answers("view", "_unsafe_view", of=JAGGED)
def view(x, *shape):
    """The inner dimensions in another shape, without a copy."""
    if len(shape) == 1 and isinstance(shape[0], _C.dtype):
        return like(x, packed(x).view(shape[0]))
    return _viewed(x, shape, Tensor.view)


@answers("reshape", of=JAGGED)
def reshape(x, *shape):
    """The inner dimensions in another shape."""
    return _viewed(x, shape, Tensor.reshape)


JAGGED["view_as"] = lambda x, other: view(x, *other.shape)
JAGGED["reshape_as"] = lambda x, other: reshape(x, *other.shape)
JAGGED["ravel"] = lambda x: view(x, -1)


@answers("flatten", of=JAGGED)
def flatten(x, start_dim: int = 0, end_dim: int = -1):
    """Inner dimensions in one."""
    start, end = (inner(x, d, "flatten") for d in (start_dim, end_dim))
    if start == end:
        return x
    between = start < x._ragged_idx - 1 < end
    if between:
        raise RuntimeError("flatten(): not supported for NestedTensor on ragged dim")
    ragged = x._ragged_idx
    ragged -= end - start if end < ragged - 1 else 0
    return like(x, packed(x).flatten(start, end), ragged)


@answers("unflatten", of=JAGGED)
def unflatten(x, dim: int, sizes):
    """An inner dimension as several."""
    if wrap(x, dim) == x._ragged_idx or wrap(x, dim) == 0:
        raise RuntimeError(
            "unflatten got an unexpected error:\nview(): cannot view shape "
            f"{x._size} along dimension {dim}"
        )
    place = inner(x, dim, "unflatten")
    before = place < x._ragged_idx - 1
    ragged = x._ragged_idx + (len(sizes) - 1 if before else 0)
    return like(x, packed(x).unflatten(place, sizes), ragged)


@answers("cat", "concat", "concatenate", of=JAGGED)
def cat(tensors, dim: int = 0):
    """Side by side along an inner dimension."""
    first = next(x for x in tensors if is_nested(x))
    place = inner(first, dim, "cat")
    return like(first, _C.ops.cat([_beside(first, x) for x in tensors], place))


@answers("stack", of=JAGGED)
def stack(tensors, dim: int = 0):
    """Side by side along a new inner dimension."""
    first = next(x for x in tensors if is_nested(x))
    place = wrap(first, dim, first.dim() + 1)
    if place == 0:
        raise RuntimeError("stack(): not supported for NestedTensor on dim=0")
    ragged = first._ragged_idx + (place <= first._ragged_idx)
    values = [_beside(first, x) for x in tensors]
    return like(first, _C.ops.stack(values, place - 1), ragged)


def _beside(first: NestedTensor, x: Tensor) -> Tensor:
    if not is_nested(x):
        return x
    if ragged_part(first) != ragged_part(x) and (
        first._values.shape[first._ragged_idx - 1] == x._values.shape[x._ragged_idx - 1]
    ):
        raise RuntimeError(
            "cat(): expected nested tensors of the same ragged structure, got "
            f"shapes {first._size} and {x._size}"
        )
    return packed(x)


@answers("resolve_conj", "resolve_neg", of=JAGGED)
def resolved(x):
    """The tensor itself: its numbers are as they are."""
    return x


@answers("real", of=JAGGED)
def real(x):
    """The real parts; the tensor itself, if its numbers are real."""
    return like(x, packed(x).real) if x.is_complex() else x


@answers("broadcast_tensors", of=JAGGED)
def broadcast_tensors(*tensors):
    """Nested tensors of one shape, as they are."""
    first = tensors[0]
    for x in tensors:
        if not isinstance(x, NestedTensor) or x._size != first._size:
            raise RuntimeError("broadcast_tensors: nested tensors are of one shape")
    return list(tensors)


@answers("is_shared", of=JAGGED)
def is_shared(x) -> bool:
    """Tells whether other processes can see values and offsets."""
    return x._values.is_shared() and x._offsets.is_shared()


@answers("share_memory_", of=JAGGED)
def share_memory_(x):
    """Moves values, offsets and lengths to shared memory."""
    for part in (x._values, x._offsets, x._lengths):
        if part is not None:
            part.share_memory_()
    return x
