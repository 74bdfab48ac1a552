"""Exponential families, h(x) exp(<natural parameters, t(x)> - A)."""

from __future__ import annotations

from .. import Tensor
from ..autograd import grad
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution that gives A, of which entropy and KL are made.

    Entropy and cross entropies follow from gradients of the log normalizer
    (Nielsen and Nock, "Entropies and cross-entropies of exponential
    families", 2010).
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """A of natural parameters."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        """The mean of log h(x)."""
        raise NotImplementedError

    def _expected_statistics(self, create_graph: bool = True):
        """Natural parameters, apart from the graph, A and its gradients.

        The gradients of A are the means of the statistics t(x).
        """
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        means = grad(normalizer.sum(), params, create_graph=create_graph)
        return params, normalizer, means

    def entropy(self) -> Tensor:
        carrier = self._mean_carrier_measure
        params, result, means = self._expected_statistics()
        result = result - carrier
        for param, mean in zip(params, means):
            product = (param * mean).reshape(self._batch_shape + (-1,))
            result = result - product.sum(-1)
        return result
