"""Views, copies and joins that PyTorch makes of others."""

from __future__ import annotations

from math import prod

from ... import _C
from ..._C import Tensor
from ..stack import native
from .table import end, o, part, refused, whole


def view_strides(x: Tensor, shape: list[int]) -> bool:
    """Tells whether a view of the tensor has this shape."""
    if x.numel() == 0:
        return True
    if x.dim() == 0:
        return all(n == 1 for n in shape)
    sizes, strides = list(x.shape), list(x.stride())
    place = len(shape) - 1
    chunk, base = 1, strides[-1] if strides else 1
    for i in reversed(range(len(sizes))):
        chunk *= sizes[i]
        last = i == 0 or (sizes[i - 1] != 1 and strides[i - 1] != chunk * base)
        if not last:
            continue
        taken = 1
        while place >= 0 and (taken < chunk or shape[place] == 1):
            taken *= shape[place]
            place -= 1
        if taken != chunk:
            return False
        if i > 0:
            chunk, base = 1, strides[i - 1]
    return place == -1


def common_shape(*shapes) -> list[int]:
    """The shape that all broadcast to; RuntimeError where there is none."""
    count = max(map(len, shapes), default=0)
    found = [1] * count
    for shape in shapes:
        for i, size in enumerate(shape, count - len(shape)):
            if size != 1 and found[i] not in (1, size):
                raise RuntimeError(
                    "The size of tensor a must match the size of tensor b at "
                    f"dimension {i}: {found[i]} and {size}"
                )
            found[i] = size if found[i] == 1 else found[i]
    return found


def whole_shape(x: Tensor, shape) -> list[int]:
    """The shape with the size in place of -1."""
    shape = [shape] if isinstance(shape, int) else list(shape)
    if -1 in shape:
        rest = prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = x.numel() // rest if rest else 0
    return shape


def reshape(x: Tensor, shape) -> Tensor:
    """A view if there is one, else one of a copy."""
    wanted = whole_shape(x, shape)
    if view_strides(x, wanted):
        return o.view(x, wanted)
    copy = o.clone(x, memory_format=_C.contiguous_format)
    return o._unsafe_view(copy, wanted)


@part("reshape")
def _reshape(self, shape):
    wanted = whole_shape(self, shape)
    if prod(wanted) != self.numel():  # the error of any tensor
        return refused("reshape", self, shape)
    return reshape(self, shape)


part("reshape_as")(lambda self, other: reshape(self, other.shape))
part("view_as")(lambda self, other: o.view(self, list(other.shape)))
part("expand_as")(lambda self, other: o.expand(self, list(other.shape)))
part("broadcast_to")(lambda self, size: o.expand(self, list(size)))


@part("ravel")
def _ravel(self):
    if not self.is_contiguous():
        self = o.clone(self, memory_format=_C.contiguous_format)
    return o.view(self, [-1])


@part("flatten.using_ints")
def flatten(self, start_dim=0, end_dim=-1):
    """Dimensions from one to another as one."""
    count = self.dim()
    if count == 0:
        return reshape(self, [1])
    start, last = start_dim % count, end_dim % count
    if start == last:
        return self
    shape = list(self.shape)
    shape[start : last + 1] = [prod(shape[start : last + 1])]
    return reshape(self, shape)


@part("unflatten.int")
def _unflatten(self, dim, sizes):
    dim %= self.dim()
    sizes = list(sizes)
    if -1 in sizes:
        rest = prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = self.shape[dim] // rest
    shape = list(self.shape)
    shape[dim : dim + 1] = sizes
    return o.view(self, shape)


@part("contiguous")
def _contiguous(self, *, memory_format=_C.contiguous_format):
    return o.clone(self, memory_format=memory_format)


@part("broadcast_tensors")
def broadcast(tensors):
    """Tensors of one shape; those that have it are what they are."""
    shape = common_shape(*(t.shape for t in tensors))
    return tuple(t if list(t.shape) == shape else o.expand(t, shape) for t in tensors)


@part("tile")
def _tile(self, dims):
    dims = [dims] if isinstance(dims, int) else list(dims)
    return o.repeat(self, [1] * (self.dim() - len(dims)) + dims)


