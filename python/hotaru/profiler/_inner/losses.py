"""Means, and the losses that end with one."""

from __future__ import annotations

from ... import _C
from .._geometry import Given
from .body import CALLS, Body, broadcast, forward


def _mean(b: Body, x: Given, *inputs) -> None:
    dims, keepdim, dtype = [], False, inputs[0]
    if len(inputs) > 1:
        dims, keepdim, dtype = inputs[:3]
        dims = dims or []
    chosen = {d % max(x.dim, 1) for d in dims} or set(range(x.dim))
    left, count = [], 1
    for d, size in enumerate(x.shape):
        if d not in chosen:
            left.append(size)
            continue
        count *= size
        if keepdim:
            left.append(1)
    code = dtype if dtype is not None else _C._dtype_number(x.dtype)
    made = x.like(left)
    b.call("sum", x, dims, keepdim, code, made)
    b.call("div_", made, count)


_MEAN, _SUM = 1, 2  # of what losses call `reduction`


def _reduced(b: Body, x: Given, reduction: int, *, inside: bool) -> None:
    """The mean or sum; `inside` of it the loss is written."""
    name = {_MEAN: "mean", _SUM: "sum"}.get(reduction)
    if name is not None:
        written = ([], False, None, x.like(()))
        b.call(name, x, *(written if inside else (None,)))


def _mse_loss(b: Body, x: Given, y: Given, reduction: int, *_) -> None:
    wide = x.like(broadcast(x.shape, y.shape))
    _reduced(b, wide, reduction, inside=True)


def _huber_loss(b: Body, x: Given, y: Given, reduction: int, *_) -> None:
    wide = x.like(broadcast(x.shape, y.shape))
    _reduced(b, wide, reduction, inside=False)


def _l1_loss(b: Body, x: Given, y: Given, reduction: int) -> None:
    wide = x.like(broadcast(x.shape, y.shape))
    b.call("sub", x, y, 1)
    b.call("abs", wide)
    _reduced(b, wide, reduction, inside=False)


def _kl_div(b: Body, x: Given, y: Given, reduction, log_target) -> None:
    wide = x.like(broadcast(x.shape, y.shape))
    if log_target:
        b.call("exp", y)
        b.call("sub", y, x, 1)
        b.call("mul", y, wide)
    else:
        b.call("mul", y, x)
        b.call("xlogy", y, y)
        b.call("sub", wide, wide, 1)
    _reduced(b, wide, reduction, inside=False)


def _binary_cross_entropy(b: Body, x: Given, y, weight, reduction) -> None:
    for tensor in (x, y, x):
        b.view("squeeze", tensor)
    _reduced(b, x, reduction, inside=False)


def _with_logits(b: Body, x: Given, y: Given, *inputs) -> None:
    weight, by_sign, reduction = inputs
    if weight is not None or by_sign is not None:
        return
    b.call("log_sigmoid", x)
    b.call("sub_", x, y, 1)
    b.call("mul_", x, x)
    b.call("sub_", x, x, 1)
    _reduced(b, x, reduction, inside=False)


def _cross_entropy(
    b: Body, x: Given, target: Given, weight, reduction, ignored, smoothing
) -> None:
    dim = 0 if x.dim == 1 else 1
    b.call("log_softmax", x, dim, _C._dtype_number(x.dtype))
    if x.shape != target.shape:
        b.call("nll_loss_nd", x, target, weight, reduction, ignored)
        return
    b.call("mul", x, target)
    if weight is None and smoothing == 0 and reduction == _MEAN:
        b.call("sum", x, None)
        b.call("neg", x.like(()))
        b.call("div", x.like(()), x.numel // max(x.shape[dim], 1))


def _nll_loss_nd(b: Body, x: Given, target: Given, *inputs) -> None:
    if x.dim <= 2:
        b.call("nll_loss", x, target, *inputs)
        return
    if x.dim != 4:
        x = b.as_view(x, *x.shape[:2], 1, -1)
        target = b.as_view(target, target.shape[0], 1, -1)
    b.call("nll_loss2d", x, target, *inputs)


CALLS.update(
    {
        "binary_cross_entropy": _binary_cross_entropy,
        "binary_cross_entropy_with_logits": _with_logits,
        "cross_entropy_loss": _cross_entropy,
        "huber_loss": _huber_loss,
        "kl_div": _kl_div,
        "l1_loss": _l1_loss,
        "log_sigmoid": forward("log_sigmoid_forward"),
        "mean": _mean,
        "mse_loss": _mse_loss,
        "nll_loss": forward("nll_loss_forward"),
        "nll_loss2d": forward("nll_loss2d_forward"),
        "nll_loss_nd": _nll_loss_nd,
        "smooth_l1_loss": _mse_loss,
    }
)
