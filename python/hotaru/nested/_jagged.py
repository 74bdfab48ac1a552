"""Tensors of which one dimension is ragged: the layout `torch.jagged`."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .._extension.size import Size
from .._tensor.nested_names import jagged
from ..autograd import Function
from . import _ints
from ._base import NESTED, Nested, around, packed, plain, wrap


class NestedTensor(Nested, of=NESTED):
    """B tensors that differ in the size of one dimension, side by side in
    `values` along it: (B, j, D) is kept as (sum of j, D).

    Element i is values[offsets[i] : offsets[i + 1]], or as many as lengths[i]
    says. The constructor shares `values` and ignores their history: see
    `nested_tensor_from_jagged`. AssertionError for other offsets than 1-D.
    """

    is_jagged = True
    layout = jagged

    @staticmethod
    def __new__(
        cls,
        values,
        offsets,
        *,
        lengths=None,
        requires_grad=False,
        _ragged_idx: int = 1,
        _metadata_cache=None,
    ):
        _check(values, offsets, lengths)
        outer = (offsets.shape[0] - 1, *values.shape)
        self = Tensor._make_wrapper_subclass(
            cls, outer, dtype=values.dtype, device=values.device
        )
        self._values = values.detach()
        self._offsets, self._lengths = offsets, lengths
        self._ragged_idx = _ragged_idx
        self._metadata_cache = dict(_metadata_cache or {})
        source = offsets if lengths is None else lengths
        place = _ragged_idx - 1
        ragged = _ints.of(source)
        self._size = (
            outer[0],
            *values.shape[:place],
            ragged,
            *values.shape[place + 1 :],
        )
        strides = values.stride()
        self._strides = (ragged * strides[place], *strides)
        return self.requires_grad_() if requires_grad else self

    def __init__(self, *args, **kwargs) -> None:
        pass

    @property
    def shape(self) -> Size:
        """The sizes; that of the ragged dimension is a nested int."""
        return Size(self._size)

    def size(self, dim: int | None = None):
        """The sizes, or one."""
        return self.shape if dim is None else self._size[wrap(self, dim)]

    def stride(self, dim: int | None = None):
        """The strides, or one; that of the first dimension is a nested int."""
        return self._strides if dim is None else self._strides[wrap(self, dim)]

    def dim(self) -> int:
        """One more than the dimensions of `values`."""
        return len(self._size)

    ndimension = dim
    ndim = property(dim)

    def numel(self) -> int:
        """How many elements there are, without those between them."""
        if self._lengths is None:
            return self._values.numel()
        total = int(self._lengths.sum())
        for i, size in enumerate(self._size):
            total *= size if i not in (0, self._ragged_idx) else 1
        return total

    nelement = numel

    def storage_offset(self) -> int:
        """That of the values."""
        return self._values.storage_offset()

    def data_ptr(self) -> int:
        """0: the values have memory, a nested tensor has none."""
        return 0

    def untyped_storage(self):
        """RuntimeError: ask the values."""
        raise RuntimeError(
            "The tensor has a non-zero number of elements, but its data is not "
            "allocated yet."
        )

    def is_contiguous(self, memory_format=_C.contiguous_format) -> bool:
        """True if nothing lies between the elements and rows are dense."""
        dense = self._values.is_contiguous(memory_format=memory_format)
        return self._lengths is None and dense

    def _is_contiguous_or_false(self) -> bool:
        return self.is_contiguous()

    def __len__(self) -> int:
        return self._size[0]

    def values(self) -> Tensor:
        """All elements side by side, with what lies between them."""
        return packed(self)

    def offsets(self) -> Tensor:
        """Where the elements begin, and behind the last: B + 1."""
        return self._offsets

    def lengths(self) -> Tensor | None:
        """How long they are, where that is not to the next one's begin."""
        return self._lengths

    def _get_max_seqlen(self) -> int:
        return self._extreme("max_seqlen", max)

    def _get_min_seqlen(self) -> int:
        return self._extreme("min_seqlen", min)

    _max_seqlen = property(_get_max_seqlen)
    _min_seqlen = property(_get_min_seqlen)

    @property
    def _maybe_max_seqlen(self) -> int | None:
        return _number(self._metadata_cache.get("max_seqlen"))

    @property
    def _maybe_min_seqlen(self) -> int | None:
        return _number(self._metadata_cache.get("min_seqlen"))

    def _extreme(self, name: str, function) -> int:
        if self._metadata_cache.get(name) is None:
            found = function(sizes_of(self), default=0)
            self._metadata_cache[name] = found
        return _number(self._metadata_cache[name])

    def _view_func(self, new_base: Tensor) -> NestedTensor:
        """The same view of another dense tensor. RuntimeError where this is
        not a view of a dense one.
        """
        if self._base is None or isinstance(self._base, Nested):
            raise RuntimeError(
                "_view_func: only of nested tensors that are views of dense tensors"
            )
        return around(self, new_base.reshape(self._values.shape))

    def _whole(self) -> Tensor:
        return self._values

    def _around(self, whole: Tensor) -> NestedTensor:
        return type(self)(
            whole,
            self._offsets,
            lengths=self._lengths,
            _ragged_idx=self._ragged_idx,
            _metadata_cache=self._metadata_cache,
        )

    def _places(self, other: Nested) -> Tensor:
        if not isinstance(other, NestedTensor):
            raise RuntimeError("expected a nested tensor in the layout jagged")
        return packed(other)

    def __repr__(self, *, tensor_contents=None) -> str:
        about = ""
        if self.requires_grad:
            about = f", requires_grad={self.requires_grad}"
        if self.grad_fn:
            about = f", grad_fn={self.grad_fn}"
        return (
            f"NestedTensor(size={self._size}, offsets={self._offsets}{about}, "
            f"contiguous={self.is_contiguous()})"
        )

    __str__ = __repr__

    def __reduce_ex__(self, protocol):
        from .._tensor import _rebuild_from_type_v2

        # PyTorch keeps lengths as the first size of an empty tensor.
        cache = {
            name: _C.ops.empty(length, 0)
            for name, length in self._metadata_cache.items()
        }
        parts = {
            "values": self._values,
            "offsets": self._offsets,
            "lengths": self._lengths,
            "_ragged_idx": self._ragged_idx,
            "_metadata_cache": cache,
            "requires_grad": self.requires_grad,
        }
        args = (_rebuild_njt, type(self), (parts,), {})
        return _rebuild_from_type_v2, args


