"""Copies, views, parts and joins of nested tensors of the layout strided."""

from __future__ import annotations

import math

from .. import _C
from .._answering.names import words
from .._answering.table import answers
from .._C import Tensor
from ..autograd import Function
from . import _packed
from ._base import STRIDED, around, is_nested, packed, with_whole, write
from ._packed import Places, StridedNested, build, dense, join, parts, wrap


@answers("detach", "data", "alias", of=STRIDED)
def detach(x):
    """The same elements without history."""
    return with_whole(x, x._buffer)


@answers("conj", "conj_physical", of=STRIDED)
def conj(x):
    """The conjugates; the tensor itself, if its numbers are real."""
    return with_whole(x, x._buffer.conj()) if x.is_complex() else x


@answers("real", of=STRIDED)
def real(x):
    """The real parts; the tensor itself, if its numbers are real."""
    return with_whole(x, x._buffer.real.contiguous()) if x.is_complex() else x


@answers("imag", of=STRIDED)
def imag(x):
    """The imaginary parts; RuntimeError of a real tensor."""
    return with_whole(x, x._buffer.imag.contiguous())


@answers("resolve_conj", "resolve_neg", "cpu", "positive", of=STRIDED)
def same(x, *args, **kwargs):
    """The tensor itself."""
    return x


@answers("is_shared", of=STRIDED)
def is_shared(x) -> bool:
    """Tells whether other processes can see the elements."""
    return x._buffer.is_shared()


@answers("share_memory_", of=STRIDED)
def share_memory_(x):
    """Moves the elements to shared memory."""
    x._buffer.share_memory_()
    return x


@answers("nbytes", of=STRIDED)
def nbytes(x) -> int:
    """The bytes of the elements."""
    return x.numel() * x._buffer.element_size()


@answers("clone", of=STRIDED)
def clone(x, *, memory_format=_C.preserve_format):
    """A copy; with `contiguous_format` one element behind the other."""
    if memory_format is _C.contiguous_format:
        return join([part.contiguous() for part in parts(x)], x)
    if memory_format is not _C.preserve_format:
        name = "".join(w.title() for w in str(memory_format).split(".")[-1].split("_"))
        raise RuntimeError(
            "Nested tensor clone supports Preserve and Contiguous memory "
            f"formats, called clone with memory format: {name}"
        )
    return around(x, packed(x).clone())


@answers("contiguous", of=STRIDED)
def contiguous(x, memory_format=_C.contiguous_format):
    """The tensor itself, or a contiguous copy."""
    return x if x.is_contiguous() else join(parts(x), x)


def _converted(name: str):
    method = getattr(Tensor, name)

    def convert(x, *args, **kwargs):
        kwargs.pop("memory_format", None)
        args = [a._buffer if is_nested(a) else a for a in args]
        whole = packed(x)
        found = method(whole, *args, **kwargs)
        if not isinstance(found, Tensor):
            return found
        unchanged = found is whole or found is x._buffer
        return x if unchanged else around(x, found)

    convert.__name__ = name
    return convert


for _name in words(
    "to float double half bfloat16 int long short char byte bool cuda "
    "type type_as pin_memory"
):
    STRIDED[_name] = _converted(_name)


@answers("copy_", of=STRIDED)
def copy_(x, source, non_blocking=False):
    """The elements of a nested tensor of the same sizes."""
    if not is_nested(source):
        raise RuntimeError("get_nested_tensor_impl requires a NestedTensor.")
    if source._at.sizes != x._at.sizes:
        raise RuntimeError(
            "copy_ only supports tensors that are the same size for Nested "
            "implementations"
        )
    return write(x, source)


@answers("is_same_size", of=STRIDED)
def is_same_size(a, b) -> bool:
    """Tells whether the elements have the same sizes."""
    if not (isinstance(a, StridedNested) and isinstance(b, StridedNested)):
        raise RuntimeError(
            "Expected both self and other to be nested tensors. Self "
            f"{_is_or_not(a)} nested. While Other {_is_or_not(b)} nested."
        )
    return a._at.sizes == b._at.sizes


def _is_or_not(x) -> str:
    return "is" if isinstance(x, StridedNested) else "is not"


