"""Tensors of tensors of any sizes: nested tensors with the layout strided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .. import _C
from .._C import Tensor
from ._base import NESTED, Nested, around, packed, plain, wrap

Sizes = tuple[int, ...]


def no_sizes() -> RuntimeError:
    return RuntimeError(
        "Internal error: NestedTensorImpl doesn't support sizes. Please file an issue."
    )


class Places(NamedTuple):
    """Where the elements of a nested tensor are in its buffer."""

    sizes: list[Sizes]
    strides: list[Sizes]
    offsets: list[int]


class StridedNested(Nested, of=NESTED):
    """Tensors of one dtype and number of dimensions, in one 1-D buffer.

    Made by `torch.nested.nested_tensor` and its relatives; PyTorch's class of
    such tensors is Tensor.
    """

    @staticmethod
    def __new__(cls, buffer: Tensor, places: Places):
        count = len(places.sizes)
        largest = [max(each) for each in zip(*places.sizes)]
        self = Tensor._make_wrapper_subclass(
            cls, (count, *largest), dtype=buffer.dtype, device=buffer.device
        )
        self._buffer, self._at = buffer.detach(), places
        return self

    def __init__(self, *args) -> None:
        pass

    @property
    def shape(self):
        """RuntimeError: there is no one shape."""
        return self.size()

    def size(self, dim: int | None = None) -> int:
        """The size along `dim`; RuntimeError where it differs."""
        if dim is None:
            raise no_sizes()
        place = wrap(self, dim)
        if place == 0:
            return len(self._at.sizes)
        found = regular(self, place)
        if found is None:
            raise RuntimeError(
                f"Given dimension {place} is irregular and does not have a size."
            )
        return found

    def stride(self, dim: int | None = None):
        """RuntimeError: strides are the elements'."""
        raise RuntimeError(
            "Internal error: NestedTensorImpl doesn't support strides. "
            "Please file an issue."
        )

    def dim(self) -> int:
        """One more than the dimensions of the elements."""
        return 1 + len(self._at.sizes[0]) if self._at.sizes else 1

    ndimension = dim
    ndim = property(dim)

    def numel(self) -> int:
        """How many numbers the elements have together."""
        return sum(map(math.prod, self._at.sizes))

    nelement = numel

    def storage_offset(self) -> int:
        """That of the buffer."""
        return self._buffer.storage_offset()

    def untyped_storage(self):
        """The memory of the buffer."""
        return self._buffer.untyped_storage()

    def data_ptr(self) -> int:
        """The address of the buffer."""
        return self._buffer.data_ptr()

    def is_contiguous(self, memory_format=_C.contiguous_format) -> bool:
        """Tells whether the elements are dense and follow each other."""
        return self._at == dense(self._at.sizes)

    def __len__(self) -> int:
        return self.size()

    def __iter__(self):
        return iter(self.unbind())

    def values(self) -> Tensor:
        """The buffer."""
        return packed(self)

    def _nested_tensor_size(self) -> Tensor:
        return _table(self, self._at.sizes)

    def _nested_tensor_strides(self) -> Tensor:
        return _table(self, self._at.strides)

    def _nested_tensor_storage_offsets(self) -> Tensor:
        return _C.tensor(self._at.offsets, dtype=_C.int64)

    def _whole(self) -> Tensor:
        return self._buffer

    def _around(self, whole: Tensor) -> StridedNested:
        return StridedNested(whole, self._at)

    def _places(self, other: Nested) -> Tensor:
        if not isinstance(other, StridedNested) or (other._at.sizes != self._at.sizes):
            raise RuntimeError(
                "a gradient or a value of other sizes than the nested tensor"
            )
        if other._at == self._at and other._buffer.numel() == (self._buffer.numel()):
            return packed(other)
        return _Scattered.of(other, self)

    def __repr__(self, *, tensor_contents=None) -> str:
        return _text(self)

    __str__ = __repr__

    def __reduce_ex__(self, protocol):
        from .._utils import _rebuild_nested_tensor
        from ..serialization._options import _serialization_tls

        if _serialization_tls.skip_data:
            raise RuntimeError(
                "Cannot serialize nested tensor under skip_data context "
                "manager, file an issue if you need this feature"
            )
        return _rebuild_nested_tensor, (
            self._buffer.detach().requires_grad_(self.requires_grad),
            self._nested_tensor_size(),
            self._nested_tensor_strides(),
            self._nested_tensor_storage_offsets(),
        )


