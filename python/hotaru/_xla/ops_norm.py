"""Normalization."""

from __future__ import annotations

from .ops_reduce import mean_of
from .table import row
from .values import NotWritten, Val


def _scaled(w, x: Val, weight, bias, dims) -> Val:
    """Times a weight plus a bias, which go along `dims`."""
    if weight is not None:
        x = w.binary("multiply", x, w.spread(weight, x.shape, dims))
    if bias is not None:
        x = w.binary("add", x, w.spread(bias, x.shape, dims))
    return x


def _standard(w, x: Val, dims, eps: float) -> Val:
    """With mean 0 and variance 1 over these dimensions."""
    apart = w.binary("subtract", x, mean_of(w, x, dims))
    spread = mean_of(w, w.binary("multiply", apart, apart), dims)
    scale = w.unary("rsqrt", w.binary("add", spread, eps))
    return w.binary("multiply", apart, scale)


@row("batch_norm")
def batch_norm(
    w,
    input,
    weight,
    bias,
    running_mean,
    running_var,
    training,
    momentum,
    eps,
    cudnn_enabled=True,
):
    if training and running_mean is not None:
        raise NotWritten("in training mode it changes running statistics")
    if training or running_mean is None:
        dims = [d for d in range(input.rank) if d != 1]
        return _scaled(w, _standard(w, input, dims, eps), weight, bias, [1])
    scale = w.unary("rsqrt", w.binary("add", running_var, eps))
    if weight is not None:
        scale = w.binary("multiply", scale, weight)
    shift = w.unary("negate", w.binary("multiply", running_mean, scale))
    if bias is not None:
        shift = w.binary("add", shift, bias)
    return _scaled(w, input, scale, shift, [1])


@row("layer_norm")
def layer_norm(
    w, input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True
):
    dims = list(range(input.rank - len(normalized_shape), input.rank))
    return _scaled(w, _standard(w, input, dims, eps), weight, bias, dims)


@row("rms_norm")
def rms_norm(w, input, normalized_shape, weight=None, eps=None):
    from .. import finfo

    dims = list(range(input.rank - len(normalized_shape), input.rank))
    power = mean_of(w, w.binary("multiply", input, input), dims)
    eps = finfo(input.dtype).eps if eps is None else eps
    scale = w.unary("rsqrt", w.binary("add", power, eps))
    return _scaled(w, w.binary("multiply", input, scale), weight, None, dims)


@row("group_norm")
def group_norm(
    w, input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True
):
    n, channels, *rest = input.shape
    apart = w.reshape(input, (n, num_groups, channels // num_groups, *rest))
    out = _standard(w, apart, list(range(2, apart.rank)), eps)
    return _scaled(w, w.reshape(out, input.shape), weight, bias, [1])


@row("instance_norm")
def instance_norm(
    w,
    input,
    weight,
    bias,
    running_mean,
    running_var,
    use_input_stats,
    momentum,
    eps,
    cudnn_enabled=True,
):
    if not use_input_stats:
        return batch_norm(
            w, input, weight, bias, running_mean, running_var, False, momentum, eps
        )
    if running_mean is not None:
        raise NotWritten("it changes running statistics")
    out = _standard(w, input, list(range(2, input.rank)), eps)
    return _scaled(w, out, weight, bias, [1])
