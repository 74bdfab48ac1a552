"""Properties a tensor on the meta device shares with the one it stands for."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from .. import _C, Tensor, empty
from ..nn import Parameter
from ..storage import UntypedStorage

# Properties of every tensor, in this order; methods are called.
_OF_ALL = (
    "dtype",
    "shape",
    "requires_grad",
    "is_leaf",
    "is_sparse",
    "is_inference",
    "is_conj",
    "is_neg",
)
_SYMBOLIC = ("stride", "storage_offset")


def assert_metadata_eq(
    assert_eq: Callable[[object, object], None],
    m1: Tensor,
    m2: Tensor,
    *,
    skip_symbolic: bool = False,
    skip_leaf: bool = False,
) -> None:
    """Compares all of two tensors but values, devices and identity.

    That is dtype, geometry, what autograd knows of them, whether they are
    views, and the same of their gradients and of what they are views of.

    Args:
        assert_eq: raises unless its two arguments are equal.
        m1, m2: the tensors.
        skip_symbolic: leave shapes, strides and offsets out.
        skip_leaf: leave out whether they are leaves.
    """
    skipped = {"shape", *_SYMBOLIC} if skip_symbolic else set()
    if skip_leaf:
        skipped.add("is_leaf")

    def compare(first: Tensor, second: Tensor) -> None:
        for name in (*_OF_ALL, *_SYMBOLIC, "_is_view"):
            if name not in skipped:
                assert_eq(_value(first, name), _value(second, name))
        for name in ("grad", "_base"):
            one, other = _stored(first, name), _stored(second, name)
            assert_eq(one is None, other is None)
            if one is not None and other is not None:
                compare(one, other)

    compare(m1, m2)


def _value(tensor: Tensor, name: str):
    value = getattr(tensor, name)
    return value() if callable(value) else value


def _stored(tensor: Tensor, name: str):
    """A gradient of its own; to ask others for one is a warning."""
    if name == "grad" and not (tensor.is_leaf or tensor.retains_grad):
        return None
    return getattr(tensor, name)


class MetaConverter:
    """Makes tensors on the meta device that look like others: sizes, strides,
    dtype, what gradients are for, and which share their memory.

    The same tensor gives the same one again, for as long as it lives.
    """

    def __init__(self, *, copy_data: bool = False) -> None:
        if copy_data:
            raise NotImplementedError("MetaConverter: copy_data")
        self._made: dict[int, tuple] = {}
        self._storages: dict[int, UntypedStorage] = {}
        self.hit = self.miss = self.del_hook = 0

    def successful(self) -> bool:
        """True if tensors were made, and all could be."""
        return self.hit + self.miss > 0

    def __call__(
        self, t, shape_env=None, *, callback=None, source=None, symbolic_context=None
    ):
        """The tensor that stands for `t`; anything else as it is.

        Args:
            callback: makes it of a function that does so on a device.
        """
        if not isinstance(t, Tensor):
            return t
        found = self._made.get(id(t))
        if found is not None and found[0]() is t:
            self.hit += 1
            return found[1]
        self.miss += 1
        key = id(t)
        made = self._convert(t, callback)
        self._made[key] = (weakref.ref(t, lambda gone: self._made.pop(key, None)), made)
        return made

    def _convert(self, t: Tensor, callback) -> Tensor:
        def plain() -> Tensor:
            if t.layout is not _C.strided or _C._answering_class(t) not in (
                Tensor,
                Parameter,
            ):
                return t.detach().to("meta")
            made = empty(0, dtype=t.dtype, device="meta")
            return made.set_(self._storage(t), t.storage_offset(), t.shape, t.stride())

        made = plain() if callback is None else callback(plain)
        if isinstance(t, Parameter):
            return Parameter(made, requires_grad=t.requires_grad)
        return made.requires_grad_(t.requires_grad)

    def _storage(self, t: Tensor) -> UntypedStorage:
        """The memory, of no bytes, that stands for a tensor's."""
        storage = t.untyped_storage()
        key = storage._cdata
        if key not in self._storages:
            size = storage.nbytes()
            self._storages[key] = UntypedStorage(size, device="meta")
            weakref.finalize(storage, self._storages.pop, key, None)
        return self._storages[key]
