"""Losses."""

from __future__ import annotations

import math

from ... import _C
from .shapes import reshape
from .table import o, part, whole

_NONE, _MEAN, _SUM = 0, 1, 2


def _reduced(x, reduction: int):
    if reduction == _MEAN:
        return o.mean(x)
    return o.sum(x) if reduction == _SUM else x


@part("l1_loss")
def _l1(self, target, reduction=1):
    return _reduced(o.abs(o("sub.Tensor", self, target)), reduction)


@part("kl_div")
def _kl_div(self, target, reduction=1, *, log_target=False):
    if log_target:
        difference = o("sub.Tensor", target, self)
        product = o("mul.Tensor", o.exp(target), difference)
        return _reduced(product, reduction)
    product = o("mul.Tensor", target, self)
    whole_of = o("xlogy.Tensor", target, target)
    return _reduced(o("sub.Tensor", whole_of, product), reduction)


@part("margin_ranking_loss")
def _margin_ranking(input1, input2, target, margin=0.0, reduction=1):
    x = o.neg(o("sub.Tensor", input1, input2))
    x = o("add.Scalar", o("mul.Tensor", x, target), margin)
    return _reduced(o.clamp_min_(x, 0), reduction)


def _margin_of(margin, x):
    """A margin less the tensor, of which nothing under zero is left."""
    made = o.empty_like(x, memory_format=_C.preserve_format)
    return o("sub_.Tensor", o("fill_.Scalar", made, margin), x)


@part("hinge_embedding_loss")
def _hinge(self, target, margin=1.0, reduction=1):
    zeros = o.zeros_like(self, memory_format=_C.contiguous_format)
    near = o.clamp_min_(_margin_of(margin, self), 0)
    one = o("where.self", o("ne.Scalar", target, 1), near, zeros)
    other = o("where.self", o("ne.Scalar", target, -1), self, zeros)
    return _reduced(o("add.Tensor", one, other), reduction)


@part("cosine_embedding_loss")
def _cosine(input1, input2, target, margin=0.0, reduction=1):
    dim = target.dim()
    dot = o("sum.dim_IntList", o("mul.Tensor", input1, input2), [dim])
    sizes = []
    for x in (input1, input2):
        square = o("sum.dim_IntList", o("mul.Tensor", x, x), [dim])
        sizes.append(o("add.Scalar", square, 1e-12))
    size = o.sqrt_(o("mul.Tensor", *sizes))
    cos = o("div.Tensor", dot, size)
    zeros = o.zeros_like(cos, memory_format=_C.contiguous_format)
    same = _margin_of(1, cos)
    other = o.clamp_min_(o("sub.Scalar", cos, margin), 0)
    a = o("where.self", o("eq.Scalar", target, 1), same, zeros)
    b = o("where.self", o("eq.Scalar", target, -1), other, zeros)
    return _reduced(o("add.Tensor", a, b), reduction)


@part("poisson_nll_loss")
def _poisson(input, target, log_input, full, eps, reduction):
    if log_input:
        loss = o("mul.Tensor", target, input)
        loss = o("sub.Tensor", o.exp(input), loss)
    else:
        log = o.log(o("add.Scalar", input, eps))
        loss = o("sub.Tensor", input, o("mul.Tensor", target, log))
    if full:
        rest = o.log(o("mul.Scalar", target, 2 * math.pi))
        rest = o("mul.Scalar", rest, 0.5)
        first = o("mul.Tensor", target, o.log(target))
        first = o("sub.Tensor", first, target)
        term = o("add.Tensor", first, rest)
        small = o("le.Scalar", target, 1)
        term = o("masked_fill.Scalar", term, small, 0)
        loss = o("add_.Tensor", loss, term)
    return _reduced(loss, reduction)


@part("pairwise_distance")
def pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False):
    """The norm of differences along the last dimension."""
    difference = o("add.Scalar", o("sub.Tensor", x1, x2), eps)
    last = max(x1.dim(), x2.dim()) - 1
    return o("norm.ScalarOpt_dim", difference, float(p), [last], keepdim)


@part("triplet_margin_loss")
def _triplet(
    anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction=1
):
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = o.minimum(far, pairwise_distance(positive, negative, p, eps))
    x = o("sub.Tensor", o("add.Scalar", near, margin), far)
    return _reduced(o.clamp_min(x, 0), reduction)


