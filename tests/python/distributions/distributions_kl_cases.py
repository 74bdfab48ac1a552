"""Cases of Kullback-Leibler divergences: all pairs of families."""

from __future__ import annotations

from distributions_eval import cases

_OF_NUMBERS = [
    "Beta(t([0.5, 2.0]), t([3.0, 1.5]))",
    "ContinuousBernoulli(t([0.3, 0.8]))",
    "Exponential(t([0.5, 2.0]))",
    "Gamma(t([0.5, 2.0]), t([3.0, 1.5]))",
    "Gumbel(t([0.5, -1.0]), t([3.0, 1.5]))",
    "Laplace(t([0.5, -1.0]), t([3.0, 1.5]))",
    "Normal(t([0.5, -1.0]), t([3.0, 1.5]))",
    "Pareto(t([0.5, 1.0]), t([3.5, 0.5]))",
    "Uniform(t([0.5, 0.0]), t([0.9, 3.0]))",
    "Uniform(t([0.0, -1.0]), t([1.0, 2.0]))",
    "Pareto(t([0.1, 0.2]), t([1.5, 2.5]))",
    "Cauchy(t([0.5, -1.0]), t([3.0, 1.5]))",
    "HalfNormal(t([0.5, 1.5]))",
    "LogNormal(t([0.5, -1.0]), t([3.0, 1.5]))",
    "Chi2(t([1.0, 3.0]))",
    "Bernoulli(t([0.0, 0.8]))",
    "Binomial(3, t([0.3, 0.8]))",
    "Geometric(t([0.3, 0.8]))",
    "Poisson(t([0.3, 0.8]))",
]
_OTHERS = [
    "kl_divergence(Normal(x(2), 1.0), Normal(x(2, start=2), 2.5))",
    "kl_divergence(Gamma(x(2) + 2, 1.0), Gamma(x(2, start=2) + 2, 2.5))",
    "kl_divergence(Beta(x(2) + 2, 1.0), Beta(x(2, start=2) + 2, 2.5))",
    "kl_divergence(Gumbel(x(2), 1.0), Gumbel(x(2, start=2), 2.5))",
    "kl_divergence(Laplace(x(2), 1.0), Laplace(x(2, start=2), 2.5))",
    "kl_divergence(Cauchy(x(2), 1.0), Cauchy(x(2, start=2), 2.5))",
    "kl_divergence(Pareto(t([1.0, 0.5]), 1.0), Pareto(0.7, 2.5))",
    "kl_divergence(Uniform(t([1.0, 0.5]), 2.0), Uniform(0.7, 2.5))",
    "kl_divergence(Exponential(t([1.0, 0.5])), Exponential(0.7))",
    "kl_divergence(Poisson(t([1.0, 0.5])), Poisson(0.7))",
    "kl_divergence(Geometric(t([1.0, 0.5])), Geometric(0.7))",
    "kl_divergence(HalfNormal(t([1.0, 0.5])), HalfNormal(0.7))",
    "kl_divergence(Bernoulli(t([0.0, 0.5, 1.0])), Bernoulli(0.7))",
    "kl_divergence(Bernoulli(t([0.0, 0.5, 1.0])), Bernoulli(t([0.0, 1., 0.])))",
    "kl_divergence(ContinuousBernoulli(t([0.1, 0.5])), ContinuousBernoulli(0.7))",
    "kl_divergence(Binomial(3, t([0.2, 0.5])), Binomial(l([3, 2]), 0.7))",
    "kl_divergence(Binomial(3, t([0.2, 0.5])), Binomial(4, 0.7))",
    "kl_divergence(Categorical(t([0.0, 0.5])), Categorical(t([0.7, 0.3])))",
    "kl_divergence(Categorical(t([0.2, 0.5])), Categorical(t([0.0, 0.3])))",
    "kl_divergence(OneHotCategorical(t([0.2, 0.5])), OneHotCategorical(t([0.4, 0.3])))",
    "kl_divergence(Dirichlet(x(2, 3) + 2), Dirichlet(x(3, start=2) + 2))",
    "kl_divergence(Independent(Normal(x(2, 3), 1.0), 1), "
    "Independent(Normal(x(3), 1.5), 1))",
    "kl_divergence(Independent(Normal(x(2, 3), 1.0), 1), "
    "Independent(Normal(x(2, 3), 1.5), 2))",
    "kl_divergence(LogNormal(x(2), 1.0), LogNormal(x(2, start=2), 2.5))",
    "kl_divergence(LogNormal(x(2), 1.0), Gumbel(x(2, start=2), 2.5))",
    "kl_divergence(Wishart(3.0, T.eye(2)), Wishart(4.0, 2 * T.eye(2)))",
    "kl_divergence(StudentT(3.0), Normal(0.0, 1.0))",
    "kl_divergence(RelaxedBernoulli(t(0.5), t(0.2)), Normal(0.0, 1.0))",
]
_NORMALS = [
    "MultivariateNormal(x(2), t([[2.0, 0.5], [0.5, 1.0]]))",
    "MultivariateNormal(x(3, 2), scale_tril=t([[[2.0, 0.0], [0.5, 1.0]]]))",
    "LowRankMultivariateNormal(x(2), x(2, 1), t([0.5, 1.0]))",
    "LowRankMultivariateNormal(x(3, 2), x(3, 2, 1), t([[0.5, 2.0]]))",
    "MultivariateNormal(x(3), T.eye(3, dtype=T.float64))",
    "LowRankMultivariateNormal(x(3), x(3, 1), t([0.5, 1.0, 2.0]))",
]
_PAIRS = [
    f"kl_divergence({p}, {q})"
    for group in (_OF_NUMBERS, _NORMALS)
    for p in group
    for q in group
    # Finite, but infinite in PyTorch: see test_distributions_kl.py.
    if {p.split("(")[0], q.split("(")[0]} != {"ContinuousBernoulli", "Uniform"}
]

CASES = cases(_PAIRS, _OTHERS)
