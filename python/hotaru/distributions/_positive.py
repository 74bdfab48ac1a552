"""Distributions of transformed draws: log-normal, Pareto, Weibull, ..."""

from __future__ import annotations

import math
from numbers import Number

import hotaru as torch

from .. import Tensor, inf, nan
from . import constraints
from ._bounded import Exponential, Uniform
from ._gamma import Gamma
from ._real import Cauchy, Normal
from .transformed_distribution import TransformedDistribution
from .transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
)
from .utils import broadcast_all, euler_constant


class LogNormal(TransformedDistribution):
    """exp of a normal of `loc` and `scale`."""

    arg_constraints = Normal.arg_constraints
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """On a simplex, from normals by stick breaking."""

    arg_constraints = Normal.arg_constraints
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        return self.base_dist.base_dist.scale


class Gumbel(TransformedDistribution):
    """Limit of the greatest of many: cdf exp(-exp(-(x - loc) / scale))."""

    arg_constraints = Normal.arg_constraints
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = torch.finfo(self.loc.dtype)
        ends = limits.tiny, 1 - limits.eps
        if not all(isinstance(v, Number) for v in (loc, scale)):
            ends = [torch.full_like(self.loc, end) for end in ends]
        base = Uniform(*ends, validate_args=validate_args)
        to_log = ExpTransform().inv
        transforms = [
            to_log,
            AffineTransform(loc=0, scale=-torch.ones_like(self.scale)),
            to_log,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        y = (self.loc - self._validated(value)) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)


class _Half(TransformedDistribution):
    """The absolute value of what is symmetric round 0, as wide as `scale`."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _whole: type

    def __init__(self, scale, validate_args=None) -> None:
        base = self._whole(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._validated(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, log_prob, -inf)

    def cdf(self, value: Tensor) -> Tensor:
        return 2 * self.base_dist.cdf(self._validated(value)) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """|x| of x with a normal distribution."""

    arg_constraints = _Half.arg_constraints
    _whole = Normal

    def __init__(self, scale, validate_args=None) -> None:
        super().__init__(scale, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """|x| of x with a Cauchy distribution."""

    arg_constraints = _Half.arg_constraints
    _whole = Cauchy

    def __init__(self, scale, validate_args=None) -> None:
        super().__init__(scale, validate_args)

    @property
    def mean(self) -> Tensor:
        return torch.full_like(self.scale, inf)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def log_prob(self, value) -> Tensor:
        """Takes a number, too, in the dtype of the scale."""
        value = torch.as_tensor(
            self._validated(value), dtype=self.scale.dtype, device=self.scale.device
        )
        return super().log_prob(value)


class InverseGamma(TransformedDistribution):
    """1 / x of x with a Gamma distribution."""

    arg_constraints = Gamma.arg_constraints
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        inverted = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, inverted, validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        mean = self.rate / (self.concentration - 1)
        return torch.where(self.concentration > 1, mean, inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        variance = self.rate.square() / ((c - 1).square() * (c - 2))
        return torch.where(c > 2, variance, inf)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c + self.rate.log() + c.lgamma() - (1 + c) * c.digamma()


class Kumaraswamy(TransformedDistribution):
    """On (0, 1), cdf 1 - (1 - x^c1)^c0 (Kumaraswamy 1980)."""

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(
            concentration1, concentration0
        )
        base = Uniform(
            torch.full_like(self.concentration0, 0),
            torch.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        """The mean of x^n: c0 Beta(1 + n / c1, c0)."""
        shape = 1 + n / self.concentration1
        log_beta = (
            torch.lgamma(shape)
            + torch.lgamma(self.concentration0)
            - torch.lgamma(shape + self.concentration0)
        )
        return self.concentration0 * torch.exp(log_beta)

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """NaN for a density that is not greatest inside."""
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)).pow(a.reciprocal())
        return mode.masked_fill((a < 1) | (b < 1), nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - torch.pow(self.mean, 2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + euler_constant
        return (
            (1 - b.reciprocal())
            + (1 - a.reciprocal()) * harmonic
            - torch.log(a)
            - torch.log(b)
        )


class Pareto(TransformedDistribution):
    """More than `scale`, survival (scale / x)^alpha."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale, alpha, validate_args=None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        alpha = self.alpha.clamp(min=1)  # infinite from there down
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """Survival exp(-(x / scale)^concentration)."""

    arg_constraints = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration.reciprocal()),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _log_moment(self, n: int) -> Tensor:
        """The log of the mean of (x / scale)^n."""
        return torch.lgamma(1 + n * self.concentration.reciprocal())

    @property
    def mean(self) -> Tensor:
        return self.scale * torch.exp(self._log_moment(1))

    @property
    def mode(self) -> Tensor:
        c = self.concentration
        return self.scale * ((c - 1) / c) ** c.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (
            torch.exp(self._log_moment(2)) - torch.exp(2 * self._log_moment(1))
        )

    def entropy(self) -> Tensor:
        c = self.concentration
        return (
            euler_constant * (1 - c.reciprocal())
            + torch.log(self.scale * c.reciprocal())
            + 1
        )