@part("movedim", "movedim.intlist", "movedim.int")
def _movedim(self, source, destination):
    source = [source] if isinstance(source, int) else source
    destination = [destination] if isinstance(destination, int) else destination
    count = self.dim()
    order: list = [None] * count
    taken = {d % count: s % count for s, d in zip(source, destination)}
    rest = iter(i for i in range(count) if i not in taken.values())
    for i in range(count):
        order[i] = taken[i] if i in taken else next(rest)
    return o.permute(self, order)


def adjoint(self):
    """The last two dimensions exchanged, and conjugated."""
    turned = o("transpose.int", self, -2, -1)
    return o._conj(turned) if self.is_complex() else turned


part("adjoint", "mH")(adjoint)


@part("matrix_H")
def _matrix_h(self):
    turned = o("transpose.int", self, 0, 1) if self.dim() == 2 else self
    return o._conj(turned) if self.is_complex() else turned


part("real")(lambda self: o("select.int", o.view_as_real(self), -1, 0))
part("imag")(lambda self: o("select.int", o.view_as_real(self), -1, 1))
part("fliplr")(lambda self: o.flip(self, [1]))
part("flipud")(lambda self: o.flip(self, [0]))


@part("squeeze_.dims")
def _squeeze_(self, dim):
    if isinstance(dim, int):
        return o("squeeze_.dim", self, dim)
    if len(dim) == 1:  # sizes of all kinds come as lists
        return o("squeeze_.dim", self, dim[0])
    return whole("squeeze_.dims", self, dim)


# --- other dtypes and devices ---


def _copied(self, memory_format=None, non_blocking=False, **options):
    if memory_format is not None:
        options["memory_format"] = memory_format
    if non_blocking:
        options["non_blocking"] = True
    return o._to_copy(self, **options)


@part("to.dtype")
def _to_dtype(self, dtype, non_blocking=False, copy=False, memory_format=None):
    return _copied(self, memory_format, non_blocking, dtype=dtype)


@part("to.prim_dtype")
def _to_prim_dtype(self, dtype=None, non_blocking=False, copy=False):
    given = {"dtype": self.dtype if dtype is None else dtype}
    return _copied(self, None, non_blocking, **given)


def _all(self, device, dtype, layout=None) -> dict:
    return {
        "dtype": self.dtype if dtype is None else dtype,
        "layout": layout or self.layout,
        "device": self.device if device is None else device,
    }


@part("to.prim_Device")
def _to_device(self, device, dtype=None, non_blocking=False, copy=False):
    given = _all(self, device, dtype)
    if dtype is not None:
        del given["layout"]
    return _copied(self, None, non_blocking, **given)


@part("to.device")
def _to_both(self, device, dtype, non_blocking=False, copy=False, memory_format=None):
    given = {"dtype": dtype, "device": device}
    return _copied(self, memory_format, non_blocking, **given)


@part("to.other")
def _to_other(self, other, non_blocking=False, copy=False, memory_format=None):
    given = {"dtype": other.dtype, "device": other.device}
    return _copied(self, memory_format, non_blocking, **given)


@part("to.dtype_layout")
def _to_options(
    self,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    non_blocking=False,
    copy=False,
    memory_format=None,
):
    if device is None and layout is None and dtype is not None:
        given = {"dtype": dtype}
    else:
        given = _all(self, device, dtype, layout)
        if device is not None and dtype is not None:
            del given["layout"]
    return _copied(self, memory_format, non_blocking, **given)


@part("type_as")
def _type_as(self, other):
    return _copied(self, **_all(other, None, None))


# --- pieces of a tensor ---


def cut(self, dim, start, end):
    """Elements from one place to another."""
    return o("slice.Tensor", self, dim, start, end)


@part("narrow")
def narrow(self, dim, start, length):
    """Elements from a place on."""
    if isinstance(start, Tensor):
        start = int(o._local_scalar_dense(start))
    size = self.shape[dim]
    if not -size <= start <= size or start % (size or 1) + length > size:
        return refused("narrow", self, dim, start, length)
    start = start + size if start < 0 else start
    return cut(self, dim, start, start + length)


part("narrow.Tensor")(narrow)


@part("split.sizes")
def _split_sizes(self, split_size, dim=0):
    return o.split_with_sizes(self, split_size, dim)


