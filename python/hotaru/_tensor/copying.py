"""Copies and pickles of tensors."""

from __future__ import annotations

import copy as _copy

from .. import _C
from .._C import Tensor
from .._grad_mode import no_grad
from .attributes import (
    attributes_of,
    object_state,
    set_object_state,
    slot_values,
)


def _copy_with_memory(tensor, memo):
    """A copy that shares memory with the copies of what shares tensor's."""
    whole = _C._whole_storage(tensor)
    if whole.numel() == 0:
        return tensor.clone()
    copies = memo.setdefault("hotaru", {})
    key = tensor._storage_ptr()
    if key not in copies:
        copies[key] = whole.clone()
    return _C._over_storage(tensor, copies[key])


def __deepcopy__(self, memo):
    if _C._overridden(self):
        return _C._handle_torch_function(
            Tensor.__deepcopy__, (self,), (self, memo), {}
        )
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) "
            "support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because "
            "of a torch.nn.utils."
            "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
        )
    if _C._dispatches(self):
        from .._dispatch import wrappers

        copy = wrappers.copied(self)
    else:
        with no_grad():
            copy = _copy_with_memory(self.detach(), memo)
        if type(self) is not Tensor:
            copy = _C._make_subclass(type(self), copy)
    copy.requires_grad = self.requires_grad
    if self.grad is not None:
        copy.grad = __deepcopy__(self.grad, memo)
    if self.__dict__:
        for name, value in attributes_of(self).items():
            setattr(copy, name, _copy.deepcopy(value, memo))
    if type(self) is not Tensor:
        for name, value in slot_values(self).items():
            setattr(copy, name, _copy.deepcopy(value, memo))
    memo[id(self)] = copy
    return copy


def _rebuild(cls, data, dtype, shape, requires_grad, device="cpu"):
    if data:
        tensor = _C.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
    else:
        tensor = _C.ops.empty(shape, dtype=dtype)
    if device != "cpu":
        tensor = tensor.to(device)
    if cls is not Tensor:
        return _C._make_subclass(cls, tensor, requires_grad)
    tensor.requires_grad = requires_grad
    return tensor


def _rebuild_from_type_v2(function, cls, args, state):
    """What pickles of a subclass in files of `torch.save` refer to: a tensor
    of `function(*args)` as `cls`, with attributes.
    """
    made = function(*args)
    if type(made) is not cls:
        made = _C._make_subclass(cls, made.detach(), made.requires_grad)
    return set_object_state(made, state)


def _rebuild_meta(cls, dtype, shape, stride, requires_grad):
    tensor = _C.ops.empty_strided(shape, stride, dtype=dtype, device="meta")
    return _C._make_subclass(cls, tensor, requires_grad)


def __reduce_ex__(self, protocol):
    state = object_state(self)
    more = (state,) if state else ()
    kind, shape, grad = type(self), tuple(self.shape), self.requires_grad
    if self.is_meta:
        args = (kind, self.dtype, shape, self.stride(), grad)
        return _rebuild_meta, args, *more
    data = _C._tensor_bytes(self.detach().cpu().contiguous())
    args = (kind, data, self.dtype, shape, grad, str(self.device))
    return _rebuild, args, *more


# Pickles know them by the package's name, as PyTorch's `torch._tensor`.
for _function in (_rebuild, _rebuild_from_type_v2, _rebuild_meta):
    _function.__module__ = __name__.rpartition(".")[0]
