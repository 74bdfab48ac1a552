"""Operators without derivatives of their own: nothing happens, or a warning
where a backward pass comes by.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

from .. import _C, Tensor, is_grad_enabled
from ..autograd.function import Function

_WARNING = (
    "{}: an autograd kernel was not registered to the Autograd key(s) but we "
    "are trying to backprop through it. This may lead to silently incorrect "
    "behavior. This behavior is deprecated and will be removed in a future "
    "version of PyTorch. If your operator is differentiable, please ensure "
    "you have registered an autograd kernel to the correct Autograd key (e.g. "
    "DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your "
    "operator is not differentiable, or to squash this warning and use the "
    "previous behavior, please register "
    "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd."
)
_MODES = ("nothing", "warn", "error")


def get_mode() -> str:
    """The mode, "nothing" or "warn", for all threads."""
    return "warn" if _C._warns_without_derivative() else "nothing"


def set_mode(mode: str) -> None:
    """Sets what `get_mode` returns; RuntimeError for another mode."""
    if mode not in _MODES[:2]:
        raise RuntimeError(f"Unsupported AutogradFallbackMode: {mode}")
    _C._set_warns_without_derivative(mode == "warn")


class WarnNotImplemented(Function):
    """The history of a result whose derivative nobody knows."""

    @staticmethod
    def forward(ctx, name: str, result: Tensor, *inputs: Tensor):
        ctx.operator = name
        ctx.count = len(inputs)
        ctx.set_materialize_grads(False)
        return result.view_as(result)

    @staticmethod
    def backward(ctx, grad):
        _warn(ctx.operator)
        return (None,) * (2 + ctx.count)


def _warn(name: str) -> None:
    warnings.warn(_WARNING.format(name), UserWarning, stacklevel=2)


def run(operator, tensors: list[Tensor], below: Callable):
    """Calls `below`; what it returns warns in a backward pass if the mode is
    "warn" and an input requires grad.
    """
    watched = get_mode() == "warn" and any(t.requires_grad for t in tensors)
    watched = watched and is_grad_enabled()
    result = below()
    if not watched or result is None:
        return result
    returns = operator.schema.returns
    if len(returns) == 1:
        return _noted(operator.name, result, returns[0], tensors)
    return tuple(
        _noted(operator.name, value, declared, tensors)
        for value, declared in zip(result, returns)
    )


def _noted(name: str, value, declared, tensors: list[Tensor]):
    if isinstance(value, list):
        return [_noted(name, v, declared, tensors) for v in value]
    if not isinstance(value, Tensor):
        return value
    if not (value.is_floating_point() or value.is_complex()):
        return value
    if value.requires_grad:
        value.register_hook(lambda grad: _warn(name))
        base = value._base if declared.is_write else None
        if base is not None and base.requires_grad:
            base.register_hook(lambda grad: _warn(name))
        return value
    if declared.is_write:
        return value
    inputs = [t for t in tensors if t.requires_grad]
    return WarnNotImplemented.apply(name, value, *inputs)
