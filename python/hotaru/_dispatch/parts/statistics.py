"""Means, spreads, quantiles, sums of neighbours."""

from __future__ import annotations

from ... import _C
from .pieces import number
from .shapes import broadcast, cut, flatten
from .table import changed, end, o, part, whole


def _spread(name: str):
    def all_of(self, unbiased=True):
        given = {} if unbiased else {"correction": 0}
        return o(f"{name}.correction", self, **given)

    def some(self, dim=None, unbiased=None, keepdim=False, *, out=None):
        how = {"keepdim": keepdim, "out": out}
        if dim is not None or unbiased is not None:
            how["correction"] = 0 if unbiased is False else 1
        return end(f"{name}.correction", self, dim, **how)

    part(f"{name}.default")(all_of)
    part(f"{name}.dim")(some)


for _name in ("std", "var", "std_mean", "var_mean"):
    _spread(_name)


@part("nanmean")
def _nanmean(self, dim=None, keepdim=False, *, dtype=None, out=None):
    given = {} if dtype is None else {"dtype": dtype}
    counted = self if out is not None else o.detach(self)
    there = o.logical_not_(o("ne.Tensor", counted, counted))
    factor = o("sum.dim_IntList", there, dim, keepdim)
    total = end("nansum", self, dim, keepdim, out=out, **given)
    if out is not None:
        return o("div_.Tensor", total, factor)
    return o("div.Tensor", total, factor)


def _steps(x, dim):
    before = cut(x, dim, 0, -1)
    return o("sub.Tensor", o("slice.Tensor", x, dim, 1), before)


def _pairs(y, dim):
    before = cut(y, dim, 0, -1)
    return o("add.Tensor", o("slice.Tensor", y, dim, 1), before)


def _same_dims(x, y, dim):
    if x.dim() == 1:
        shape = [1] * y.dim()
        shape[dim] = x.shape[0]
        return o.view(x, shape)
    if x.dim() < y.dim():
        return o.view(x, [1] * (y.dim() - x.dim()) + list(x.shape))
    return x


@part("trapezoid.x")
def _trapezoid_x(y, x, *, dim=-1):
    if y.shape[dim] == 0:
        return whole("trapezoid.x", y, x, dim=dim)
    x = _same_dims(x, y, dim % y.dim())
    product = o("mul.Tensor", _steps(x, dim), _pairs(y, dim))
    return o("div.Scalar", o("sum.dim_IntList", product, [dim]), 2.0)


@part("trapezoid.dx")
def _trapezoid_dx(y, *, dx=1, dim=-1):
    if y.shape[dim] == 0:
        return whole("trapezoid.dx", y, dx=dx, dim=dim)
    return whole("trapezoid.dx", y, dx=dx, dim=dim)


@part("cumulative_trapezoid.x")
def _cumulative_x(y, x, *, dim=-1):
    x = _same_dims(x, y, dim % y.dim())
    product = o("mul.Tensor", _steps(x, dim), _pairs(y, dim))
    return o("div.Scalar", o.cumsum(product, dim), 2.0)


@part("cdist")
def _cdist(x1, x2, p=2, compute_mode=None):
    mode = 0 if compute_mode is None else compute_mode
    return o._cdist_forward(x1, x2, p, mode)


part("pdist")(lambda self, p=2: o._pdist_forward(self, p))


def _surely(x):
    """The question by which PyTorch makes sure of something."""
    ones = o.new_ones(x, [], dtype=_C.bool, layout=_C.strided, device=x.device)
    return o.equal(x, ones)


@part("cov")
def cov(self, *, correction=1, fweights=None, aweights=None):
    """How rows vary together."""
    x = self if self.dim() == 2 else o.view(self, [1, -1])
    if fweights is not None:
        return whole(
            "cov", self, correction=correction, fweights=fweights, aweights=aweights
        )
    weights = aweights
    if weights is not None:
        _surely(o("ge.Scalar", o.min(weights), 0))
        total = o.sum(weights)
        _surely(o("ne.Scalar", total, 0))
        mean = o("sum.dim_IntList", o("mul.Tensor", x, weights), [1])
    else:
        total = number(x.shape[1], x, _C.int64)
        mean = o("sum.dim_IntList", x, [1])
    mean = o("div.Tensor", mean, total)
    if weights is not None and correction != 0:
        squares = o.sum(o("mul.Tensor", weights, weights))
        less = o("div.Tensor", o("mul.Scalar", squares, correction), total)
        norm = o("sub.Tensor", total, less)
    elif weights is not None:
        norm = total
    else:
        norm = number(x.shape[1] - correction, x, _C.int64)
    _surely(o("le.Scalar", norm, 0))
    x = o("sub.Tensor", x, o.unsqueeze(mean, 1))
    y = x if weights is None else o("mul.Tensor", x, weights)
    turned = o.t(y)
    if self.is_complex():
        turned = o._conj(turned)
    return o.squeeze(o("div.Tensor", o.mm(x, turned), norm))


