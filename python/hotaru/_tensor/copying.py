"""Copies and pickles of tensors."""

from __future__ import annotations

import copy as _copy
import warnings
from collections import OrderedDict

from .. import _C
from .._C import Tensor
from .._extension.grad_mode import no_grad
from .._late import lent
from .._overrides import skips_hop
from .attributes import attributes_of, object_state, set_object_state, slot_values


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


def check_leaf(tensor) -> None:
    """RuntimeError for a result, which is not copied with its history."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) "
            "support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because "
            "of a torch.nn.utils."
            "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
        )


def __deepcopy__(self, memo):
    if _C._overridden(self) and not skips_hop():
        return _C._handle_torch_function(Tensor.__deepcopy__, (self,), (self, memo), {})
    if id(self) in memo:
        return memo[id(self)]
    check_leaf(self)
    if _C._dispatches(self):
        copy = lent("copy_wrapper")(self)
    else:
        with no_grad():
            copy = _copy_with_memory(self.detach(), memo)
        if type(self) is not Tensor:
            copy = _C._make_subclass(type(self), copy)
    if self.__dict__:
        for name, value in attributes_of(self).items():
            setattr(copy, name, _copy.deepcopy(value, memo))
    if type(self) is not Tensor:
        for name, value in slot_values(self).items():
            setattr(copy, name, _copy.deepcopy(value, memo))
    # The class is asked from here on, and may look at its attributes.
    copy.requires_grad = self.requires_grad
    if self.grad is not None:
        copy.grad = __deepcopy__(self.grad, memo)
    memo[id(self)] = copy
    return copy


def __setstate__(self, state) -> None:
    """Pickles of PyTorch's first versions give a tensor its content by this:
    (storage, offset, size, stride), or (requires_grad, _, hooks), before which
    there may be a tensor and its gradient.
    """
    if _C._overridden(self) and not skips_hop():
        return _C._handle_torch_function(
            Tensor.__setstate__, (self,), (self, state), {}
        )
    if not self.is_leaf:
        raise RuntimeError("__setstate__ can be only called on leaf Tensors")
    if len(state) == 4:
        self.set_(*state)
        return None
    if len(state) == 5:
        self.data = state[0]
        state = (state[3], state[4], state[2])
    self.requires_grad, _, self._backward_hooks = state
    return None


def _rebuild_from_type_v2(function, cls, args, state):
    """Rebuilds a subclass's tensor, as pickles in files of `torch.save` ask: a
    tensor of `function(*args)` as `cls`, with attributes.
    """
    made = function(*args)
    if type(made) is not cls:
        made = _C._make_subclass(cls, made.detach(), made.requires_grad)
    return set_object_state(made, state)


def __reduce_ex__(self, protocol):
    """Functions and classes by which PyTorch knows them, too: what either
    pickles the other reads. The bytes are those of the whole storage.
    """
    kind, state = _C._answering_class(self), object_state(self)
    plain = kind is Tensor and not state
    if not plain and _C._overridden(self) and not skips_hop():
        return _C._handle_torch_function(
            Tensor.__reduce_ex__, (self,), (self, protocol), {}
        )
    function, args = _reduced(self)
    if plain:
        return function, args
    return _rebuild_from_type_v2, (function, kind, args, state)


def _reduced(tensor) -> tuple:
    """A function and what it makes a tensor of, without attributes."""
    from .. import _utils
    from ..storage._typed import _NAMES, TypedStorage

    if _C._dispatches(tensor):
        return _utils._rebuild_wrapper_subclass, (
            type(tensor),
            tensor.dtype,
            tuple(tensor.size()),
            tensor.stride(),
            tensor.storage_offset(),
            tensor.layout,
            tensor.device,
            tensor.requires_grad,
        )
    if tensor.requires_grad:
        from ..utils.hooks import warn_if_has_hooks

        warn_if_has_hooks(tensor)
    if tensor.device.type == "meta":
        _warn_of_meta()
        return _utils._rebuild_meta_tensor_no_storage, (
            tensor.dtype,
            tuple(tensor.shape),
            tensor.stride(),
            tensor.requires_grad,
        )
    plain = (
        tensor if _C._answering_class(tensor) is Tensor else tensor.as_subclass(Tensor)
    )
    untyped = plain.untyped_storage()
    args = (
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.requires_grad,
        OrderedDict(),  # hooks, which the format has a place for
    )
    if tensor.dtype not in _NAMES:
        return _utils._rebuild_tensor_v3, (untyped, *args, tensor.dtype)
    storage = TypedStorage(wrap_storage=untyped, dtype=tensor.dtype, _internal=True)
    return _utils._rebuild_tensor_v2, (storage, *args)


def _warn_of_meta() -> None:
    from ..serialization._options import _serialization_tls

    if _serialization_tls.skip_data:
        warnings.warn(
            "Serializing tensors on the meta device under skip_data context "
            "manager is a no-op",
            UserWarning,
            stacklevel=2,
        )


# Pickles know it by the package's name, as PyTorch's `torch._tensor`.
_rebuild_from_type_v2.__module__ = __name__.rpartition(".")[0]