@answers("unbind", of=STRIDED)
def unbind(x, dim: int = 0):
    """The elements."""
    if dim != 0:
        raise RuntimeError(
            "NestedTensor can only be unbound along dimension 0 got dimension "
            f"{dim} instead."
        )
    return parts(x)


@answers("__getitem__", of=STRIDED)
def get_item(x, index):
    """Elements by integers; parts of all of them behind an ellipsis."""
    parts_of_index = index if isinstance(index, tuple) else (index,)
    result, dim, known = x, 0, len(parts_of_index) - 1
    for i, part in enumerate(parts_of_index):
        if part is Ellipsis:
            dim = result.dim() - (known - i)
        elif part is None:
            result = result.unsqueeze(dim)
            dim += 1
        elif isinstance(part, int) and dim == 0:
            rest = tuple(parts_of_index[i + 1 :])
            found = select(result, 0, part)
            return _rest(found, rest) if rest else found
        elif isinstance(part, int):
            result = select(result, dim, part)
        else:
            kind = "slice.Tensor" if isinstance(part, slice) else "index.Tensor"
            raise NotImplementedError(
                f"Could not run 'aten::{kind}' with arguments from the "
                "'NestedTensorCPU' backend. "
                "Call it on the elements of unbind()."
            )
    return result


def _rest(found: Tensor, rest: tuple) -> Tensor:
    if len(rest) == 1 and isinstance(rest[0], int):
        size = found.shape[0] if found.dim() else 0
        if not -size <= rest[0] < size:
            raise IndexError(
                f"index {rest[0]} is out of bounds for dimension 1 with size {size}"
            )
    return found[rest]


@answers("select", of=STRIDED)
def select(x, dim: int, index: int):
    """An element; or of each one the part at `index` along `dim`."""
    place = wrap(x, dim)
    if place == 0:
        count = len(x._at.sizes)
        if not -count <= index < count:
            raise IndexError(
                f"index {index} is out of bounds for dimension 0 with size {count}"
            )
        at = Places(*([each[index]] for each in x._at))
        buffer = packed(x)
        begin = buffer.storage_offset() + at.offsets[0]
        return buffer.as_strided(at.sizes[0], at.strides[0], begin)
    sizes, strides, offsets = [], [], []
    for i, (size, stride, offset) in enumerate(zip(*x._at)):
        length = size[place - 1]
        if not -length <= index < length:
            raise IndexError(
                f"index {index} is out of bounds for dimension {place - 1} of "
                f"the {i}th constituent tensor with size {length}"
            )
        sizes.append(size[: place - 1] + size[place:])
        strides.append(stride[: place - 1] + stride[place:])
        offsets.append(offset + index % length * stride[place - 1])
    return build(packed(x), Places(sizes, strides, offsets))


@answers("transpose", "swapaxes", "swapdims", of=STRIDED)
def transpose(x, dim0: int, dim1: int):
    """Two dimensions exchanged, not the first."""
    a, b = wrap(x, dim0), wrap(x, dim1)
    if a == b:
        return around(x, packed(x))
    if 0 in (a, b):
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")

    def swapped(row):
        row = list(row)
        row[a - 1], row[b - 1] = row[b - 1], row[a - 1]
        return tuple(row)

    sizes, strides = map(swapped, x._at.sizes), map(swapped, x._at.strides)
    return build(packed(x), Places(list(sizes), list(strides), x._at.offsets))


STRIDED["mT"] = lambda x: transpose(x, -2, -1)


@answers("mH", "adjoint", of=STRIDED)
def adjoint(x):
    """Its last dimensions turned around, conjugated."""
    return transpose(x.conj(), -2, -1)


@answers("unsqueeze", of=STRIDED)
def unsqueeze(x, dim: int):
    """A dimension of size 1, not the first."""
    place = wrap(x, dim, x.dim() + 1)
    if place == 0:
        raise RuntimeError(
            "unsqueeze(): For nested tensors, unsqueezing dimension 0 is not "
            "supported at the moment if you need this feature, please open an "
            "issue on github describing your use case."
        )
    sizes, strides = [], []
    for size, stride, _ in zip(*x._at):
        at_end = place - 1 == len(size)
        step = 1 if at_end else size[place - 1] * stride[place - 1]
        sizes.append((*size[: place - 1], 1, *size[place - 1 :]))
        strides.append((*stride[: place - 1], step, *stride[place - 1 :]))
    return build(packed(x), Places(sizes, strides, x._at.offsets))


