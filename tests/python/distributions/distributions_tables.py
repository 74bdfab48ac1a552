"""Distributions that the cases are made of.

A row: parameters as defaults of a function, the distribution that it makes,
and a value. Those whose draws are made of Gamma, Dirichlet, Poisson or
binomial ones are in `SHAPED`.
"""

from __future__ import annotations

DRAWN = [
    ("p=t([0.2, 0.7])", "Bernoulli(p)", "t([1.0, 0.0])"),
    ("p=t([-1.0, 0.7])", "Bernoulli(logits=p)", "t([1.0, 0.0])"),
    ("p=t([0.2, 0.7])", "Geometric(p)", "t([3.0, 0.0])"),
    ("p=t([0.5, -0.7])", "Geometric(logits=p)", "t([3.0, 0.0])"),
    ("p=t([[0.2, 0.7, 0.1], [1.0, 1.0, 2.0]])", "Categorical(p)", "l([1, 2])"),
    ("p=t([0.5, -0.7, 1.0])", "Categorical(logits=p)", "l([0, 2])"),
    (
        "p=t([0.2, 0.7, 0.3])",
        "OneHotCategorical(p)",
        "t([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])",
    ),
    (
        "p=t([0.2, 0.7, 0.3])",
        "OneHotCategoricalStraightThrough(p)",
        "t([0.0, 1.0, 0.0])",
    ),
    (
        "p=t([[0.2, 0.7, 0.3], [1.0, 2.0, 3.0]])",
        "Multinomial(5, p)",
        "t([1.0, 4.0, 0.0])",
    ),
    ("p=t([0.5, -0.7, 1.0])", "Multinomial(3, logits=p)", "t([1.0, 1.0, 1.0])"),
    ("m=x(2), s=x(2).exp()", "Normal(m, s)", "t([0.3, -1.0])"),
    ("m=x(2), s=x(2).exp()", "Laplace(m, s)", "t([0.3, -1.0])"),
    ("m=x(2), s=x(2).exp()", "Cauchy(m, s)", "t([0.3, -1.0])"),
    ("m=x(2), s=x(2).exp()", "Gumbel(m, s)", "t([0.3, -1.0])"),
    ("m=x(2), s=x(2).exp()", "LogNormal(m, s)", "t([0.3, 2.0])"),
    ("m=x(3), s=x(3).exp()", "LogisticNormal(m, s)", "t([0.1, 0.2, 0.3, 0.4])"),
    ("s=t([0.5, 2.0])", "HalfNormal(s)", "t([0.3, 2.0])"),
    ("s=t([0.5, 2.0])", "HalfCauchy(s)", "t([0.3, 2.0])"),
    ("a=x(2), b=x(2) + 2", "Uniform(a, b)", "t([0.9, 0.5])"),
    ("r=t([0.5, 2.0])", "Exponential(r)", "t([0.3, 2.0])"),
    ("s=t([0.5, 2.0]), a=t([3.0, 1.5])", "Pareto(s, a)", "t([0.6, 2.5])"),
    ("s=t([0.5, 2.0]), c=t([3.0, 1.5])", "Weibull(s, c)", "t([0.6, 2.5])"),
    (
        "m=f([0.0, 0.5, 1.0]), s=f([0.5, 2.0, 1.0]), c=f([0.3, 0.0, -0.4])",
        "D.GeneralizedPareto(m, s, c)",
        "f([0.6, 2.5, 1.5])",
    ),
    ("p=t([0.2, 0.5, 0.9])", "ContinuousBernoulli(p)", "t([0.3, 0.6, 0.2])"),
    ("p=t([-3.0, 0.001, 2.0])", "ContinuousBernoulli(logits=p)", "t(0.3)"),
    ("m=t([0.2, 3.0]), k=t([0.5, 4.0])", "VonMises(m, k)", "t([0.3, 2.0])"),
    ("h=t(0.7), p=t([0.2, 0.8])", "RelaxedBernoulli(h, p)", "t([0.3, 0.6])"),
    ("h=t(0.7), p=x(2)", "RelaxedBernoulli(h, logits=p)", "t([0.3, 0.6])"),
    (
        "h=t(0.7), p=t([0.2, 0.5, 0.3])",
        "RelaxedOneHotCategorical(h, p)",
        "t([0.3, 0.6, 0.1])",
    ),
    (
        "m=x(2, 2), c=t([[2.0, 0.5], [0.5, 1.0]])",
        "MultivariateNormal(m, c)",
        "x(3, 1, 2, start=4)",
    ),
    (
        "m=x(2), c=t([[[2.0, 0.5], [0.5, 1.0]]])",
        "MultivariateNormal(m, precision_matrix=c)",
        "x(3, 1, 2, start=4)",
    ),
    (
        "m=x(2, 2), c=t([[2.0, 0.0], [0.5, 1.0]])",
        "MultivariateNormal(m, scale_tril=c)",
        "x(2, start=4)",
    ),
    (
        "m=x(2, 3), w=x(3, 2), v=t([0.5, 1.0, 2.0])",
        "LowRankMultivariateNormal(m, w, v)",
        "x(4, 1, 3, start=4)",
    ),
    (
        "p=t([0.3, 0.7]), m=x(2), s=x(2).exp()",
        "D.MixtureSameFamily(Categorical(p), Normal(m, s))",
        "t([0.3, -1.0])",
    ),
    (
        "p=t([[0.3, 0.7], [0.4, 0.6]]), m=x(2, 2, 3)",
        "D.MixtureSameFamily(Categorical(p), Independent(Normal(m, 1.0), 1))",
        "x(2, 3, start=2)",
    ),
    ("m=x(2, 3), s=x(3).exp()", "Independent(Normal(m, s), 1)", "x(2, 3, start=5)"),
    (
        "m=x(2, 3), s=x(3).exp()",
        "TransformedDistribution(Normal(m, s), [ExpTransform(), "
        "AffineTransform(1.0, 2.0)])",
        "x(2, 3, start=5) + 3",
    ),
    (
        "m=x(2, 3)",
        "TransformedDistribution(Normal(m, 1.0), StickBreakingTransform())",
        "t([0.1, 0.2, 0.3, 0.4])",
    ),
]
SHAPED = [
    ("p=t([0.2, 0.7])", "Binomial(l([3, 5]), p)", "t([1.0, 4.0])"),
    ("p=t([-3.0, 0.7])", "Binomial(4, logits=p)", "t([1.0, 4.0])"),
    ("n=t([2.0, 3.5]), p=t([0.2, 0.7])", "NegativeBinomial(n, p)", "t([1.0, 4.0])"),
    ("r=t([0.5, 7.0])", "Poisson(r)", "t([1.0, 4.0])"),
    ("a=t([0.5, 2.0]), b=t([3.0, 1.5])", "Gamma(a, b)", "t([0.6, 2.5])"),
    ("a=t([3.5, 2.0]), b=t([3.0, 1.5])", "InverseGamma(a, b)", "t([0.6, 2.5])"),
    ("n=t([0.5, 2.0])", "Chi2(n)", "t([0.6, 2.5])"),
    ("a=t([0.5, 2.0]), b=t([3.0, 1.5])", "Beta(a, b)", "t([0.6, 0.1])"),
    (
        "a=t([[0.5, 2.0, 1.0], [0.1, 0.2, 0.3], [3.0, 4.0, 5.0]])",
        "Dirichlet(a)",
        "t([0.6, 0.1, 0.3])",
    ),
    (
        "a=t([1.5, 3.0, 5.0]), b=t([2.0, 3.5, 7.0])",
        "FisherSnedecor(a, b)",
        "t([0.6, 2.1, 1.0])",
    ),
    (
        "n=t([0.5, 1.5, 3.0]), m=x(3), s=x(3).exp()",
        "StudentT(n, m, s)",
        "t([0.6, 2.1, -1.0])",
    ),
    (
        "n=t([3.0, 4.5]), c=t([[2.0, 0.5], [0.5, 1.0]])",
        "Wishart(n, c)",
        "t([[3.0, 0.7], [0.7, 2.0]])",
    ),
    (
        "n=t([3.0, 4.5]), c=t([[2.0, 0.0], [0.5, 1.0]])",
        "Wishart(n, scale_tril=c.tril())",
        "t([[3.0, 0.7], [0.7, 2.0]])",
    ),
    ("a=t([0.5, 1.0, 2.5])", "LKJCholesky(3, a)", "CorrCholeskyTransform()(x(3))"),
]
# Draws have the density that is written, whose mode PyTorch has as NaN.
WITHOUT_MODE = [
    ("a=t([1.5, 3.0]), b=t([2.0, 3.5])", "Kumaraswamy(a, b)", "t([0.6, 0.1])")
]


def _made(row, ready=False) -> str:
    parameters, made, _ = row
    return f"(lambda {parameters}: {made})" + "()" * ready


def lines(function: str, *tables: list, with_value=True, ready=False):
    """`function` of every row's distribution, made or to be made."""
    return [
        f"{function}({_made(row, ready)}{', ' + row[2] if with_value else ''})"
        for table in tables
        for row in table
    ]
