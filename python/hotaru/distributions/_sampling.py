"""Draws by operators that not every build has.

NotImplementedError names the operator that a distribution's samples need.
"""

from __future__ import annotations

from .. import ops
from ..autograd import Function


def _operator(name: str):
    op = getattr(ops, name, None)
    if op is None:
        raise NotImplementedError(
            f"samples of this distribution are drawn by the operator {name!r}, "
            "which hotaru does not have; densities, moments and KL "
            "divergences do without it"
        )
    return op


def standard_gamma(concentration):
    """Draws of Gamma(concentration, 1), with implicit gradients."""
    return _operator("_standard_gamma")(concentration)


def poisson(rate):
    """Draws of counts with the means `rate`."""
    return _operator("poisson")(rate)


def binomial(count, prob):
    """Draws of how many of `count` tries succeed."""
    return _operator("binomial")(count, prob)


def _dirichlet_backward(x, concentration, grad_output):
    """The gradient in the concentration of draws `x`.

    Implicit reparameterization (Figurnov et al. 2018): d x / d concentration
    is what keeps the draw's cumulative probability.
    """
    total = concentration.sum(-1, True).expand_as(concentration)
    slope = _operator("_dirichlet_grad")(x, concentration, total)
    return slope * (grad_output - (x * grad_output).sum(-1, True))


class _Dirichlet(Function):
    @staticmethod
    def forward(ctx, concentration):
        x = _operator("_sample_dirichlet")(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        x, concentration = ctx.saved_tensors
        return _dirichlet_backward(x, concentration, grad_output)


def dirichlet(concentration):
    """Draws of Dirichlet(concentration), with implicit gradients."""
    return _Dirichlet.apply(concentration)
