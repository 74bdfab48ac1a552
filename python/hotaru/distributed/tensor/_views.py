"""Ways of operators that only move elements, or leave some out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..._C import Tensor, dtype
from ._call import Call, R, Way, all_replicated, composed, rule
from ._plan import plain
from ._pointwise import along, wrap_dim
from .placement_types import Partial, Shard

_SUMS = tuple(map(Partial, ("sum", "avg", "max", "min")))


def _passing(call: Call) -> list[Way]:
    """Ways by which every reduction of the ranks passes through."""
    return [Way(p, (p,) * len(call.places)) for p in _SUMS]


def _mapped(mapping: Callable[[Call], Sequence[int | None] | None]) -> Callable:
    """Ways by the dimension that each one of the result's was."""

    def ways(call: Call) -> list[Way]:
        found = mapping(call)
        if found is None:
            return [all_replicated(call)]
        return [
            all_replicated(call),
            *(
                Way(Shard(to), (Shard(dim),))
                for to, dim in enumerate(found)
                if dim is not None
            ),
            *_passing(call),
        ]

    return ways


def _ints(call: Call, place: int, name: str) -> list[int]:
    """Dimensions, given as a list or one by one."""
    value = call.get(place, name)
    if isinstance(value, (tuple, list)):
        return list(value)
    return [value, *call.args[place + 1 :]]


def _ndim(call: Call) -> int:
    return len(call.shapes[0])


def _permuted(call: Call) -> list[int]:
    return [wrap_dim(d, _ndim(call)) for d in _ints(call, 1, "dims")]


def _transposed(call: Call) -> list[int]:
    order = list(range(_ndim(call)))
    first = call.get(1, "dim0", call.kwargs.get("axis0"))
    second = call.get(2, "dim1", call.kwargs.get("axis1"))
    a, b = wrap_dim(first, len(order)), wrap_dim(second, len(order))
    if order:
        order[a], order[b] = order[b], order[a]
    return order


def _moved(call: Call) -> list[int]:
    def dims(value):
        value = value if isinstance(value, (tuple, list)) else (value,)
        return [wrap_dim(d, _ndim(call)) for d in value]

    source = dims(call.get(1, "source"))
    target = dims(call.get(2, "destination"))
    rest = iter(d for d in range(_ndim(call)) if d not in source)
    given = dict(zip(target, source))
    return [given[d] if d in given else next(rest) for d in range(_ndim(call))]


def _unsqueezed(call: Call) -> list[int | None]:
    order: list[int | None] = list(range(_ndim(call)))
    order.insert(wrap_dim(call.get(1, "dim"), _ndim(call) + 1), None)
    return order


def _squeezed(call: Call) -> list[int]:
    shape = call.shapes[0]
    dims = call.get(1, "dim")
    if dims is None:
        gone = [d for d, size in enumerate(shape) if size == 1]
    else:
        dims = dims if isinstance(dims, (tuple, list)) else (dims,)
        gone = [wrap_dim(d, len(shape)) for d in dims]
    return [d for d in range(len(shape)) if d not in gone or shape[d] != 1]


def _squeeze_part(call: Call, parts: list):
    """Squeezes a part, which may have one place where the whole has more."""
    kept = _squeezed(call)
    return parts[0].squeeze(tuple(d for d in range(_ndim(call)) if d not in kept))


rule("permute", _mapped(_permuted))
rule("transpose swapaxes swapdims", _mapped(_transposed))
rule("t", _mapped(lambda call: list(reversed(range(_ndim(call))))))
rule("movedim moveaxis", _mapped(_moved))
rule("unsqueeze", _mapped(_unsqueezed))
rule("squeeze", _mapped(_squeezed), _squeeze_part)


# Other shapes.


def groups(
    source: Sequence[int], target: Sequence[int]
) -> list[tuple[list[int], list[int]]]:
    """Runs of dimensions that hold the same elements in both shapes."""
    found, i, j = [], 0, 0
    while i < len(source) or j < len(target):
        a, b = [], []
        left, right = 1, 1
        if i < len(source):
            a.append(i)
            left, i = source[i], i + 1
        if j < len(target):
            b.append(j)
            right, j = target[j], j + 1
        while left != right:
            if left < right and i < len(source):
                a.append(i)
                left, i = left * source[i], i + 1
            elif j < len(target):
                b.append(j)
                right, j = right * target[j], j + 1
            else:
                a.append(i)
                left, i = left * source[i], i + 1
        found.append((a, b))
    return found


