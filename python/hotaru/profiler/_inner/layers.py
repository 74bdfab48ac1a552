"""Layers, and what fills."""

from __future__ import annotations

from .. import _geometry as g
from .._geometry import Given
from .body import CALLS, Body, forward


def _convolution_of(transposed: bool):
    def body(b: Body, x, weight, bias, stride, padding, *rest) -> None:
        if isinstance(padding, str):
            b.call("_convolution_mode", x, weight, bias, stride, padding, *rest)
            return
        if transposed:
            more, groups, dilation = rest
        else:
            (dilation, groups), more = rest, [0] * len(stride)
        given = x
        if x.dim < weight.dim:
            given = b.view("unsqueeze", x, 0)
        inputs = (
            given,
            weight,
            bias,
            stride,
            padding,
            dilation,
            transposed,
            more,
            groups,
        )
        b.call("convolution", *inputs)
        if x.dim < weight.dim:
            b.view("squeeze", _convolved(*inputs), 0)

    return body


def _convolution_mode(
    b: Body, x, weight, bias, stride, padding, dilation, groups
) -> None:
    reach = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
    if padding == "valid":
        reach = [0] * len(reach)
    if any(total % 2 for total in reach):
        return  # padded before, by more on one side
    b.call(
        "convolution",
        x,
        weight,
        bias,
        stride,
        [r // 2 for r in reach],
        dilation,
        False,
        [0] * len(reach),
        groups,
    )


def _convolution(b: Body, *inputs) -> None:
    b.call("_convolution", *inputs, False, False, True, True)


def _convolution_on_cpu(b: Body, x: Given, weight: Given, *inputs) -> None:
    """One of many kernels; of sequences, as an image of one row."""
    if weight.dim == 3:
        b.view("unsqueeze", x, 2)
        b.view("unsqueeze", weight, 2)
        made = _convolved(x, weight, *inputs[:7])
        row = made.like((*made.shape[:2], 1, made.shape[2]))
        b.view("squeeze", row, 2)


def _convolved(
    x, weight, bias, stride, padding, dilation, transposed, more, groups
) -> Given:
    if not transposed:
        sizes = g.convolved_size(x, weight, stride, padding, dilation)
        return x.like((x.shape[0], weight.shape[0], *sizes))
    sizes = []
    for d, size in enumerate(x.shape[2:]):
        reach = dilation[d] * (weight.shape[2 + d] - 1)
        wide = (size - 1) * stride[d] - 2 * padding[d] + reach
        sizes.append(wide + more[d] + 1)
    return x.like((x.shape[0], weight.shape[1] * groups, *sizes))


def _layer_norm(b: Body, x, shape, weight, bias, eps, *_) -> None:
    b.call("native_layer_norm", x, shape, weight, bias, eps)


def _native_layer_norm(b: Body, x: Given, shape: tuple, *_) -> None:
    kept = x.shape[: x.dim - len(shape)]
    count = 1
    for size in kept:
        count *= size
    for _ in ("mean", "rstd"):
        b.as_view(x.like((count,)), *kept, *(1 for _ in shape))


def _group_norm(b: Body, x: Given, groups, weight, bias, eps, *_) -> None:
    batch, channels = x.shape[:2]
    inside = x.numel // max(batch * channels, 1)
    b.call("native_group_norm", x, weight, bias, batch, channels, inside, groups, eps)


def _batch_norm_impl(b: Body, *inputs) -> None:
    b.call("native_batch_norm", *inputs[:-1])


def _instance_norm(
    b: Body, x, weight, bias, mean, var, use_stats, momentum, eps, cudnn
) -> None:
    batch, channels = x.shape[:2]
    flat = b.as_view(x, 1, batch * channels, *x.shape[2:])
    if batch == 1 or all(t is None for t in (weight, bias, mean, var)):
        b.call(
            "batch_norm", flat, weight, bias, mean, var, use_stats, momentum, eps, cudnn
        )
        b.as_view(flat, *x.shape)


def _softmax_of(name: str):
    def body(b: Body, x: Given, dim: int, dtype) -> None:
        if dtype is not None:
            b.call("to", x, dtype, 0, None, None, False, False, None, works=False)
        b.call(name, x, dim, False)

    return body


def _embedding(b: Body, weight: Given, indices: Given, *_) -> None:
    flat = indices
    if indices.dim != 1:
        flat = b.reshape(indices, -1)
    b.call("index_select", weight, 0, flat)
    if indices.dim != 1:
        made = weight.like((flat.shape[0], weight.shape[1]))
        b.as_view(made, *indices.shape, weight.shape[1])


def _dropout(b: Body, x: Given, p: float, train: bool) -> None:
    if train and 0 < p < 1 and x.numel:
        b.call("bernoulli_", x, 1 - p, None)
        b.call("div_", x, 1 - p)
        b.call("mul", x, x)


def _adaptive_avg_pool2d(b: Body, x: Given, size: tuple) -> None:
    if list(size) == [1, 1]:
        b.call("mean", x, [-1, -2], True, None)
    else:
        b.call("_adaptive_avg_pool2d", x, size)


def _relu(b: Body, x: Given) -> None:
    b.call("clamp_min", x, 0)


def _rsub(b: Body, x: Given, other, alpha) -> None:
    if not isinstance(other, Given):
        other = x.like(())
    b.call("sub", other, x, alpha)


def _pad(b: Body, x: Given, pad: tuple, mode: str, value) -> None:
    if mode == "constant":
        b.call("constant_pad_nd", x, pad, float(value or 0))


def _filled_by(name: str, *values):
    def body(b: Body, size, *_) -> None:
        if isinstance(size, Given):  # as in rand_like
            size = size.shape
        b.call(name, Given(tuple(size), g.dense(size)), *values)

    return body


CALLS.update(
    {
        "_batch_norm_impl_index": _batch_norm_impl,
        "_convolution": _convolution_on_cpu,
        "_convolution_mode": _convolution_mode,
        "adaptive_avg_pool2d": _adaptive_avg_pool2d,
        "batch_norm": forward("_batch_norm_impl_index"),
        **{f"conv{n}d": _convolution_of(False) for n in (1, 2, 3)},
        **{f"conv_transpose{n}d": _convolution_of(True) for n in (1, 2, 3)},
        "convolution": _convolution,
        "dropout": _dropout,
        "embedding": _embedding,
        "group_norm": _group_norm,
        "instance_norm": _instance_norm,
        "layer_norm": _layer_norm,
        "log_softmax": _softmax_of("_log_softmax"),
        "max_pool2d": forward("max_pool2d_with_indices"),
        "native_layer_norm": _native_layer_norm,
        "pad": _pad,
        "relu": _relu,
        "rms_norm": forward("_fused_rms_norm"),
        "rsub": _rsub,
        "softmax": _softmax_of("_softmax"),
        **{
            f"{name}{end}": _filled_by(filler, *ends, None)
            for name, filler, *ends in (
                ("rand", "uniform_", 0.0, 1.0),
                ("randn", "normal_", 0.0, 1.0),
            )
            for end in ("", "_like")
        },
    }
)