_C._hide_class(StridedNested)


def _table(x: StridedNested, rows: list[Sizes]) -> Tensor:
    if not rows:
        return _C.tensor(1.0)
    made = _C.tensor([list(row) for row in rows], dtype=_C.int64)
    return made.reshape(len(rows), x.dim() - 1)


class _Scattered:
    """Elements at the places of another nested tensor, zeros between them."""

    @staticmethod
    def of(source: StridedNested, target: StridedNested) -> Tensor:
        count = target._buffer.numel()
        whole = packed(source).new_zeros(count)
        rows = _C.ops.arange(count, device=whole.device)
        at = target._at
        index = [
            rows.as_strided(*place).reshape(-1)
            for place in zip(at.sizes, at.strides, at.offsets)
        ]
        given = [part.reshape(-1) for part in parts(source)]
        if not given:
            return whole
        return whole.index_put((_C.ops.cat(index),), _C.ops.cat(given))


def dense(sizes: Sequence[Sizes]) -> Places:
    """The places of elements of these sizes, one behind the other."""
    strides, offsets, total = [], [], 0
    for size in sizes:
        step, found = 1, []
        for length in reversed(size):
            found.append(step)
            step *= length
        strides.append(tuple(reversed(found)))
        offsets.append(total)
        total += math.prod(size)
    return Places([tuple(size) for size in sizes], strides, offsets)


def from_tables(buffer: Tensor, sizes, strides, offsets) -> StridedNested:
    """Makes the tensor that `_nested_tensor_size` and its relatives describe,
    with the requires_grad of the buffer.
    """
    places = Places([], [], [])
    if sizes.dim() > 0:
        tables = (map(tuple, x.tolist()) for x in (sizes, strides))
        places = Places(*map(list, tables), offsets.tolist())
    made = StridedNested(buffer, places)
    return made.requires_grad_() if buffer.requires_grad else made


def build(buffer: Tensor, places: Places) -> StridedNested:
    """A nested tensor in the buffer, with its history."""
    return around(StridedNested(buffer.detach(), places), buffer)


def parts(x: StridedNested) -> tuple[Tensor, ...]:
    """The elements: views of the buffer, with history."""
    buffer = packed(x)
    return tuple(
        buffer.as_strided(size, stride, buffer.storage_offset() + offset)
        for size, stride, offset in zip(*x._at)
    )


def join(elements: Sequence[Tensor], like: Tensor | None = None):
    """A nested tensor of copies of the elements, with their history; of none,
    in the dtype and on the device of `like`.
    """
    sizes = [tuple(each.shape) for each in elements]
    if elements:
        buffer = _C.ops.cat([each.reshape(-1) for each in elements])
    else:
        options = {} if like is None else _options(like)
        buffer = _C.ops.empty(0, **options)
    return build(buffer, dense(sizes))


def _options(like: Tensor) -> dict:
    return {"dtype": like.dtype, "device": like.device}


def regular(x: StridedNested, dim: int) -> int | None:
    """The size along a dimension from 1 on; None where it differs."""
    found = {size[dim - 1] for size in x._at.sizes}
    return found.pop() if len(found) == 1 else None


def buffer_of(x: StridedNested) -> Tensor:
    """The buffer of a contiguous nested tensor; RuntimeError of another."""
    if not x.is_contiguous():
        raise RuntimeError("NestedTensor must be contiguous to get buffer.")
    return packed(x)


def _text(x: StridedNested) -> str:
    """The elements one below the other, as PyTorch prints them."""
    plain = x.detach()
    body = ",\n".join(
        "  " + repr(part.requires_grad_(x.requires_grad)).replace("\n", "\n  ")
        for part in parts(plain)
    )
    about = ""
    if x.grad_fn is not None:
        about = f", grad_fn=<{x.grad_fn.name()}>"
    elif x.requires_grad:
        about = ", requires_grad=True"
    return f"nested_tensor([\n{body}\n]{about})"


__all__ = [
    "Places",
    "StridedNested",
    "buffer_of",
    "build",
    "dense",
    "join",
    "parts",
    "plain",
    "regular",
    "wrap",
]
