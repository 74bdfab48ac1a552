"""Tensors without memory of their own, of classes that answer operators."""

from __future__ import annotations

from .. import _C, get_default_dtype
from .._extension.grad_mode import no_grad


def make(
    cls,
    size,
    strides=None,
    storage_offset=None,
    memory_format=None,
    dtype=None,
    layout=_C.strided,
    device=None,
    pin_memory=False,
    requires_grad=False,
    dispatch_sizes_strides_policy=None,
    dispatch_device=False,
    dispatch_layout=False,
):
    """A tensor of the class without memory: it answers all operators itself,
    in `__torch_dispatch__`.

    Raises TypeError for a class without that method, NotImplementedError where
    device or layout are to be asked of the class.
    """
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not _C._dispatching_type(cls):
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    if dispatch_device or dispatch_layout:
        raise NotImplementedError(
            "_make_wrapper_subclass: device and layout are those given; a "
            "class is not asked for them"
        )
    if dispatch_sizes_strides_policy not in (None, "sizes", "strides"):
        raise RuntimeError(
            f"Unknown dispatch_sizes_strides_policy: {dispatch_sizes_strides_policy}"
        )
    if layout is not _C.strided:
        raise NotImplementedError(
            f"_make_wrapper_subclass: wrappers are strided, not {layout}"
        )
    made = _C._wrapper_tensor(
        cls,
        size,
        strides,
        storage_offset or 0,
        dtype or get_default_dtype(),
        device or "cpu",
        requires_grad,
    )
    if dispatch_sizes_strides_policy:
        made._asked_for = dispatch_sizes_strides_policy
    return made


def copied(self):
    """A copy of a tensor that keeps its elements itself, as its class makes
    it. RuntimeError if that is of another class.
    """
    with no_grad():
        copy = self.detach().clone()
    if type(copy) is not type(self):
        raise RuntimeError(
            "The default implementation of __deepcopy__() for wrapper "
            "subclasses only works for subclass types that properly implement "
            "clone() and for which clone() returns another instance of the "
            "same subclass. You should either properly implement clone() for "
            "your subclass or override __deepcopy__() if it is intended "
            "behavior for clone() to return an instance of a different type."
        )
    return copy