def _chunked(name: str):
    def chunk(self, chunks, dim=0):
        size = self.shape[dim]
        step = -(-size // chunks)
        if step == 0 and size == 0:
            sizes = [0] * chunks
            return o(f"{name}_with_sizes", self, sizes, dim)
        return o(f"{name}.Tensor", self, step, dim)

    return chunk


part("chunk")(_chunked("split"))
part("unsafe_chunk")(_chunked("unsafe_split"))


def _at_places(self, places, dim):
    ends = [*places, self.shape[dim]]
    return tuple(cut(self, dim, start, stop) for start, stop in zip([0, *places], ends))


def _in_sections(self, sections, dim):
    least, more = divmod(self.shape[dim], sections)
    found, start = [], 0
    for i in range(sections):
        stop = start + least + (i < more)
        found.append(cut(self, dim, start, stop))
        start = stop
    return tuple(found)


@part("tensor_split", "tensor_split.sections", "tensor_split.indices")
def tensor_split(self, indices_or_sections, dim=0):
    """Pieces at places, or so many."""
    dim %= self.dim()
    given = indices_or_sections
    if isinstance(given, int):
        return _in_sections(self, given, dim)
    return _at_places(self, list(given), dim)


@part("tensor_split.tensor_indices_or_sections")
def _tensor_split(self, tensor_indices_or_sections, dim=0):
    given = tensor_indices_or_sections
    if given.dim() == 0:
        return tensor_split(self, int(o._local_scalar_dense(given)), dim)
    return _at_places(self, native(Tensor.tolist, (given,), {}), dim)


def _split_along(place: int):
    def split(self, given):
        dim = 0 if place == 1 and self.dim() == 1 else place
        return tensor_split(self, given, dim)

    return split


for _name, _place in (("vsplit", 0), ("hsplit", 1), ("dsplit", 2)):
    part(f"{_name}.int", f"{_name}.array")(_split_along(_place))


# --- joined tensors ---


@part("atleast_1d")
def atleast_1d(self):
    """One of one dimension at least."""
    return reshape(self, [1]) if self.dim() == 0 else self


@part("atleast_2d")
def atleast_2d(self):
    """One of two dimensions at least."""
    if self.dim() == 0:
        return reshape(self, [1, 1])
    return o.unsqueeze(self, 0) if self.dim() == 1 else self


@part("atleast_3d")
def atleast_3d(self):
    """One of three dimensions at least."""
    if self.dim() == 0:
        return reshape(self, [1, 1, 1])
    if self.dim() == 1:
        return o.unsqueeze(o.unsqueeze(self, 0), -1)
    return o.unsqueeze(self, -1) if self.dim() == 2 else self


@part("vstack")
def _vstack(tensors, *, out=None):
    return end("cat", [atleast_2d(t) for t in tensors], out=out)


@part("hstack")
def _hstack(tensors, *, out=None):
    tensors = [atleast_1d(t) for t in tensors]
    dim = 0 if tensors and tensors[0].dim() == 1 else 1
    return end("cat", tensors, dim, out=out)


@part("dstack")
def _dstack(tensors, *, out=None):
    return end("cat", [atleast_3d(t) for t in tensors], 2, out=out)


@part("column_stack")
def _column_stack(tensors, *, out=None):
    tensors = [t if t.dim() > 1 else reshape(t, [t.numel(), 1]) for t in tensors]
    return end("cat", tensors, 1, out=out)


def _meshed(tensors, indexing="ij"):
    turned = indexing == "xy" and len(tensors) > 1
    if turned:
        tensors = [tensors[1], tensors[0], *tensors[2:]]
    shape = [t.numel() for t in tensors]
    found = []
    for i, t in enumerate(tensors):
        ones = [1] * len(tensors)
        ones[i] = -1
        found.append(o.expand(o.view(t, ones), shape))
    if turned:
        found = [o("transpose.int", t, 0, 1) for t in found]
        found[:2] = found[1], found[0]
    return tuple(found)


part("meshgrid.indexing")(lambda tensors, *, indexing: _meshed(tensors, indexing))
part("meshgrid")(lambda tensors: _meshed(tensors))


@part("cartesian_prod")
def _cartesian_prod(tensors):
    if len(tensors) == 1:
        return tensors[0]
    return o.stack([flatten(t) for t in _meshed(tensors)], 1)


@part("combinations")
def _combinations(self, r=2, with_replacement=False):
    if r == 0:
        return _C.ops.empty((0,), dtype=self.dtype, device=self.device)
    grids = _meshed([self] * r)
    count = self.numel()
    options = {"layout": _C.strided, "device": self.device}
    places = o.arange(count, dtype=_C.int64, **options)
    places = _meshed([places] * r)
    mask = o.full(list(grids[0].shape), True, dtype=_C.bool, **options)
    compare = "le.Tensor" if with_replacement else "lt.Tensor"
    for a, b in zip(places, places[1:]):
        mask = o("bitwise_and_.Tensor", mask, o(compare, a, b))
    return o.stack([o.masked_select(g, mask) for g in grids], 1)


# --- diagonals ---


@part("diag")
def _diag(self, diagonal=0, *, out=None):
    name = "diag_embed" if self.dim() == 1 else "diagonal_copy"
    return end(name, self, diagonal, out=out)


@part("diagflat")
def _diagflat(self, offset=0):
    return o.diag_embed(reshape(self, [-1]), offset)


@part("linalg_diagonal")
def _linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return o.diagonal(A, offset, dim1, dim2)


# --- repetition and places ---


@part("repeat_interleave.self_int")
def _repeat_interleave(self, repeats, dim=None, *, output_size=None):
    x, d = (flatten(self), 0) if dim is None else (self, dim % self.dim())
    if dim is None and self.dim() == 1:
        x = o.view(self, [-1])
    shape = list(x.shape)
    x = o.unsqueeze(x, d + 1)
    wide = list(x.shape)
    wide[d + 1] = repeats
    x = o.clone(o.expand(x, wide), memory_format=_C.contiguous_format)
    shape[d] *= repeats
    return o.view(x, shape)


@part("repeat_interleave.self_Tensor")
def _repeat_by(self, repeats, dim=None, *, output_size=None):
    x, d = (flatten(self), 0) if dim is None else (self, dim)
    count = x.shape[d]
    if repeats.dim() == 0 or repeats.shape[0] == 1:
        repeats = o.expand(reshape(repeats, [1]), [count])
    options = {} if output_size is None else {"output_size": output_size}
    places = o("repeat_interleave.Tensor", repeats, **options)
    return o.index_select(x, d, places)


@part("take_along_dim")
def _take_along_dim(self, indices, dim=None, *, out=None):
    if dim is None:
        return end("gather", o.view(self, [-1]), 0, o.view(indices, [-1]), out=out)
    dim %= self.dim()
    shape = list(self.shape)
    shape[dim] = 1
    other = list(indices.shape)
    other[dim] = 1
    both = common_shape(shape, other)
    mine, theirs = list(both), list(both)
    mine[dim], theirs[dim] = self.shape[dim], indices.shape[dim]
    x, places = o.expand(self, mine), o.expand(indices, theirs)
    places = o("remainder.Scalar", places, self.shape[dim])
    return end("gather", x, dim, places, out=out)


@part("sum_to_size")
def _sum_to_size(self, size):
    size = [size] if isinstance(size, int) else list(size)
    if not size:
        return o.sum(self)
    leading = self.dim() - len(size)
    dims = list(range(leading)) + [
        i
        for i in range(leading, self.dim())
        if size[i - leading] == 1 and self.shape[i] != 1
    ]
    x = o("sum.dim_IntList", self, dims, True) if dims else self
    return o.view(x, size) if leading > 0 else x


@part("argwhere")
def _argwhere(self):
    return o.nonzero(self)


@part("nonzero_numpy")
def _nonzero_numpy(self):
    x = o.unsqueeze(self, 0) if self.dim() == 0 else self
    return o("unbind.int", o.nonzero(x), 1)


def _shifted(whole: bool):
    def shift(self, dim=None):
        dims = list(range(self.dim())) if dim is None else list(dim)
        steps = [
            (self.shape[d] + 1) // 2 if whole else self.shape[d] // 2 for d in dims
        ]
        return o.roll(self, steps, dims)

    return shift


part("fft_fftshift")(_shifted(False))
part("fft_ifftshift")(_shifted(True))
