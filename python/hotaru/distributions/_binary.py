"""Distributions of tries that succeed with a probability."""

from __future__ import annotations

import hotaru as torch

from .. import Tensor, nan
from ..nn.functional import binary_cross_entropy_with_logits, logsigmoid
from . import constraints
from ._choices import ProbsOrLogits
from ._gamma import Gamma
from ._sampling import binomial, poisson
from .distribution import Distribution, _told
from .exp_family import ExponentialFamily
from .utils import broadcast_all, lazy_property


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """1 with probability `probs`, else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, validate_args=None) -> None:
        (value,) = broadcast_all(self._only_one(probs, logits))
        self._store(probs, value)
        super().__init__(value.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()) -> Tensor:
        with torch.no_grad():
            shape = self._extended_shape(sample_shape)
            return torch.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._validated(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none"
        )

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device)
        return self._all_values(values, expand)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return torch.log1p(torch.exp(x))


class Geometric(ProbsOrLogits, Distribution):
    """How many tries fail before one succeeds, of probability `probs`."""

    arg_constraints = Bernoulli.arg_constraints
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None) -> None:
        (value,) = broadcast_all(self._only_one(probs, logits))
        self._store(probs, value)
        super().__init__(value.size(), validate_args=validate_args)
        if self._validate_args and probs is not None:
            positive = value > 0
            if not positive.all():
                raise ValueError(
                    f"Expected parameter probs ({_told(value)}) of "
                    f"distribution {self!r} to be positive but found invalid "
                    f"values:\n{value[~positive]}"
                )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        tiny = torch.finfo(self.probs.dtype).tiny
        with torch.no_grad():
            u = self.probs.new_empty(shape).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        value, probs = broadcast_all(self._validated(value), self.probs)
        # 0 failures before a sure success: not 0 times log(0).
        fails = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-fails).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        binary = binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none"
        )
        return binary / self.probs


def _positive_part(x: Tensor) -> Tensor:
    """max(x, 0), whose gradient at 0 is 1/2."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class _OfTries(ProbsOrLogits):
    def _store_count(self, total_count, probs, logits):
        """Keeps what was given, each of one shape, which it returns."""
        given = self._only_one(probs, logits)
        self.total_count, value = broadcast_all(total_count, given)
        self.total_count = self.total_count.type_as(value)
        self._store(probs, value)
        return value.size()


class Binomial(_OfTries, Distribution):
    """How many of `total_count` tries succeed."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        **Bernoulli.arg_constraints,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count=1, probs=None, logits=None, validate_args=None
    ) -> None:
        size = self._store_count(total_count, probs, logits)
        super().__init__(size, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        mode = ((self.total_count + 1) * self.probs).floor()
        return mode.clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value, n = self._validated(value), self.total_count
        ways = (
            torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        )
        # n log(1 + exp(logits)), which does not overflow.
        softplus = _positive_part(self.logits) + torch.log1p(
            torch.exp(-torch.abs(self.logits))
        )
        return value * self.logits + ways - n * softplus

    def _one_count(self, method: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(
                f"Inhomogeneous total count not supported by `{method}`."
            )
        return count

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = torch.arange(
            1 + self._one_count("enumerate_support"),
            dtype=self._param.dtype,
            device=self._param.device,
        )
        return self._all_values(values, expand)


class NegativeBinomial(_OfTries, Distribution):
    """How many tries succeed before `total_count` fail; need not be whole."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count, probs=None, logits=None, validate_args=None
    ) -> None:
        size = self._store_count(total_count, probs, logits)
        super().__init__(size, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        """Distribution of the rates that the counts are Poisson's with."""
        return Gamma(self.total_count, torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=()) -> Tensor:
        with torch.no_grad():
            return poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value, n = self._validated(value), self.total_count
        ways = torch.lgamma(n + value) - torch.lgamma(1.0 + value) - torch.lgamma(n)
        ways = ways.masked_fill(n + value == 0.0, 0.0)
        tries = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        return tries + ways


class Poisson(ExponentialFamily):
    """Counts with the mean `rate`."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape=()) -> Tensor:
        with torch.no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._validated(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (torch.log(self.rate),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return torch.exp(x)