@part("cosine_similarity")
def _similarity(x1, x2, dim=1, eps=1e-08):
    if x1.dtype != x2.dtype or not x1.is_floating_point():
        return whole("cosine_similarity", x1, x2, dim, eps)
    if x1.shape != x2.shape:
        from .shapes import broadcast

        x1, x2 = broadcast([x1, x2])
    norms = [o.clone(o.linalg_vector_norm(x, 2, [dim], True)) for x in (x1, x2)]
    least = o.scalar_tensor(eps, dtype=x1.dtype, device=x1.device)
    norms = [o("clamp_min_.Tensor", norm, least) for norm in norms]
    a, b = (o("div.Tensor", x, n) for x, n in zip((x1, x2), norms))
    return o("sum.dim_IntList", o("mul.Tensor", a, b), [dim])


@part("multilabel_margin_loss")
def _multilabel_margin(self, target, reduction=1):
    return o.multilabel_margin_loss_forward(self, target, reduction)[0]


@part("nll_loss_nd")
def nll_loss_nd(self, target, weight=None, reduction=1, ignore_index=-100):
    """The loss of classes in the second dimension, or the only one."""
    if self.dim() < 3:
        return _nll("nll_loss_forward", self, target, weight, reduction, ignore_index)
    if self.dim() == 4:
        return _nll("nll_loss2d_forward", self, target, weight, reduction, ignore_index)
    if self.shape[1:2] + target.shape[1:] != self.shape[1:]:
        return whole("nll_loss_nd", self, target, weight, reduction, ignore_index)
    n, c = self.shape[:2]
    shape = [n, *self.shape[2:]]
    rest = math.prod(shape[1:])
    wide = [1, rest] if rest else [0, 0]
    x = reshape(self, [n, c, *wide])
    places = reshape(target, [n, *wide])
    loss = _nll("nll_loss2d_forward", x, places, weight, reduction, ignore_index)
    return o.view(loss, shape) if reduction == _NONE else loss


part("nll_loss")(
    lambda self, target, weight=None, reduction=1, ignore_index=-100: _nll(
        "nll_loss_forward", self, target, weight, reduction, ignore_index
    )
)
part("nll_loss2d")(
    lambda self, target, weight=None, reduction=1, ignore_index=-100: _nll(
        "nll_loss2d_forward", self, target, weight, reduction, ignore_index
    )
)


def _nll(name: str, x, target, weight, reduction, ignore_index):
    return o(name, x, target, weight, reduction, ignore_index)[0]


@part("cross_entropy_loss")
def _cross_entropy(
    self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0
):
    dim = 0 if self.dim() == 1 else 1
    given = weight, reduction, ignore_index
    if self.shape == target.shape and target.is_floating_point():
        return _of_probabilities(self, target, dim, *given, label_smoothing)
    if label_smoothing:
        return _smoothed(self, target, dim, *given, label_smoothing)
    return nll_loss_nd(o._log_softmax(self, dim, False), target, *given)


def _of_probabilities(x, target, dim, weight, reduction, ignore, smoothing):
    if smoothing:
        target = o("mul.Scalar", target, 1 - smoothing)
        target = o("add.Scalar", target, smoothing / x.shape[dim])
    logs = o._log_softmax(x, dim, False)
    product = o("mul.Tensor", logs, target)
    if weight is not None:
        shape = [1] * x.dim()
        shape[dim] = weight.shape[0]
        product = o("mul.Tensor", product, o.view(weight, shape))
    if reduction == _NONE:
        return o.neg(o("sum.dim_IntList", product, [dim]))
    loss = o.neg(o.sum(product))
    if reduction == _SUM:
        return loss
    return o("div.Scalar", loss, x.numel() // x.shape[dim])


def _smoothed(x, target, dim, weight, reduction, ignore, smoothing):
    if weight is not None:
        return whole(
            "cross_entropy_loss", x, target, weight, reduction, ignore, smoothing
        )
    logs = o._log_softmax(x, dim, False)
    loss = nll_loss_nd(logs, target, weight, reduction, ignore)
    smooth = o.neg(o("sum.dim_IntList", logs, [dim]))
    mask = o("eq.Scalar", target, ignore)
    smooth = o("masked_fill_.Scalar", smooth, mask, 0.0)
    if reduction == _SUM:
        smooth = o.sum(smooth)
    elif reduction == _MEAN:
        count = o.sum(o.bitwise_not(mask))
        smooth = o("div.Tensor", o.sum(smooth), count)
    loss = o("mul.Scalar", loss, 1 - smoothing)
    smooth = o("mul.Scalar", smooth, smoothing / x.shape[dim])
    return o("add.Tensor", loss, smooth)