def target_shape(call: Call) -> list[int]:
    """The shape that is asked for, with what -1 stands for."""
    name = "shape" if call.name == "reshape" else "size"
    shape = [int(size) for size in _ints(call, 1, name)]
    if -1 in shape:
        rest = math.prod(size for size in shape if size != -1)
        count = math.prod(call.shapes[0])
        shape[shape.index(-1)] = count // rest if rest else 0
    return shape


def _first(dims: list[int], shape: Sequence[int]) -> int | None:
    return next((d for d in dims if shape[d] != 1), dims[0] if dims else None)


def _pairs(call: Call) -> list[tuple[int, int, bool]]:
    """A dimension of the argument, one of the result of which parts are parts
    of the first, and whether the two are the same.
    """
    source, target = call.shapes[0], target_shape(call)
    if math.prod(source) != math.prod(target) or 0 in source:
        return []
    found = []
    for a, b in groups(source, target):
        i, j = _first(a, source), _first(b, target)
        if i is not None and j is not None:
            found.append((i, j, source[i] == target[j]))
    return found


def _viewed_dtype(call: Call) -> dtype | None:
    """The dtype that the elements are to be looked at as."""
    found = call.get(1, "size", call.kwargs.get("dtype"))
    return found if isinstance(found, dtype) else None


def _as_dtype(call: Call, kind: dtype) -> list[Way]:
    """The last dimension grows or shrinks where elements are of another size:
    it is not cut then.
    """
    same = kind.itemsize == call.tensors[0].dtype.itemsize
    return [
        all_replicated(call),
        *(
            Way(Shard(d), (Shard(d),))
            for d in range(_ndim(call) if same else _ndim(call) - 1)
        ),
    ]


def _viewed(call: Call) -> list[Way]:
    kind = _viewed_dtype(call)
    if kind is not None:
        return _as_dtype(call, kind)
    if not isinstance(
        call.get(1, "size", call.kwargs.get("shape")), (int, tuple, list)
    ):
        return [all_replicated(call)]
    source, target = call.shapes[0], target_shape(call)
    placements = call.tensors[0]._spec.placements
    mesh = call.tensors[0]._spec.mesh
    ways = [all_replicated(call), *_passing(call)]
    for i, j, same in _pairs(call):
        count = math.prod(
            mesh.size(d) for d, p in enumerate(placements) if p == Shard(i)
        )
        count = max(count, call.mesh_size)
        if same or not (source[i] % count or target[j] % count):
            ways.append(Way(Shard(j), (Shard(i),)))
    return ways


def _view_part(call: Call, parts: list):
    if len(call.tensors) != 1 or _viewed_dtype(call) or not _pairs(call):
        given, named = call.with_tensors(parts)
        return plain(call.function, *given, **named)
    source, shape = call.shapes[0], target_shape(call)
    for i, j, _ in _pairs(call):
        if parts[0].size(i) != source[i]:
            shape[j] = shape[j] * parts[0].size(i) // source[i]
    return parts[0].view(shape) if call.name == "view" else (parts[0].reshape(shape))


rule("view reshape _unsafe_view", _viewed, _view_part)


@composed("view_as reshape_as")
def view_as(call: Call):
    """By the other's shape."""
    return call.tensors[0].reshape(call.tensors[1].shape)


@composed("flatten ravel")
def flatten(call: Call):
    """By `reshape`."""
    x = call.tensors[0]
    if x.dim() == 0:
        return x.reshape(1)
    start = wrap_dim(call.get(1, "start_dim", 0), x.dim())
    end = wrap_dim(call.get(2, "end_dim", -1), x.dim())
    middle = math.prod(x.shape[start : end + 1])
    return x.reshape([*x.shape[:start], middle, *x.shape[end + 1 :]])


