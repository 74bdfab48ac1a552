"""Kullback-Leibler divergences, by the types of the two distributions.

KL(p || q) is the mean of log p - log q under p. Pairs of one family have
their closed form. Those of two families are -entropy(p) - E_p[log q], where
log q is made of few statistics whose means under p are in tables: a pair is
a row of `_MEAN_OF_LOG`, and infinite where q is 0 for what p can be. (PyTorch
has continuous Bernoulli and a uniform on no less than [0, 1] as infinite, too.)
"""

from __future__ import annotations

import math
import warnings

import hotaru as torch

from .. import Tensor, inf
from ..nn.functional import softplus
from ._binary import Bernoulli, Binomial, Geometric, Poisson
from ._bounded import ContinuousBernoulli, Exponential, Uniform
from ._categorical import Categorical, OneHotCategorical
from ._gamma import Beta, Dirichlet, Gamma
from ._gaussian import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    log_diagonal,
    squared_distance,
)
from ._positive import Gumbel, HalfNormal, Pareto
from ._real import Cauchy, Laplace, Normal
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .independent import Independent
from .transformed_distribution import TransformedDistribution
from .utils import _sum_rightmost, euler_constant

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict = {}  # (type of p, type of q) -> function
_KL_MEMOIZE: dict = {}  # found for types that are not registered themselves


