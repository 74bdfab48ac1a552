"""Distributions of numbers that have a least value, or a greatest, too."""

from __future__ import annotations

import math

import hotaru as torch

from .. import Tensor, inf, nan
from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from ._choices import ProbsOrLogits
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs


class Uniform(Distribution):
    """As likely anywhere in [low, high)."""

    has_rsample = True

    def __init__(self, low, high, validate_args=None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        rand = torch.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + rand * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._validated(value)
        inside = self.low.le(value) & self.high.gt(value)
        return torch.log(inside.type_as(self.low)) - self._log_width()

    def _log_width(self) -> Tensor:
        return torch.log(self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        share = (self._validated(value) - self.low) / (self.high - self.low)
        return share.clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return self._log_width()


class Exponential(ExponentialFamily):
    """Waiting times of events that come at the rate `rate`."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate, validate_args=None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * self._validated(value)

    def cdf(self, value: Tensor) -> Tensor:
        return 1 - torch.exp(-self.rate * self._validated(value))

    def icdf(self, value: Tensor) -> Tensor:
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - torch.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -torch.log(-x)


class GeneralizedPareto(Distribution):
    """Excesses over a threshold `loc` (Pickands 1975).

    Survival (1 + concentration z)^(-1 / concentration) of z, which is
    (x - loc) / scale; exp(-z) for a concentration of 0.
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(
            loc, scale, concentration
        )
        super().__init__(self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        end = self.loc - self.scale / self.concentration
        high = torch.where(self.concentration < 0, end, inf)
        return constraints.interval(self.loc, high)

    def _limit(self):
        """Where the concentration is 0 as good as, and one that is not."""
        near = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return near, torch.where(
            near, torch.ones_like(self.concentration), self.concentration
        )

    def _z(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.icdf(u)

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._z(self._validated(value))
        near, c = self._limit()
        log_density = torch.where(near, -z, -(1 + 1 / c) * torch.log1p(c * z))
        return log_density - self.scale.log()

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of more than `value`."""
        z = self._z(self._validated(value))
        near, c = self._limit()
        return torch.where(near, -z, -torch.log1p(c * z) / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        # Not by log_cdf, whose slope has no value at the lower end.
        return -torch.expm1(self.log_survival_function(value))

    def icdf(self, value: Tensor) -> Tensor:
        near, c = self._limit()
        log_survival = torch.log1p(-value)
        z = torch.where(near, -log_survival, torch.expm1(-c * log_survival) / c)
        return self.loc + self.scale * z

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        mean = self.loc + self.scale / (1 - torch.where(c < 1, c, 0))
        return torch.where(c < 1, mean, nan)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        safe = torch.where(c < 0.5, c, 0)
        variance = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return torch.where(c < 0.5, variance, nan)

    def entropy(self) -> Tensor:
        return torch.log(self.scale) + self.concentration + 1

    @property
    def mode(self) -> Tensor:
        return self.loc


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Density proportional to p^x (1 - p)^(1 - x) on [0, 1].

    Loaiza-Ganem and Cunningham 2019. For p inside of `lims`, where what it is
    divided by is near 0, series in p - 1/2 are used instead.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs=None,
        logits=None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args=None,
    ) -> None:
        (value,) = broadcast_all(self._only_one(probs, logits))
        if probs is not None:
            # Checked here: those stored are clamped.
            if validate_args is not None and not (
                self.arg_constraints["probs"].check(value).all()
            ):
                raise ValueError("The parameter probs has invalid values")
            value = clamp_probs(value)
        self._store(probs, value)
        self._lims = lims
        super().__init__(value.size(), validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _stable(self):
        """Where formulas are stable, and probabilities where they are."""
        low, high = self._lims
        stable = (self.probs <= low) | (self.probs > high)
        return stable, torch.where(
            stable, self.probs, low * torch.ones_like(self.probs)
        )

    def _log_norm(self) -> Tensor:
        """The log of 2 artanh(1 - 2 p) / (1 - 2 p)."""
        stable, p = self._stable()
        below = torch.where(p <= 0.5, p, torch.zeros_like(p))
        above = torch.where(p >= 0.5, p, torch.ones_like(p))
        exact = torch.log(torch.abs(torch.log1p(-p) - torch.log(p))) - torch.where(
            p <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0)
        )
        x = (self.probs - 0.5).pow(2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(stable, exact, series)

    @property
    def mean(self) -> Tensor:
        stable, p = self._stable()
        exact = p / (2.0 * p - 1.0) + 1.0 / (torch.log1p(-p) - torch.log(p))
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return torch.where(stable, exact, series)

    @property
    def variance(self) -> Tensor:
        stable, p = self._stable()
        exact = p * (p - 1.0) / (1.0 - 2.0 * p).pow(2) + 1.0 / (
            torch.log1p(-p) - torch.log(p)
        ).pow(2)
        x = (self.probs - 0.5).pow(2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return torch.where(stable, exact, series)

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        like = self.probs
        return self.icdf(torch.rand(shape, dtype=like.dtype, device=like.device))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._validated(value)
        logits, value = broadcast_all(self.logits, value)
        return self._log_norm() - binary_cross_entropy_with_logits(
            logits, value, reduction="none"
        )

    def cdf(self, value: Tensor) -> Tensor:
        value = self._validated(value)
        stable, p = self._stable()
        power = torch.pow(p, value) * torch.pow(1.0 - p, 1.0 - value)
        exact = (power + p - 1.0) / (2.0 * p - 1.0)
        inside = torch.where(stable, exact, value)
        inside = inside.masked_fill(value <= 0.0, 0.0)
        return inside.masked_fill(value >= 1.0, 1.0)

    def icdf(self, value: Tensor) -> Tensor:
        stable, p = self._stable()
        exact = (torch.log1p(-p + value * (2.0 * p - 1.0)) - torch.log1p(-p)) / (
            torch.log(p) - torch.log1p(-p)
        )
        return torch.where(stable, exact, value)

    def entropy(self) -> Tensor:
        log_no, log_yes = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (log_no - log_yes) - self._log_norm() - log_no

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        """The log of (exp(x) - 1) / x."""
        low, high = (lim - 0.5 for lim in self._lims)
        stable = (x <= low) | (x > high)
        safe = torch.where(stable, x, low * torch.ones_like(x))
        exact = torch.log(torch.abs(torch.exp(safe) - 1.0)) - torch.log(torch.abs(safe))
        series = 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0
        return torch.where(stable, exact, series)