@answers("squeeze", of=STRIDED)
def squeeze(x, dim=None):
    """Without a dimension whose size is 1 everywhere, not the first."""
    if dim is None:
        raise RuntimeError(
            "squeeze(): For nested tensors, squeeze without the dim argument "
            "is not supported at the moment, however you can use squeeze("
            "Tensor self, int dim) instead if you need this feature, please "
            "open an issue on github describing your use case."
        )
    if isinstance(dim, (tuple, list)):
        for each in sorted((wrap(x, d) for d in dim), reverse=True):
            x = squeeze(x, each)
        return x
    place = wrap(x, dim)
    if place == 0:
        raise RuntimeError(
            "squeeze(): For nested tensors, squeezing dimension 0 is not "
            "supported at the moment if you need this feature, please open an "
            "issue on github describing your use case."
        )
    if _packed.regular(x, place) != 1:
        return around(x, packed(x))
    if x.dim() == 2:
        raise RuntimeError(
            "squeeze(): For nested tensors, squeezing a nested tensor of "
            "singleton tensors is not supported at the moment, if you need "
            "this feature, please open an issue on github describing your "
            "use case."
        )
    at = x._at
    cut = [
        [row[: place - 1] + row[place:] for row in rows]
        for rows in (at.sizes, at.strides)
    ]
    return build(packed(x), Places(*cut, at.offsets))


def _shapes(x, given: tuple, name: str) -> list[tuple]:
    """The sizes of elements that a shape asks for, in which -1 keeps one."""
    shape = given[0] if len(given) == 1 else given
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not shape:
        raise RuntimeError("shape '[]' is invalid for a nested tensor")
    if not x._at.sizes:
        raise RuntimeError("empty nested tensor cannot be reshaped")
    if shape[0] != len(x._at.sizes):
        raise RuntimeError(
            f"{name}: For now nested {name} cannot change or infer the "
            "implicit batch dimension"
        )
    for length in shape:
        if length < -1:
            raise RuntimeError(f"invalid shape dimension {length}")
    known, asked = x.dim() - 1, shape[1:]
    if len(asked) != known and asked.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in asked[known:]:
        raise RuntimeError("nested tensor does not infer shape")
    return [_shape_of(size, asked, shape) for size in x._at.sizes]


def _shape_of(size: tuple, asked: tuple, shape: tuple) -> tuple:
    made = tuple(size[i] if s == -1 else s for i, s in enumerate(asked))
    count = math.prod(size)
    if math.prod(made) != count:
        raise RuntimeError(
            f"shape '{list(shape)}' is invalid for input of size {count}"
        )
    return made


@answers("view", "_unsafe_view", of=STRIDED)
def view(x, *shape):
    """The elements in other shapes, without a copy."""
    if len(shape) == 1 and isinstance(shape[0], _C.dtype):
        raise NotImplementedError("view: nested tensors keep their dtype")
    sizes = _shapes(x, shape, "view")
    if x.is_contiguous():
        return build(packed(x), dense(sizes))
    viewed = [part.view(size) for part, size in zip(parts(x.detach()), sizes)]
    at = Places(sizes, [v.stride() for v in viewed], x._at.offsets)
    return build(packed(x), at)


@answers("reshape", "view_as", "reshape_as", of=STRIDED)
def reshape(x, *shape):
    """The elements in other shapes."""
    sizes = _shapes(x, shape, "reshape")
    if x.is_contiguous():
        return build(packed(x), dense(sizes))
    return join([p.reshape(s) for p, s in zip(parts(x), sizes)], x)