_RANKS = {"lower": "floor_", "higher": "ceil_", "nearest": "round_"}


def _quantile(without_nan: bool):
    def quantile(self, q, dim=None, keepdim=False, *, interpolation="linear"):
        name = "nanquantile" if without_nan else "quantile"
        ways = interpolation in (*_RANKS, "linear", "midpoint")
        if not 0 <= q <= 1 or not ways or not self.numel():
            return whole(
                f"{name}.scalar", self, q, dim, keepdim, interpolation=interpolation
            )
        share = number(q, self, self.dtype)
        rows = _sorted_rows(self, dim, keepdim)
        ranks = _ranks(rows, share, without_nan)
        if interpolation in _RANKS:
            ranks = o(_RANKS[interpolation], ranks)
        below = _as_places(ranks)
        values = o.gather(rows, -1, below)
        if interpolation not in _RANKS:
            if interpolation == "midpoint":
                weights = o.full_like(ranks, 0.5)
            else:
                weights = o("sub.Tensor", ranks, below)
            above = _as_places(o.ceil_(ranks))
            above = o.gather(rows, -1, above)
            values = o("lerp_.Tensor", values, above, weights)
        return changed("squeeze_.dim", values, -1)

    return quantile


def _sorted_rows(x, dim, keepdim: bool):
    """The elements in order, along the last dimension of a view."""
    shape = list(x.shape)
    if dim is None:
        rows = o.sort(flatten(x))[0]
        shape = [1] * x.dim() if keepdim else []
    else:
        place = dim % max(x.dim(), 1)
        if place == x.dim() - 1:
            rows = o.sort(x)[0]
        else:
            wide = o("transpose.int", o.unsqueeze(x, -1), place, -1)
            rows = o.sort(wide)[0]
        if shape:
            shape[place : place + 1] = [1] if keepdim else []
    return o.view(rows, [*shape, rows.shape[-1]])


def _ranks(rows, share, without_nan: bool):
    if without_nan:
        there = o.logical_not_(o.isnan(rows))
        last = o("sub.Scalar", o("sum.dim_IntList", there, [-1], True), 1)
        ranks = o("mul.Tensor", share, last)
        return o("masked_fill_.Scalar", ranks, o("lt.Scalar", ranks, 0), 0)
    last = rows.shape[-1] - 1
    ranks = o("mul.Scalar", share, last)
    mask = o("any.dim", o.isnan(rows), -1, True)
    ranks, mask = broadcast([ranks, mask])
    return o("masked_fill.Scalar", ranks, mask, last)


def _as_places(ranks):
    return o._to_copy(ranks, dtype=_C.int64, layout=ranks.layout, device=ranks.device)


part("quantile.scalar")(_quantile(False))
part("nanquantile.scalar")(_quantile(True))


@part("corrcoef")
def _corrcoef(self):
    found = cov(self)
    if found.dim() == 0:
        return o("div.Tensor", found, found)
    spread = o.diagonal(found)
    if spread.is_complex():
        spread = o("select.int", o.view_as_real(spread), -1, 0)
    spread = o.sqrt(spread)
    found = o("div.Tensor", found, o.unsqueeze(spread, 1))
    found = o("div.Tensor", found, o.unsqueeze(spread, 0))
    if found.is_complex():
        return whole("corrcoef", self)
    return o.clamp(found, -1, 1)


@part("diff")
def _diff(self, n=1, dim=-1, prepend=None, append=None):
    if n == 0:
        return o.copy_(o.zeros_like(self), self)
    if prepend is not None or append is not None:
        given = [t for t in (prepend, self, append) if t is not None]
        self = o.cat(given, dim)
    count = min(n, self.shape[dim])
    name = "logical_xor" if self.dtype == _C.bool else "sub.Tensor"
    for _ in range(count):
        size = self.shape[dim]
        self = o(name, cut(self, dim, 1, size), cut(self, dim, 0, size - 1))
    return self
