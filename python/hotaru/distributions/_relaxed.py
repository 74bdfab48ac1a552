"""Relaxations of choices that have gradients.

"Concrete" distributions of Maddison, Mnih and Teh 2016, and Jang, Gu and Poole
2016: choices by the greatest of perturbed logits, softened by a temperature.
"""

from __future__ import annotations

import hotaru as torch

from .. import Tensor
from . import constraints
from ._categorical import Categorical, _AmongN, _OfCategorical
from ._choices import ProbsOrLogits
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform, SigmoidTransform
from .utils import broadcast_all, clamp_probs


class LogitRelaxedBernoulli(ProbsOrLogits, Distribution):
    """The logits of `RelaxedBernoulli`."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(
        self, temperature, probs=None, logits=None, validate_args=None
    ) -> None:
        self.temperature = temperature
        (value,) = broadcast_all(self._only_one(probs, logits))
        self._store(probs, value)
        super().__init__(value.size(), validate_args=validate_args)

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        p = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(torch.rand(shape, dtype=p.dtype, device=p.device))
        noise = u.log() - (-u).log1p()
        return (noise + p.log() - (-p).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._validated(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value.mul(self.temperature)
        return self.temperature.log() + diff - 2 * diff.exp().log1p()


class ExpRelaxedCategorical(_OfCategorical):
    """The logarithm of `RelaxedOneHotCategorical`, of normalized scores."""

    arg_constraints = _AmongN.arg_constraints
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature, probs=None, logits=None, validate_args=None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        like = self.logits
        u = clamp_probs(torch.rand(shape, dtype=like.dtype, device=like.device))
        gumbels = -((-(u.log())).log())
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        n = self._event_shape[-1]
        value = self._validated(value)
        logits, value = broadcast_all(self.logits, value)
        log_scale = torch.full_like(
            self.temperature, float(n)
        ).lgamma() - self.temperature.log().mul(-(n - 1))
        score = logits - value.mul(self.temperature)
        score = (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1)
        return score + log_scale


class _Relaxed(TransformedDistribution):
    """Properties that the base has under the same names."""

    has_rsample = True

    @property
    def temperature(self) -> Tensor:
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed):
    """In (0, 1); the lower the temperature, the nearer to 0 or 1."""

    arg_constraints = LogitRelaxedBernoulli.arg_constraints
    support = constraints.unit_interval

    def __init__(
        self, temperature, probs=None, logits=None, validate_args=None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class RelaxedOneHotCategorical(_Relaxed):
    """On a simplex; the lower the temperature, the nearer to a corner."""

    arg_constraints = _AmongN.arg_constraints
    support = constraints.simplex

    def __init__(
        self, temperature, probs=None, logits=None, validate_args=None
    ) -> None:
        base = ExpRelaxedCategorical(
            temperature, probs, logits, validate_args=validate_args
        )
        super().__init__(base, ExpTransform(), validate_args=validate_args)