def register_kl(type_p: type, type_q: type):
    """A decorator: the function is KL(p || q) of those types and derived ones.

    Where several pairs fit, the one nearest to the arguments' types is used.
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        # Not only this module's: Pyro has distributions of another base.
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a class but got {kind}")

    def register(function):
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return register


def _dispatch_kl(type_p: type, type_q: type):
    """The function registered for bases as near as possible."""
    rank_p = {base: i for i, base in enumerate(type_p.__mro__)}
    rank_q = {base: i for i, base in enumerate(type_q.__mro__)}
    fitting = [k for k in _KL_REGISTRY if k[0] in rank_p and k[1] in rank_q]
    if not fitting:
        return NotImplemented
    by_p = min(fitting, key=lambda k: (rank_p[k[0]], rank_q[k[1]]))
    by_q = min(fitting, key=lambda k: (rank_q[k[1]], rank_p[k[0]]))
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """KL(p || q), of the batch shape. NotImplementedError where not known."""
    types = type(p), type(q)
    function = _KL_MEMOIZE.get(types)
    if function is None:
        function = _KL_MEMOIZE[types] = _dispatch_kl(*types)
    if function is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {types[0].__name__} and "
            f"q type {types[1].__name__}"
        )
    return function(p, q)


# Statistics: E[log x], and E[exp(-x / scale)], of what p draws.


def _mean_of_log_between(low: Tensor, high: Tensor, width: Tensor) -> Tensor:
    """E[log x] between positive limits, which may round to the same number."""
    zero = low == 0
    divisor = low.masked_fill(zero, 1)
    below = torch.where(
        zero, -torch.special.xlogy(low, low), low * (width / divisor).log1p()
    )
    return high.log() + below / width - 1


_LOG = {
    Beta: lambda p: (
        torch.digamma(p.concentration1)
        - torch.digamma(p.concentration1 + p.concentration0)
    ),
    Exponential: lambda p: -p.rate.log() - euler_constant,
    Gamma: lambda p: torch.digamma(p.concentration) - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _mean_of_log_between(p.low, p.high, p.high - p.low),
}
_DECAY = {
    Exponential: lambda p, scale: p.rate / (p.rate + scale.reciprocal()),
    Gamma: lambda p, scale: (1 + (p.rate * scale).reciprocal()).pow(-p.concentration),
    Normal: lambda p, scale: torch.exp(-p.loc / scale + 0.5 * (p.scale / scale).pow(2)),
    Uniform: lambda p, scale: (
        (torch.exp(-p.low / scale) - torch.exp(-p.high / scale))
        * scale
        / (p.high - p.low)
    ),
}


def _of_family(table: dict, p: Distribution):
    return next(table[base] for base in type(p).__mro__ if base in table)


def _log_gamma(p, q: Gamma) -> Tensor:
    return (
        q.concentration * q.rate.log()
        - q.concentration.lgamma()
        + (q.concentration - 1) * _of_family(_LOG, p)(p)
        - q.rate * p.mean
    )


def _log_normal(p, q: Normal) -> Tensor:
    spread = p.variance + (p.mean - q.loc).pow(2)
    log_scale = q.scale.log() + 0.5 * math.log(2 * math.pi)
    return -log_scale - 0.5 * spread / q.scale.pow(2)


def _log_gumbel(p, q: Gumbel) -> Tensor:
    decay = torch.exp(q.loc / q.scale) * _of_family(_DECAY, p)(p, q.scale)
    return -q.scale.log() - (p.mean - q.loc) / q.scale - decay


def _log_laplace(p: Normal, q: Laplace) -> Tensor:
    off, scale = p.loc - q.loc, p.scale
    # The mean of a folded normal.
    distance = scale * math.sqrt(2 / math.pi) * torch.exp(
        -0.5 * (off / scale).pow(2)
    ) + off * torch.erf(math.sqrt(0.5) * off / scale)
    return -distance / q.scale - torch.log(2 * q.scale)


def _log_beta(p: Uniform, q: Beta) -> Tensor:
    log_other = _mean_of_log_between(1 - p.high, 1 - p.low, p.high - p.low)
    c1, c0 = q.concentration1, q.concentration0
    return (
        (c1 - 1) * _LOG[Uniform](p)
        + (c0 - 1) * log_other
        + (c1 + c0).lgamma()
        - c1.lgamma()
        - c0.lgamma()
    )


# E_p[log q] by the family of q, and the families of p it is known for.
_MEAN_OF_LOG = {
    Exponential: (
        lambda p, q: q.rate.log() - q.rate * p.mean,
        (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform),
    ),
    Gamma: (_log_gamma, (Beta, Exponential, Pareto, Uniform)),
    Normal: (
        _log_normal,
        (
            Beta,
            ContinuousBernoulli,
            Exponential,
            Gamma,
            Gumbel,
            Laplace,
            Pareto,
            Uniform,
        ),
    ),
    Gumbel: (_log_gumbel, (Exponential, Gamma, Normal, Uniform)),
    Laplace: (_log_laplace, (Normal,)),
    Beta: (_log_beta, (Uniform,)),
    ContinuousBernoulli: (
        lambda p, q: p.mean * q.logits + torch.log1p(-q.probs) + q._log_norm(),
        (Beta, Uniform),
    ),
    Uniform: (lambda p, q: -q._log_width(), (Beta, ContinuousBernoulli)),
    Pareto: (
        lambda p, q: (
            q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _LOG[Uniform](p)
        ),
        (Uniform,),
    ),
    Poisson: (lambda p, q: torch.special.xlogy(p.probs, q.rate) - q.rate, (Bernoulli,)),
}
# Least and greatest value, of families that have both or one.
_ENDS = {
    Beta: lambda d: (0.0, 1.0),
    ContinuousBernoulli: lambda d: (0.0, 1.0),
    Exponential: lambda d: (0.0, inf),
    Gamma: lambda d: (0.0, inf),
    Pareto: lambda d: (d.scale, inf),
    Uniform: lambda d: (d.low, d.high),
    Distribution: lambda d: (-inf, inf),
}
# p can always be what q cannot.
_ALWAYS_OUTSIDE = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Uniform, Pareto, ContinuousBernoulli, Beta),
    Gamma: (Uniform, Pareto, ContinuousBernoulli, Beta),
    Pareto: (Uniform, ContinuousBernoulli, Beta),
    Poisson: (Binomial, Bernoulli),
    **dict.fromkeys(
        (Gumbel, Laplace, Normal),
        (Uniform, Pareto, Gamma, Exponential, ContinuousBernoulli, Beta),
    ),
}


def _infinite_where(outside, kl: Tensor) -> Tensor:
    return torch.where(outside, inf, kl) if torch.is_tensor(outside) else kl


def _register_across() -> None:
    """The pairs of two families."""

    def across(type_p, type_q, mean_of_log) -> None:
        @register_kl(type_p, type_q)
        def kl(p, q):
            low_p, high_p = _of_family(_ENDS, p)(p)
            low_q, high_q = _of_family(_ENDS, q)(q)
            result = -p.entropy() - mean_of_log(p, q)
            result = _infinite_where(low_p < low_q, result)
            return _infinite_where(high_p > high_q, result)

    for type_q, (mean_of_log, types) in _MEAN_OF_LOG.items():
        for type_p in types:
            across(type_p, type_q, mean_of_log)
    for type_p, types in _ALWAYS_OUTSIDE.items():
        for type_q in types:
            register_kl(type_p, type_q)(lambda p, q: torch.full_like(p.mean, inf))


_register_across()


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p, q) -> Tensor:
    """The Bregman divergence of the log normalizer (Nielsen, Nock 2010)."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families "
            "cannot" + 29 * " " + "be computed using Bregman divergences"
        )
    params_p, normalizer, means = p._expected_statistics()
    params_q = q._natural_params
    result = q._log_normalizer(*params_q) - normalizer
    for at_p, at_q, mean in zip(params_p, params_q, means):
        term = (at_q - at_p) * mean
        result = result - _sum_rightmost(term, at_p.dim() - len(p.batch_shape))
    return result


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli(p, q) -> Tensor:
    # Logits are those of clamped probabilities: 0 and 1 are looked for.
    yes = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    yes = yes.masked_fill(q.probs == 0, inf).masked_fill(p.probs == 0, 0)
    no = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    no = no.masked_fill(q.probs == 1, inf).masked_fill(p.probs == 1, 0)
    return yes + no


@register_kl(Binomial, Binomial)
def _kl_binomial(p, q) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not "
            "implemented"
        )
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return _infinite_where(p.total_count > q.total_count, p.total_count * each)


