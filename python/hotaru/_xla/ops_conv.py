"""Convolutions."""

from __future__ import annotations

import itertools

from .table import row
from .values import Val

# Longer sums take XLA too long to compile.
_TAPS = 49


def _each(value, n: int) -> list[int]:
    """A number for each spatial axis."""
    value = [value] if isinstance(value, int) else list(value)
    return value * n if len(value) == 1 else value


def _written(w, x, weight, groups, **window) -> Val:
    n = x.rank - 2
    axes = ", ".join(map(str, range(n)))
    layout = f"[b, f, {axes}]x[o, i, {axes}]->[b, f, {axes}]"
    stride, pads = window["stride"], window["pads"]
    left, right = window["left"], window["right"]
    shape = [x.shape[0], weight.shape[0]]
    for i in range(n):
        size = (x.shape[i + 2] - 1) * left[i] + 1 + sum(pads[i])
        size -= (weight.shape[i + 2] - 1) * right[i] + 1
        shape.append(size // stride[i] + 1)
    text = (
        f"convolution({w.use(x)}, {w.use(weight)}) dim_numbers = {layout}, "
        f"window = {{stride = {stride}, pad = {pads}, lhs_dilate = {left}, "
        f"rhs_dilate = {right}}} {{batch_group_count = 1 : i64, "
        f"feature_group_count = {groups} : i64}}"
    )
    return w.op(text, (x, weight), shape, x.dtype)


def _with_bias(w, out: Val, bias) -> Val:
    if bias is None:
        return out
    return w.binary("add", out, w.spread(bias, out.shape, [1]))


def _batched(function):
    """Takes inputs without a batch as well."""

    def write(w, input, weight, *args):
        if input.rank == weight.rank:
            return function(w, input, weight, *args)
        out = function(w, w.reshape(input, (1, *input.shape)), weight, *args)
        return w.reshape(out, out.shape[1:])

    return write


@_batched
def _plain(w, x, weight, bias, stride, padding, dilation, groups):
    n = x.rank - 2
    right = _each(dilation, n)
    reach = [(k - 1) * d for k, d in zip(weight.shape[2:], right)]
    if padding == "same":
        pads = [[r // 2, r - r // 2] for r in reach]
    elif padding == "valid":
        pads = [[0, 0]] * n
    else:
        pads = [[p, p] for p in _each(padding, n)]
    stride = _each(stride, n)
    if weight.shape[0] == x.shape[1] == groups > 1 and (
        weight.count // groups <= _TAPS
    ):
        out = _depthwise(w, x, weight, stride, pads, right)
    else:
        out = _written(
            w, x, weight, groups, stride=stride, pads=pads, left=[1] * n, right=right
        )
    return _with_bias(w, out, bias)


def _depthwise(w, x, weight, stride, pads, right) -> Val:
    """As a sum of the moved input, which XLA makes one loop of: its own
    convolutions of many groups took 4 to 20 times as long on the CPU.
    """
    around = [[0, 0], [0, 0], *pads]
    x = w.pad(x, 0, [p[0] for p in around], [p[1] for p in around])
    # Else every term of the sum computes anew what x is made of.
    x = w.unary("optimization_barrier", x)
    kernel, total = weight.shape[2:], None
    shape = [
        (size - (k - 1) * d - 1) // s + 1
        for size, k, d, s in zip(x.shape[2:], kernel, right, stride)
    ]
    for tap in itertools.product(*map(range, kernel)):
        begins = [0, 0, *(t * d for t, d in zip(tap, right))]
        ends = [*x.shape[:2]]
        ends += [b + (n - 1) * s + 1 for b, n, s in zip(begins[2:], shape, stride)]
        part = w.slice(x, begins, ends, [1, 1, *stride])
        factor = w.slice(
            weight, [0, 0, *tap], [*weight.shape[:2], *(t + 1 for t in tap)]
        )
        factor = w.spread(w.reshape(factor, weight.shape[:1]), part.shape, [1])
        part = w.binary("multiply", part, factor)
        total = part if total is None else w.binary("add", total, part)
    return total


@row("conv1d", "conv2d", "conv3d")
def conv(w, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _plain(w, input, weight, bias, stride, padding, dilation, groups)


@_batched
def _transposed(w, x, weight, bias, stride, padding, output_padding, groups, dilation):
    n = x.rank - 2
    right = _each(dilation, n)
    more = _each(output_padding, n)
    pads = [
        [(k - 1) * d - p, (k - 1) * d - p + o]
        for k, d, p, o in zip(weight.shape[2:], right, _each(padding, n), more)
    ]
    # (in, out / groups, ...) as (out, in / groups, ...), turned around.
    inner, outer, *kernel = weight.shape
    apart = (groups, inner // groups, outer, *kernel)
    order = [0, 2, 1, *range(3, n + 3)]
    weight = w.transpose(w.reshape(weight, apart), order)
    weight = w.reshape(weight, (groups * outer, inner // groups, *kernel))
    weight = w.reverse(weight, range(2, n + 2))
    out = _written(
        w,
        x,
        weight,
        groups,
        stride=[1] * n,
        pads=pads,
        left=_each(stride, n),
        right=right,
    )
    return _with_bias(w, out, bias)


@row("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(
    w,
    input,
    weight,
    bias=None,
    stride=1,
    padding=0,
    output_padding=0,
    groups=1,
    dilation=1,
):
    return _transposed(
        w, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@row("convolution", "_convolution")
def convolution(
    w,
    input,
    weight,
    bias,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    benchmark=False,
    deterministic=False,
    cudnn_enabled=True,
    allow_tf32=True,
):
    if transposed:
        return conv_transpose(
            w, input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return conv(w, input, weight, bias, stride, padding, dilation, groups)