# Files know it by this name.
NestedTensor.__module__ = "hotaru.nested._internal.nested_tensor"


def _rebuild_njt(constructor_kwargs: dict) -> NestedTensor:
    """Makes a jagged tensor of what its pickle holds."""
    kwargs = dict(constructor_kwargs)
    cache = {
        name: found.shape[0] if isinstance(found, Tensor) else found
        for name, found in (kwargs.pop("_metadata_cache", None) or {}).items()
    }
    return NestedTensor(**kwargs, _metadata_cache=cache)


_rebuild_njt.__module__ = NestedTensor.__module__


def _number(length) -> int | None:
    """A length, which PyTorch's files say as a tensor's first size."""
    return length.shape[0] if isinstance(length, Tensor) else length


def _check(values, offsets, lengths) -> None:
    if offsets is None:
        raise AssertionError("offsets must not be None")
    if offsets.ndim != 1:
        raise AssertionError(f"offsets must be 1D, but got {offsets.ndim}D")
    if isinstance(values, Nested):
        raise AssertionError("values must not be a NestedTensor")
    if values.device != offsets.device:
        raise AssertionError(
            "values and offsets must be on the same device, but got "
            f"values.device={values.device} and offsets.device={offsets.device}"
        )
    count = offsets.shape[0] - 1
    if lengths is not None and lengths.shape[0] != count:
        raise AssertionError(
            "offsets and lengths batch sizes must match: offsets.shape[0] - 1 "
            f"= {count}, lengths.shape[0] = {lengths.shape[0]}"
        )


def build(
    values: Tensor, offsets: Tensor, lengths=None, ragged: int = 1, cache=None
) -> NestedTensor:
    """A nested tensor of the values, with their history."""
    pattern = NestedTensor(
        values.detach(),
        offsets,
        lengths=lengths,
        _ragged_idx=ragged,
        _metadata_cache=cache,
    )
    return around(pattern, values)


def like(x: NestedTensor, values: Tensor, ragged: int | None = None) -> NestedTensor:
    """Other values, with their history, of the same raggedness."""
    place = x._ragged_idx if ragged is None else ragged
    return build(values, x._offsets, x._lengths, place, x._metadata_cache)


def sizes_of(x: NestedTensor) -> list[int]:
    """The sizes of the elements along the ragged dimension."""
    source = x._offsets.diff() if x._lengths is None else x._lengths
    return plain(source.tolist)


def parts(x: NestedTensor) -> tuple[Tensor, ...]:
    """The elements: views of the values, with history."""
    values, place = packed(x), x._ragged_idx - 1
    begins = x._offsets.tolist()[:-1]
    return tuple(
        values.narrow(place, begin, size) for begin, size in zip(begins, sizes_of(x))
    )


def joined(x: NestedTensor, elements, ragged: int | None = None):
    """A nested tensor of elements whose ragged sizes are those of `x`."""
    place = x._ragged_idx if ragged is None else ragged
    values = _C.ops.cat(list(elements), place - 1)
    if x._lengths is None:
        return build(values, x._offsets, None, place, x._metadata_cache)
    offsets = _ends(x._lengths)
    return build(values, offsets, None, place, x._metadata_cache)


def _ends(lengths: Tensor) -> Tensor:
    """Offsets of elements that follow each other."""
    zero = _C.ops.zeros(1, dtype=lengths.dtype, device=lengths.device)
    return _C.ops.cat([zero, lengths.cumsum(0)])


def inner(x: NestedTensor, dim: int, name: str, *, batch=False, ragged=False) -> int:
    """The dimension of the values that a dimension is.

    RuntimeError for the first and the ragged one, unless they are allowed.
    """
    place = wrap(x, dim)
    if place == x._ragged_idx and not ragged:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    if place == 0 and not batch:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
    return x._ragged_idx - 1 if place == 0 else place - 1


class ViewBufferFromNested(Function):
    """The values of a nested tensor."""

    @staticmethod
    def forward(ctx, x):
        ctx.like = x
        return x._values.detach()

    @staticmethod
    def backward(ctx, grad):
        return like(ctx.like.detach(), grad)


class ViewNestedFromBuffer(Function):
    """A nested tensor of values and offsets."""

    @staticmethod
    def forward(ctx, values, offsets, metadata_cache=None):
        return NestedTensor(values, offsets, _metadata_cache=metadata_cache)

    @staticmethod
    def backward(ctx, grad):
        return packed(grad), None, None