@answers("chunk", of=STRIDED)
def chunk(x, chunks: int, dim: int = 0):
    """Equal parts along the last dimension."""
    if wrap(x, dim) != x.dim() - 1:
        raise RuntimeError(
            "Chunk for nested tensors is currently only supported for the "
            "last dimension."
        )
    if chunks <= 0:
        raise RuntimeError("chunk expects `chunks` to be greater than 0")
    if not x.is_contiguous():
        raise RuntimeError("chunk expects `self` to be contiguous.")
    last = x.size(-1)
    if last % chunks:
        raise RuntimeError(
            "Chunk for nested tensors is only supported for nested tensors "
            f"with trailing dimension divisible by chunks, got: {last} % "
            f"{chunks} != 0"
        )
    width = last // chunks
    found = [_narrowed(x, i * width, width) for i in range(chunks)]
    return tuple(_no_backward(found, "chunk", x))


def _no_backward(found: list, name: str, x) -> list:
    if x.requires_grad and _C.is_grad_enabled():
        return [_Underivable.apply(packed(x), y, name) for y in found]
    return found


class _Underivable(Function):
    @staticmethod
    def forward(ctx, whole, part, name):
        ctx.name = name
        return part.detach()

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError(
            f"Nested Strided Tensor doesn't support {ctx.name} backward."
        )


def _narrowed(x, begin: int, length: int):
    at = x._at
    sizes = [(*size[:-1], length) for size in at.sizes]
    offsets = [o + begin * stride[-1] for o, stride in zip(at.offsets, at.strides)]
    return build(packed(x), Places(sizes, at.strides, offsets))


@answers("split", "split_with_sizes", of=STRIDED)
def split_with_sizes(x, split_size, dim: int = 0):
    """Parts of these sizes along the last dimension."""
    if isinstance(split_size, int):
        raise NotImplementedError(
            "Could not run 'aten::split.Tensor' with arguments from the "
            "'NestedTensorCPU' backend: give a list of sizes, or use chunk()."
        )
    if wrap(x, dim) != x.dim() - 1:
        raise RuntimeError(
            "split_with_sizes for nested tensors is currently only supported "
            "for the last dimension."
        )
    if not x.is_contiguous():
        raise RuntimeError("split_with_sizes expects `self` to be contiguous.")
    last = x.size(-1)
    if sum(split_size) != last:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {last} "
            f"(input tensor's size at dimension {x.dim() - 1}), but got "
            f"split_sizes={list(split_size)}"
        )
    found, begin = [], 0
    for length in split_size:
        found.append(_narrowed(x, begin, length))
        begin += length
    return tuple(found)


@answers("narrow", of=STRIDED)
def narrow(x, dim: int, start: int, length: int):
    """Some of the elements."""
    place = wrap(x, dim)
    if place != 0:
        raise RuntimeError(
            f"narrow(): only dim=0 supported for nested tensors, but got: {place}"
        )
    if not x.is_contiguous():
        raise RuntimeError("narrow(): only contiguous nested tensors supported")
    at = Places(*(each[start : start + length] for each in x._at))
    return build(packed(x), at)


@answers("cat", "concat", "concatenate", of=STRIDED)
def cat(tensors, dim: int = 0):
    """Nested tensors behind each other, or side by side along a dimension."""
    tensors = list(tensors)
    if not all(map(is_nested, tensors)):
        raise RuntimeError("cat(): expected each tensor in given list to be nested")
    if not all(x.is_contiguous() for x in tensors):
        raise RuntimeError("cat(): only contiguous nested tensors are supported")
    place = wrap(tensors[0], dim)
    if place == 0:
        return join([part for x in tensors for part in parts(x)], tensors[0])
    for x in tensors:
        ragged = [d for d in range(1, x.dim()) if _packed.regular(x, d) is None]
        if ragged not in ([], [1]):
            raise RuntimeError(
                "cat(): only nested tensors with a single ragged dim next to "
                "the batch dim are supported"
            )

    def outside(x):
        return [s[: place - 1] + s[place:] for s in x._at.sizes]

    if any(outside(x) != outside(tensors[0]) for x in tensors):
        raise RuntimeError(
            "cat(): expected all nested tensors to have matching ragged "
            "structures outside of the concatenated dim"
        )
    rows = zip(*map(parts, tensors))
    return join([_C.ops.cat(row, place - 1) for row in rows], tensors[0])
