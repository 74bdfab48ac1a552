"""Gradients of convolutions, by themselves.

All take the sizes of what the gradient is for, the other operand and the
gradient of the result; options as in `functional.conv1d`, ….
"""

from __future__ import annotations

from .. import Tensor, enable_grad, is_grad_enabled
from .. import autograd as _autograd
from ..ops import conv1d, conv2d, conv3d

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]


def _gradient(convolve, sizes, other, grad_output, options, of_input: bool):
    """The gradient for one operand: convolutions are linear in each, so its
    values do not matter.
    """
    unknown = grad_output.new_zeros(tuple(sizes)).requires_grad_()
    with enable_grad():
        pair = (unknown, other) if of_input else (other, unknown)
        result = convolve(*pair, None, *options)
    (found,) = _autograd.grad(
        result, unknown, grad_output, create_graph=is_grad_enabled()
    )
    return found


def conv1d_input(
    input_size,
    weight: Tensor,
    grad_output: Tensor,
    stride=1,
    padding=0,
    dilation=1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv1d` for its input."""
    options = (stride, padding, dilation, groups)
    return _gradient(conv1d, input_size, weight, grad_output, options, True)


def conv1d_weight(
    input: Tensor,
    weight_size,
    grad_output: Tensor,
    stride=1,
    padding=0,
    dilation=1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv1d` for its weight."""
    options = (stride, padding, dilation, groups)
    return _gradient(conv1d, weight_size, input, grad_output, options, False)


def conv2d_input(
    input_size,
    weight: Tensor,
    grad_output: Tensor,
    stride=1,
    padding=0,
    dilation=1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv2d` for its input."""
    options = (stride, padding, dilation, groups)
    return _gradient(conv2d, input_size, weight, grad_output, options, True)


def conv2d_weight(
    input: Tensor,
    weight_size,
    grad_output: Tensor,
    stride=1,
    padding=0,
    dilation=1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv2d` for its weight."""
    options = (stride, padding, dilation, groups)
    return _gradient(conv2d, weight_size, input, grad_output, options, False)


def conv3d_input(
    input_size,
    weight: Tensor,
    grad_output: Tensor,
    stride=1,
    padding=0,
    dilation=1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv3d` for its input."""
    options = (stride, padding, dilation, groups)
    return _gradient(conv3d, input_size, weight, grad_output, options, True)


def conv3d_weight(
    input: Tensor,
    weight_size,
    grad_output: Tensor,
    stride=1,
    padding=0,
    dilation=1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv3d` for its weight."""
    options = (stride, padding, dilation, groups)
    return _gradient(conv3d, weight_size, input, grad_output, options, False)
