"""Draws of the distributions whose parameters are tensors."""

from __future__ import annotations

from .. import ops
from ..autograd import Function


def standard_gamma(concentration, generator=None):
    """Draws of Gamma(concentration, 1), with implicit gradients."""
    return ops._standard_gamma(concentration, generator=generator)


def poisson(rate):
    """Draws of counts with the means `rate`."""
    return ops.poisson(rate)


def binomial(count, prob):
    """Draws of how many of `count` tries succeed."""
    return ops.binomial(count, prob)


def _dirichlet_backward(x, concentration, grad_output):
    """The gradient in the concentration of draws `x`.

    Implicit reparameterization (Figurnov et al. 2018): d x / d concentration
    is what keeps the draw's cumulative probability.
    """
    total = concentration.sum(-1, True).expand_as(concentration)
    slope = ops._dirichlet_grad(x, concentration, total)
    return slope * (grad_output - (x * grad_output).sum(-1, True))


class _Dirichlet(Function):
    @staticmethod
    def forward(ctx, concentration):
        x = ops._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        x, concentration = ctx.saved_tensors
        return _dirichlet_backward(x, concentration, grad_output)


def dirichlet(concentration):
    """Draws of Dirichlet(concentration), with implicit gradients."""
    return _Dirichlet.apply(concentration)
