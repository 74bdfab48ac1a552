"""Probability distributions, with samples, densities and divergences.

Parameters are tensors or numbers, which broadcast: a distribution is a batch
of `batch_shape` of distributions over tensors of `event_shape`. `sample` and
`rsample` draw, the second with gradients in the parameters; `log_prob`,
`cdf`, `icdf`, `entropy` and moments are differentiable. `kl_divergence`
compares two. `constraints` say where values may lie, `transforms` map between
such sets, `biject_to` and `transform_to` find a transform for a constraint.

A class is to be had by a module of its own name, too, as in
`hotaru.distributions.normal.Normal`.
"""

from __future__ import annotations

import sys as _sys

from . import (
    _binary,
    _bounded,
    _categorical,
    _gamma,
    _gaussian,
    _matrices,
    _positive,
    _real,
    _relaxed,
    constraint_registry,
    constraints,
    distribution,
    exp_family,
    independent,
    kl,
    mixture_same_family,
    transformed_distribution,
    transforms,
    utils,
)
from .constraint_registry import biject_to, transform_to
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .independent import Independent
from .kl import kl_divergence, register_kl
from .mixture_same_family import MixtureSameFamily
from .transformed_distribution import TransformedDistribution
from .transforms import *

# Families by the file that they are in, with the module's name PyTorch has.
_FAMILIES = {
    _binary: {
        "bernoulli": ("Bernoulli",),
        "binomial": ("Binomial",),
        "geometric": ("Geometric",),
        "negative_binomial": ("NegativeBinomial",),
        "poisson": ("Poisson",),
    },
    _bounded: {
        "continuous_bernoulli": ("ContinuousBernoulli",),
        "exponential": ("Exponential",),
        "generalized_pareto": ("GeneralizedPareto",),
        "uniform": ("Uniform",),
    },
    _categorical: {
        "categorical": ("Categorical",),
        "multinomial": ("Multinomial",),
        "one_hot_categorical": (
            "OneHotCategorical",
            "OneHotCategoricalStraightThrough",
        ),
    },
    _gamma: {
        "beta": ("Beta",),
        "chi2": ("Chi2",),
        "dirichlet": ("Dirichlet",),
        "fishersnedecor": ("FisherSnedecor",),
        "gamma": ("Gamma",),
        "studentT": ("StudentT",),
    },
    _gaussian: {
        "lowrank_multivariate_normal": ("LowRankMultivariateNormal",),
        "multivariate_normal": ("MultivariateNormal",),
    },
    _matrices: {"lkj_cholesky": ("LKJCholesky",), "wishart": ("Wishart",)},
    _positive: {
        "gumbel": ("Gumbel",),
        "half_cauchy": ("HalfCauchy",),
        "half_normal": ("HalfNormal",),
        "inverse_gamma": ("InverseGamma",),
        "kumaraswamy": ("Kumaraswamy",),
        "log_normal": ("LogNormal",),
        "logistic_normal": ("LogisticNormal",),
        "pareto": ("Pareto",),
        "weibull": ("Weibull",),
    },
    _real: {
        "cauchy": ("Cauchy",),
        "laplace": ("Laplace",),
        "normal": ("Normal",),
        "von_mises": ("VonMises",),
    },
    _relaxed: {
        "relaxed_bernoulli": ("RelaxedBernoulli", "LogitRelaxedBernoulli"),
        "relaxed_categorical": ("RelaxedOneHotCategorical", "ExpRelaxedCategorical"),
    },
}
for _module, _names in _FAMILIES.items():
    for _name, _classes in _names.items():
        _sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _module
        for _class in _classes:
            globals()[_class] = _type = getattr(_module, _class)
            _type.__module__ = f"{__name__}.{_name}"

# PyTorch's modules have these from each other, and programs take them there.
_shared = {
    "Distribution": Distribution,
    "Independent": Independent,
    **{
        name: getattr(utils, name)
        for name in (
            "broadcast_all",
            "lazy_property",
            "logits_to_probs",
            "probs_to_logits",
            "tril_matrix_to_vec",
            "vec_to_tril_matrix",
        )
    },
}
for _module in (*_FAMILIES, transforms):
    vars(_module).update(_shared | vars(_module))

__all__ = [
    *(c for f in _FAMILIES.values() for names in f.values() for c in names),
    "Distribution",
    "ExponentialFamily",
    "Independent",
    "MixtureSameFamily",
    "TransformedDistribution",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
    *transforms.__all__,
]
# Attributes that a star does not import, as in PyTorch.
for _class in ("ExpRelaxedCategorical", "LogitRelaxedBernoulli"):
    __all__.remove(_class)
