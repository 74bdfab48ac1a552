"""Derivatives of operators that are linear in whole tensors: what comes in
passes with elements that the tensor itself does not keep, and strided.
"""

from __future__ import annotations

from typing import Callable

from .. import _C
from .._C import Tensor
from ..autograd import Function
from ..autograd.forward_ad import refuse_tangents


def linear(function: Callable, back: Callable, *tensors: Tensor) -> Tensor:
    """function(*tensors), whose derivatives are `back(grad)`: one of each
    tensor, or one where there is one tensor.

    Both are called without recording, `back` with it where second derivatives
    are wanted; it must not use what `function` changes later.
    """
    refuse_tangents("sparse", *tensors)
    if _C.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return _Linear.apply(function, back, *tensors)
    return function(*tensors)


class _Linear(Function):
    @staticmethod
    def forward(ctx, function, back, *tensors):
        ctx.back = back
        return function(*(t.detach() for t in tensors))

    @staticmethod
    def backward(ctx, grad):
        found = ctx.back(grad)
        if not isinstance(found, tuple):
            found = (found,)
        return None, None, *found


def bilinear(function: Callable, back: Callable, a: Tensor, b: Tensor) -> Tensor:
    """function(a, b), whose derivatives are `back(grad, a, b)`: a pair."""
    refuse_tangents("sparse", a, b)
    if _C.is_grad_enabled() and (a.requires_grad or b.requires_grad):
        return _Bilinear.apply(function, back, a, b)
    return function(a, b)


class _Bilinear(Function):
    @staticmethod
    def forward(ctx, function, back, a, b):
        ctx.back = back
        ctx.save_for_backward(a, b)
        return function(a.detach(), b.detach())

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        need = ctx.needs_input_grad[2:]
        return None, None, *ctx.back(grad, a, b, need)
