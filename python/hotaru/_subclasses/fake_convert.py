"""Fake tensors that stand for real ones."""

from __future__ import annotations

import weakref

from .. import _C, empty
from .._C import Tensor
from .._dispatch.stack import native
from .._extension.grad_mode import no_grad
from ..nn import Parameter
from ..utils._python_dispatch import (
    _disable_current_modes,
    is_traceable_wrapper_subclass,
)
from . import fake_reals
from .fake_class import FakeTensor
from .fake_errors import UnsupportedFakeTensorException


class WeakMemo:
    """Values by the identity of tensors, as long as those live."""

    def __init__(self) -> None:
        self._found: dict[int, tuple] = {}

    def get(self, key):
        """None where there is none."""
        ref, value = self._found.get(id(key), (lambda: None, None))
        return value() if ref() is key else None

    def put(self, key, value) -> None:
        """Keeps neither of the two alive."""
        place = id(key)

        def gone(_, found=self._found) -> None:
            found.pop(place, None)

        self._found[place] = (weakref.ref(key, gone), weakref.ref(value, gone))

    def items(self) -> list[tuple]:
        """The pairs of which both live."""
        pairs = [(k(), v()) for k, v in list(self._found.values())]
        return [p for p in pairs if p[0] is not None and p[1] is not None]

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, key) -> bool:
        return self.get(key) is not None


class MetaConverter:
    """Tensors of the meta device that share memory as others do."""

    def __init__(self) -> None:
        self.storage_memo = WeakMemo()

    def __call__(self, tensor: Tensor) -> Tensor:
        """A tensor like `tensor`, in the memory that stands for its memory.

        UnsupportedFakeTensorException for layouts other than strided.
        """
        if tensor.layout is not _C.strided or tensor.is_quantized:
            raise UnsupportedFakeTensorException(
                f"a fake tensor is strided; this one is {tensor.layout}"
                f"{', quantized' if tensor.is_quantized else ''}"
            )
        storage = native(Tensor.untyped_storage, (tensor,), {})
        memory = self.storage_memo.get(storage)
        if memory is None:
            bytes_ = empty(storage.nbytes(), dtype=_C.uint8, device="meta")
            memory = bytes_.untyped_storage()
            self.storage_memo.put(storage, memory)
        made = empty(0, dtype=tensor.dtype, device="meta")
        made.set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())
        if tensor.is_conj():
            made = made.conj()
        return made._neg_view() if tensor.is_neg() else made


class FakeTensorConverter:
    """The fake tensors of a mode, one for each real one that it met."""

    def __init__(self) -> None:
        self.tensor_memo = WeakMemo()
        self.meta_converter = MetaConverter()

    def from_real_tensor(self, fake_mode, t: Tensor, make_constant=False):
        """The fake tensor that stands for `t`: of its shape, strides, dtype
        and device, a parameter if it is one, with a fake gradient if it has
        one. The same each time; views of one tensor share memory.
        """
        known = self.tensor_memo.get(t)
        if known is not None and known.fake_mode is fake_mode:
            return known
        if is_traceable_wrapper_subclass(t):
            return self._from_wrapper(fake_mode, t)
        with _disable_current_modes(), no_grad():
            made = FakeTensor(fake_mode, self.meta_converter(t), t.device)
        if t.requires_grad:
            made.requires_grad_()
            if not t.is_leaf:
                made = made.view(made.shape)
        if isinstance(t, Parameter):
            made._is_param = True
        if t.is_leaf and t.grad is not None:
            made.grad = self.from_real_tensor(fake_mode, t.grad)
        if fake_mode.propagate_real_tensors:
            made.real_tensor = fake_reals.copy_of(t)
        if make_constant:
            fake_mode.constants.keep(made, t)
        else:
            self.tensor_memo.put(t, made)
        return made

    def _from_wrapper(self, fake_mode, t: Tensor) -> Tensor:
        names, context = t.__tensor_flatten__()
        inner = {
            name: self.from_real_tensor(fake_mode, getattr(t, name)) for name in names
        }
        made = type(t).__tensor_unflatten__(inner, context, t.size(), t.stride())
        return made.requires_grad_() if t.requires_grad else made

    def from_meta_and_device(self, fake_mode, t: Tensor, device):
        """A tensor of the meta device, as one of `device`."""
        known = self.tensor_memo.get(t)
        if known is None:
            known = FakeTensor(fake_mode, t, device)
            self.tensor_memo.put(t, known)
        return known
