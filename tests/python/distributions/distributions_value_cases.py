"""Cases of moments, densities, entropies and expansion."""

from __future__ import annotations

from distributions_eval import cases
from distributions_tables import DRAWN, SHAPED, WITHOUT_MODE, lines

_SINGLE = [
    "facts(Normal(0, 1))",
    "facts(Normal(0.5, t([1.0, 2.0])))",
    "facts(Uniform(0, 2.5))",
    "facts(Gumbel(0.0, 2))",
    "facts(Bernoulli(0.5))",
    "facts(Wishart(2.5, T.eye(2)))",
    "facts(Dirichlet(T.ones(2, 3)))",
    "facts(Beta(0.5, 0.5))",
    "facts(StudentT(2))",
    "facts(Independent(Bernoulli(t([0.5, 0.1])), 1))",
    "facts(Independent(Bernoulli(t([0.5, 0.1])), 0))",
    "Bernoulli(t([0.5, 0.1])).enumerate_support()",
    "Bernoulli(t([0.5, 0.1])).enumerate_support(expand=False)",
    "Categorical(T.ones(2, 3)).enumerate_support()",
    "OneHotCategorical(T.ones(2, 3)).enumerate_support()",
    "OneHotCategorical(T.ones(2, 3)).enumerate_support(False)",
    "Binomial(2, t([0.5, 0.1])).enumerate_support()",
    "Normal(x(2), 1.0).perplexity()",
    "Gamma(t([0.5, 2.0]), 1.5).cdf(t([1.0, 2.0]))",
    "D.GeneralizedPareto(0.0, 1.0, 0.5).log_survival_function(t([0.5, 2.0]))",
    "Bernoulli(t([0.0, 1.0])).log_prob(t([0.0, 1.0]))",
    "Geometric(t([1.0, 0.5])).log_prob(t([0.0, 0.0]))",
    "Multinomial(2, t([0.0, 1.0])).log_prob(t([0.0, 2.0]))",
    "HalfNormal(1.0, validate_args=False).log_prob(t([-1.0, 1.0]))",
    "Uniform(0.0, 1.0, validate_args=False).log_prob(t([-1.0, 1.0, 0.0]))",
    "LowRankMultivariateNormal(x(3), x(3, 2), t([1.0, 2.0, 3.0])).scale_tril",
    "LowRankMultivariateNormal(x(3), x(3, 1), t([1.0, 2.0, 3.0])).precision_matrix",
    "MultivariateNormal(x(2), precision_matrix=t([[2.0, 0.5], [0.5, 1.0]]))"
    ".covariance_matrix",
]

CASES = cases(
    lines("facts", DRAWN, SHAPED, with_value=False, ready=True),
    lines("density", DRAWN, SHAPED, WITHOUT_MODE),
    lines("widened", DRAWN, SHAPED, WITHOUT_MODE, ready=True),
    _SINGLE,
)
