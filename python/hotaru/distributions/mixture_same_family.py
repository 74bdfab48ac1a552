"""Mixtures of distributions that are one batch."""

from __future__ import annotations

import hotaru as torch

from .. import Size, Tensor
from . import constraints
from ._categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A component, along the last batch dimension, chosen by a categorical."""

    arg_constraints: dict[str, constraints.Constraint] = {}
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of "
                "torch.distributions.Distribution"
            )
        mixture_batch = mixture_distribution.batch_shape
        batch = component_distribution.batch_shape[:-1]
        for i, j in zip(reversed(mixture_batch), reversed(batch)):
            if i != j and 1 not in (i, j):
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_batch}) is "
                    "not compatible with `component_distribution.batch_shape`"
                    f"({batch})"
                )
        count = mixture_distribution.logits.shape[-1]
        components = component_distribution.batch_shape[-1]
        if count != components:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = count
        super().__init__(batch, component_distribution.event_shape, validate_args)
        self._event_ndims = len(self._event_shape)

    def _batch_of_part(self, name: str, batch_shape: Size) -> Size:
        if name == "_component_distribution":
            return batch_shape + (self._num_component,)
        return batch_shape

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(
            self._component_distribution.support
        )

    @property
    def mixture_distribution(self) -> Categorical:
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        return self._component_distribution

    def _weights(self) -> Tensor:
        """Probabilities that broadcast with components' moments."""
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    def _average(self, values: Tensor) -> Tensor:
        return (self._weights() * values).sum(dim=-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._average(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """By the law of total variance."""
        component = self.component_distribution
        between = (component.mean - self._pad(self.mean)).pow(2.0)
        return self._average(component.variance) + self._average(between)

    def cdf(self, x: Tensor) -> Tensor:
        cdf = self.component_distribution.cdf(self._pad(x))
        return (cdf * self.mixture_distribution.probs).sum(dim=-1)

    def log_prob(self, x: Tensor) -> Tensor:
        x = self._pad(self._validated(x))
        log_prob = self.component_distribution.log_prob(x)
        weights = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(log_prob + weights, dim=-1)

    def sample(self, sample_shape=()) -> Tensor:
        with torch.no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            samples = self.component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self.batch_shape)
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            index = index.expand(samples.shape[:dim] + (1,) + self.event_shape)
            return samples.gather(dim, index).squeeze(dim)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n"
            f"  {self.component_distribution})"
        )