@composed("unflatten")
def unflatten(call: Call):
    """By `reshape`."""
    x, sizes = call.tensors[0], list(call.get(2, "sizes"))
    dim = wrap_dim(call.get(1, "dim"), x.dim())
    if -1 in sizes:
        rest = math.prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = x.size(dim) // max(rest, 1)
    return x.reshape([*x.shape[:dim], *sizes, *x.shape[dim + 1 :]])


def _expanded(call: Call) -> list[Way]:
    size = [int(s) for s in _ints(call, 1, "size")]
    new = len(size) - _ndim(call)
    shape = call.shapes[0]
    return [
        all_replicated(call),
        *(
            Way(Shard(d + new), (Shard(d),))
            for d in range(_ndim(call))
            if size[d + new] in (-1, shape[d])
        ),
        *_passing(call),
    ]


def _expand_part(call: Call, parts: list):
    size, shape = [int(s) for s in _ints(call, 1, "size")], call.shapes[0]
    new = len(size) - len(shape)
    for d, length in enumerate(shape):
        if size[d + new] == length:
            size[d + new] = -1
    return parts[0].expand(size)


rule("expand broadcast_to", _expanded, _expand_part)


@composed("expand_as")
def expand_as(call: Call):
    """By the other's shape."""
    return call.tensors[0].expand(call.tensors[1].shape)


# Parts of a tensor, and tensors put together.


def _one_dim(place: int, default: int | None = None) -> Callable:
    def ways(call: Call) -> list[Way]:
        dim = call.get(place, "dim", default)
        if not isinstance(dim, int) or len(call.places) > 1:
            return [all_replicated(call)]
        return along(call, dim) + _passing(call)

    return ways


def _selected(call: Call) -> list[Way]:
    gone = wrap_dim(call.get(1, "dim", 0), _ndim(call))
    return _without(call, gone)


def _without(call: Call, gone: int) -> list[Way]:
    return [
        all_replicated(call),
        *(
            Way(Shard(d - (d > gone)), (Shard(d),))
            for d in range(_ndim(call))
            if d != gone
        ),
        *_passing(call),
    ]


def _indexed(call: Call) -> list[Way]:
    dim = wrap_dim(call.get(1, "dim"), _ndim(call))
    rest = (R,) * (len(call.places) - 1)
    return [
        all_replicated(call),
        *(Way(Shard(d), (Shard(d), *rest)) for d in range(_ndim(call)) if d != dim),
    ]


rule("narrow slice", _one_dim(1))
rule("split chunk split_with_sizes tensor_split unsafe_chunk", _one_dim(2, 0))
rule("select", _selected)
rule("unbind", _selected)
rule("index_select", _indexed)


def _joined(call: Call) -> list[Way]:
    dim = wrap_dim(call.get(1, "dim", 0), _ndim(call))
    count = len(call.places)
    return [
        all_replicated(call),
        *(Way(Shard(d), (Shard(d),) * count) for d in range(_ndim(call)) if d != dim),
        *_passing(call),
    ]


def _stacked(call: Call) -> list[Way]:
    dim = wrap_dim(call.get(1, "dim", 0), _ndim(call) + 1)
    count = len(call.places)
    return [
        all_replicated(call),
        *(Way(Shard(d + (d >= dim)), (Shard(d),) * count) for d in range(_ndim(call))),
        *_passing(call),
    ]


rule("cat concat concatenate", _joined)
rule("stack", _stacked)


def _got(call: Call) -> list[Way]:
    """Dimensions that an index of numbers, slices and None leaves whole."""
    index = call.args[1]
    index = list(index) if isinstance(index, tuple) else [index]
    if any(isinstance(i, (Tensor, list, bool)) for i in index):
        return [all_replicated(call)]
    known = sum(i is not None and i is not Ellipsis for i in index)
    if Ellipsis not in index:
        index.append(Ellipsis)
    at = index.index(Ellipsis)
    index[at : at + 1] = [slice(None)] * (_ndim(call) - known)
    ways, dim, to = [all_replicated(call), *_passing(call)], 0, 0
    for i in index:
        if i is None:
            to += 1
            continue
        if isinstance(i, slice):
            if i == slice(None):
                ways.append(Way(Shard(to), (Shard(dim),)))
            to += 1
        dim += 1
    return ways


rule("__getitem__", _got)