@register_kl(Categorical, Categorical)
def _kl_categorical(p, q) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = terms.masked_fill(q.probs == 0, inf).masked_fill(p.probs == 0, 0)
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_one_hot_categorical(p, q) -> Tensor:
    return _kl_categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _kl_continuous_bernoulli(p, q) -> Tensor:
    return (
        p.mean * (p.logits - q.logits)
        + p._log_norm()
        + torch.log1p(-p.probs)
        - q._log_norm()
        - torch.log1p(-q.probs)
    )


@register_kl(Geometric, Geometric)
def _kl_geometric(p, q) -> Tensor:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _kl_poisson(p, q) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet(p, q) -> Tensor:
    cp, cq = p.concentration, q.concentration
    total = cp.sum(-1)
    normalizers = (
        total.lgamma() - cq.sum(-1).lgamma() - (cp.lgamma() - cq.lgamma()).sum(-1)
    )
    statistics = cp.digamma() - total.digamma().unsqueeze(-1)
    return normalizers + ((cp - cq) * statistics).sum(-1)


@register_kl(Beta, Beta)
def _kl_beta(p, q) -> Tensor:
    return _kl_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Exponential, Exponential)
def _kl_exponential(p, q) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _kl_gamma(p, q) -> Tensor:
    cp, cq = p.concentration, q.concentration
    return (
        cq * (p.rate / q.rate).log()
        + cq.lgamma()
        - cp.lgamma()
        + (cp - cq) * cp.digamma()
        + (q.rate - p.rate) * (cp / p.rate)
    )


@register_kl(Gumbel, Gumbel)
def _kl_gumbel(p, q) -> Tensor:
    ratio, off = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return (
        off
        - ratio.log()
        + ratio * euler_constant
        + torch.exp(torch.lgamma(1 + ratio) - off)
        - (1 + euler_constant)
    )


@register_kl(Laplace, Laplace)
def _kl_laplace(p, q) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    decay = ratio * torch.exp(-distance / p.scale)
    return decay - ratio.log() + distance / q.scale - 1


@register_kl(Cauchy, Cauchy)
def _kl_cauchy(p, q) -> Tensor:
    """Chyzak and Nielsen 2019."""
    above = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return above.log() - (4 * p.scale * q.scale).log()


@register_kl(Normal, Normal)
def _kl_normal(p, q) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    off = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + off - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _kl_half_normal(p, q) -> Tensor:
    return _kl_normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _kl_pareto(p, q) -> Tensor:
    ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return _infinite_where(p.scale < q.scale, kl)


@register_kl(Uniform, Uniform)
def _kl_uniform(p, q) -> Tensor:
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return _infinite_where((q.low > p.low) | (q.high < p.high), kl)


_NORMALS = MultivariateNormal, LowRankMultivariateNormal


def _as_seen(q):
    """A normal's log determinant, precision's diagonal, squared distance."""
    if isinstance(q, MultivariateNormal):
        factor = q._unbroadcasted_scale_tril
        return (
            2 * log_diagonal(factor),
            lambda: q.precision_matrix.diagonal(dim1=-2, dim2=-1),
            lambda x: squared_distance(factor, x),
        )
    return (q.log_determinant(), lambda: q.precision_diagonal(), q.squared_distance)


def _kl_normals(p, q) -> Tensor:
    if p.event_shape != q.event_shape:
        low = isinstance(p, _NORMALS[1]), isinstance(q, _NORMALS[1])
        kind = {0: "", 1: "(Low Rank) ", 2: "Low Rank "}[sum(low)]
        raise ValueError(
            f"KL-divergence between two {kind}Multivariate Normals with "
            + 25 * " "
            + "different event shapes cannot be computed"
        )
    log_det_p, _, _ = _as_seen(p)
    log_det_q, precision_diagonal, distance = _as_seen(q)
    # The trace of the precision of q times the covariance of p.
    if isinstance(p, MultivariateNormal):
        columns, diagonal = p._unbroadcasted_scale_tril, 0
    else:
        columns = p._unbroadcasted_cov_factor
        diagonal = p._unbroadcasted_cov_diag * precision_diagonal()
        diagonal = diagonal.sum(-1)
    missing = len(q.batch_shape) + 2 - columns.dim()
    columns = columns.reshape((1,) * missing + columns.shape)
    trace = distance(columns.movedim(-1, 0)).sum(0) + diagonal
    off = distance(q.loc - p.loc)
    return 0.5 * (log_det_q - log_det_p + trace + off - p.event_shape[0])


for _p in _NORMALS:
    for _q in _NORMALS:
        register_kl(_p, _q)(_kl_normals)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed(p, q) -> Tensor:
    """That of the bases, where both are transformed alike."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _kl_independent(p, q) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    kl = kl_divergence(p.base_dist, q.base_dist)
    return _sum_rightmost(kl, p.reinterpreted_batch_ndims)
