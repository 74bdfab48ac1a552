"""Gradients by sample of convolutions.

Of a sample the weight's gradient is the product of the result's gradient and
the windows of the padded input, summed over places; groups stay apart.
"""

from __future__ import annotations

import functools
import math

from ... import functional as F
from .expanded_weights_impl import implements_per_sample_grads
from .expanded_weights_utils import per_sample

_DIMENSIONS = {F.conv1d: 1, F.conv2d: 2, F.conv3d: 3}


def _convolution(
    function, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1
):
    dims = _DIMENSIONS[function]
    if input.dim() != dims + 2:
        raise RuntimeError(
            "Expanded Weights only support convolution with batched input, got "
            f"{function} with anunbatched input of dim {input.dim()}, expected "
            f"input of dim {dims + 2}"
        )
    step, spread = _each(stride, dims), _each(dilation, dims)
    kernel = weight.shape[2:]

    def of_weight(gradient):
        padded = _padded(input.detach(), padding, kernel, spread)
        windows = _windows(padded, kernel, step, spread)
        samples, places = len(input), math.prod(gradient.shape[2:])
        rows = gradient.reshape(samples, groups, -1, places)
        columns = windows.reshape(samples, groups, -1, places)
        product = rows @ columns.transpose(2, 3)
        return product.reshape(samples, *weight.shape)

    def of_bias(gradient):
        return gradient.flatten(2).sum(2)

    return per_sample(
        function,
        (input, weight, bias, stride, padding, dilation, groups),
        {},
        [(weight, of_weight), (bias, of_bias)],
    )


for _function in _DIMENSIONS:
    implements_per_sample_grads(_function)(functools.partial(_convolution, _function))


def _each(value, dims: int) -> tuple[int, ...]:
    """One number for each dimension of the picture."""
    if isinstance(value, int):
        return (value,) * dims
    return tuple(value) * dims if len(value) == 1 else tuple(value)


def _padded(input, padding, kernel, dilation):
    """The input with the zeros that a convolution sees around it."""
    dims = len(kernel)
    if padding == "valid":
        return input
    if padding == "same":
        sums = [(k - 1) * d for k, d in zip(kernel, dilation)]
        around = [(total // 2, total - total // 2) for total in sums]
    else:
        around = [(width, width) for width in _each(padding, dims)]
    # `pad` takes the last dimension first.
    return F.pad(input, [width for pair in reversed(around) for width in pair])


def _windows(input, kernel, stride, dilation):
    """Windows that places of the result see: ``[N, C, *kernel, *places]``."""
    for i, (size, step, spread) in enumerate(zip(kernel, stride, dilation)):
        # The window becomes the last dimension, so the others keep theirs.
        span = (size - 1) * spread + 1
        input = input.unfold(2 + i, span, step)[..., ::spread]
    dims = len(kernel)
    order = [0, 1, *range(2 + dims, 2 + 2 * dims), *range(2, 2 + dims)]
    return input.permute(order)
