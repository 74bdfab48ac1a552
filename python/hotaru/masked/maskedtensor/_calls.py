"""Who answers which function of a MaskedTensor, by its name."""

from __future__ import annotations

from ... import _C
from ..._C import ops
from . import binary, passthrough, reductions, unary
from .core import MaskedTensor, data_of, mask_of, wrap


def answer(function, args, kwargs):
    """What the function gives; TypeError where masks mean nothing to it."""
    name = function.__name__
    if name == "backward":
        # Not below: sparse gradients are answered by a subclass of tensors.
        return _backward(function, *args, **kwargs)
    with _C.DisableTorchFunctionSubclass():
        if any(isinstance(x, MaskedTensor) and x.is_sparse for x in args):
            from . import sparse_layouts

            found = sparse_layouts.answer(function, args, kwargs)
            if found is NotImplemented:
                raise _unknown(name)
            return found
        if name in ("__get__", "__set__", "__delete__"):
            return _attribute(function, *args)
        if name in binary.SLOTS:
            # Reflected ones are of functions that may be swapped.
            operator = getattr(ops, binary.SLOTS[name])
            return binary.binary(operator, *args, **kwargs)
        handler = _HANDLERS.get(name)
        if handler is not None:
            return handler(function, *args, **kwargs)
        if name in _ABOUT:
            return function(*args, **kwargs)
    raise _unknown(name)


def _unknown(name: str) -> TypeError:
    return TypeError(
        f"Multiple dispatch failed for 'torch._ops.aten.{name}.default'; all "
        "__torch_dispatch__ handlers returned NotImplemented:\n\n  - tensor "
        f"subclass {MaskedTensor}\n\nFor more information, try re-running with "
        "TORCH_LOGS=not_implemented"
    )


def _attribute(accessor, self, *rest):
    name = accessor.__self__.__name__
    if name in passthrough.PASSTHROUGH_ATTRIBUTES:
        return passthrough.passthrough(accessor, self, *rest)
    if name == "T":
        return passthrough.passthrough(ops.t, self)
    if name in ("grad", "data"):
        found = accessor(self, *(data_of(x) for x in rest))
        return None if found is None else wrap(found, mask_of(self))
    return accessor(self, *rest)


def _alike(function, input, **kwargs):
    return wrap(function(data_of(input), **kwargs), mask_of(input))


def _itself(function, input):
    return input


def _type(function, input, dtype=None, *args, **kwargs):
    if dtype is None:
        return function(data_of(input))
    return unary.cast(function, input, dtype, *args, **kwargs)


def _of_data(function, input):
    return function(data_of(input))


def _item(function, input):
    if not bool(mask_of(input)):
        raise ValueError(
            "__torch_dispatch__, aten._local_scalar_dense: expected a mask "
            "tensor"
        )
    return function(data_of(input))


def _backward(function, input, gradient=None, *args, **kwargs):
    return function(data_of(input), data_of(gradient), *args, **kwargs)


def _is_same_size(function, input, other):
    return function(data_of(input), data_of(other))


_HANDLERS = {
    **dict.fromkeys(unary.UNARY_NAMES, unary.unary),
    **dict.fromkeys(unary.INPLACE_UNARY_NAMES, unary.unary),
    **dict.fromkeys(binary.BINARY_NAMES, binary.binary),
    **dict.fromkeys(binary.INPLACE_BINARY_NAMES, binary.binary),
    **dict.fromkeys(reductions.REDUCE_NAMES, reductions.reduce),
    **dict.fromkeys(passthrough.PASSTHROUGH_NAMES, passthrough.passthrough),
    **dict.fromkeys(unary.CAST_NAMES, unary.cast),
    **dict.fromkeys(["clone", "detach", "ones_like"], _alike),
    **dict.fromkeys(
        ["item", "__bool__", "__float__", "__int__", "__index__"], _item
    ),
    **dict.fromkeys(["conj", "resolve_conj", "resolve_neg"], _itself),
    "_storage_type": _of_data,
    "cpu": unary.cast,
    "_type": _type,
    "softmax": unary.softmax,
    "storage_type": _of_data,
    "type": _type,
    "where": binary.where,
    "copy_": binary.copy_,
    "is_same_size": _is_same_size,
    "__pow__": lambda _, *args: unary.unary(ops.pow, *args),
    "__ipow__": lambda _, *args: unary.unary(ops.pow_, *args),
    "__neg__": lambda _, *args: unary.unary(ops.neg, *args),
    "__abs__": lambda _, *args: unary.unary(ops.abs, *args),
    "__invert__": lambda _, *args: unary.unary(ops.bitwise_not, *args),
}

#: Functions that say something of the tensor as a whole, or return it.
_ABOUT = {
    "__hash__", "__len__", "data_ptr", "dim", "dim_order", "element_size",
    "get_device", "has_names", "is_complex", "is_conj", "is_contiguous",
    "is_distributed", "is_floating_point", "is_inference", "is_neg",
    "is_nonzero", "is_shared", "is_signed", "ndimension", "nelement", "numel",
    "register_hook", "register_post_accumulate_grad_hook", "requires_grad_",
    "retain_grad", "size", "storage_offset", "stride",
}  # fmt: skip

MaskedTensor._answer = staticmethod(answer)
