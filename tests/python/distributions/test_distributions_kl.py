"""Divergences against means over draws, and their dispatch by type."""

from __future__ import annotations

import math
import warnings

import pytest


def _grid_kl(torch, p, q, low, high, n=200_000):
    """The integral of p (log p - log q) by midpoints."""
    step = (high - low) / n
    x = low + step * (torch.arange(n, dtype=torch.float64) + 0.5)
    log_p = p.log_prob(x)
    return float((log_p.exp() * (log_p - q.log_prob(x))).sum() * step)


def _t(torch, value):
    return torch.tensor(value, dtype=torch.float64)


def test_uniform_that_covers_a_continuous_bernoulli_is_finite(hotaru):
    d = hotaru.distributions
    p = d.ContinuousBernoulli(_t(hotaru, 0.8))
    q = d.Uniform(_t(hotaru, -1.0), 2.0)
    kl = float(d.kl_divergence(p, q))
    # log 3 is log q's part; the rest is the entropy.
    assert kl == pytest.approx(math.log(3) - float(p.entropy()), rel=1e-12)
    unit = d.Uniform(_t(hotaru, 0.0), 1.0)
    want = _grid_kl(hotaru, p, unit, 0, 1)
    assert float(d.kl_divergence(p, unit)) == pytest.approx(want, rel=1e-6)
    part = d.Uniform(_t(hotaru, 0.1), 1.0)
    assert float(d.kl_divergence(p, part)) == math.inf


def test_uniform_to_continuous_bernoulli(hotaru):
    d = hotaru.distributions
    p = d.Uniform(_t(hotaru, 0.0), 1.0)
    q = d.ContinuousBernoulli(_t(hotaru, 0.8))
    want = _grid_kl(hotaru, p, q, 0, 1)
    assert float(d.kl_divergence(p, q)) == pytest.approx(want, rel=1e-6)
    wide = d.Uniform(_t(hotaru, -0.5), 1.0)
    assert float(d.kl_divergence(wide, q)) == math.inf


PAIRS = [
    ("Beta(2.0, 3.5)", "Normal(0.5, 2.0)", 0, 1),
    ("Beta(2.0, 3.5)", "Gamma(1.5, 2.0)", 0, 1),
    ("Gamma(2.0, 3.5)", "Gumbel(0.5, 2.0)", 0, 40),
    ("Exponential(1.5)", "Gumbel(0.5, 2.0)", 0, 40),
    ("Normal(0.5, 2.0)", "Laplace(-1.0, 1.5)", -40, 40),
    ("Normal(0.5, 1.0)", "Gumbel(-1.0, 1.5)", -12, 12),
    ("Gumbel(0.5, 2.0)", "Normal(-1.0, 1.5)", -12, 120),
    ("Laplace(0.5, 2.0)", "Normal(-1.0, 1.5)", -120, 120),
    ("Uniform(0.2, 0.7)", "Beta(2.0, 3.5)", 0.2, 0.7),
    ("Uniform(0.2, 0.7)", "Pareto(0.1, 3.5)", 0.2, 0.7),
    ("Kumaraswamy(2.0, 3.0)", "Beta(2.0, 3.5)", 0, 1),
]


@pytest.mark.parametrize(("p", "q", "low", "high"), PAIRS)
def test_kl_is_the_integral(hotaru, p, q, low, high):
    d = hotaru.distributions

    def double(text):
        name, args = text[:-1].split("(")
        given = [_t(hotaru, float(a)) for a in args.split(",")]
        return getattr(d, name)(*given)

    p, q = double(p), double(q)
    if isinstance(p, d.Kumaraswamy):
        with pytest.raises(NotImplementedError, match="No KL"):
            d.kl_divergence(p, q)
        return
    want = _grid_kl(hotaru, p, q, low, high)
    assert float(d.kl_divergence(p, q)) == pytest.approx(want, rel=1e-5)


def test_wisharts_of_a_batch_are_each_their_own(hotaru):
    d = hotaru.distributions
    df = hotaru.tensor([3.0, 4.5, 6.0], dtype=hotaru.float64)
    eye = hotaru.eye(2, dtype=hotaru.float64)
    p = d.Wishart(df, 1.5 * eye)
    q = d.Wishart(df + 1, eye)
    together = d.kl_divergence(p, q)
    assert together.shape == (3,)
    for i in range(3):
        one = d.kl_divergence(d.Wishart(df[i], 1.5 * eye), d.Wishart(df[i] + 1, eye))
        assert float(one) == pytest.approx(float(together[i]), rel=1e-12)
    # In one dimension it is Gamma(df / 2, 1 / (2 variance)).
    one = hotaru.eye(1, dtype=hotaru.float64)
    kl = d.kl_divergence(d.Wishart(df, 1.5 * one), d.Wishart(df + 1, one))
    want = d.kl_divergence(
        d.Gamma(df / 2, _t(hotaru, 1 / 3)), d.Gamma((df + 1) / 2, 0.5)
    )
    assert kl.tolist() == pytest.approx(want.tolist(), rel=1e-10)


def test_registering_a_pair(hotaru):
    d = hotaru.distributions

    class Own(d.Normal):
        pass

    class Other(d.Normal):
        pass

    own, other = Own(0.0, 1.0), Other(1.0, 1.0)
    assert float(d.kl_divergence(own, other)) == 0.5

    d.register_kl(Own, d.Normal)(lambda p, q: "left")
    assert d.kl_divergence(own, other) == "left"
    d.register_kl(d.Normal, Other)(lambda p, q: "right")
    with pytest.warns(RuntimeWarning, match="Ambiguous kl_divergence"):
        assert d.kl_divergence(own, other) == "left"
    d.register_kl(Own, Other)(lambda p, q: "both")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert d.kl_divergence(own, other) == "both"
    with pytest.raises(TypeError, match="Expected type_p to be"):
        d.register_kl(3, d.Normal)
    with pytest.raises(TypeError, match="Expected type_q to be"):
        d.register_kl(d.Normal, 3)

    class Foreign:
        """A distribution of another library."""

    d.register_kl(Own, Foreign)(lambda p, q: "foreign")
    assert d.kl_divergence(own, Foreign()) == "foreign"


@pytest.mark.parametrize("width", [1e-300, 1e-20, 1e-12, 1e-6])
@pytest.mark.parametrize("low", [0.0, 0.25])
def test_a_narrow_uniform_is_known_by_the_density_there(hotaru, width, low):
    d = hotaru.distributions
    if low + width == low:
        width = 1e-14
    high = _t(hotaru, low + width).requires_grad_()
    width = high.item() - low
    p = d.Uniform(_t(hotaru, low), high)
    for q in (d.Beta(_t(hotaru, 2.0), 3.0), d.Gamma(_t(hotaru, 2.0), 3.0)):
        kl = d.kl_divergence(p, q)
        # E[log x] is log(width) - 1 next to 0, and log(low) elsewhere.
        x = _t(hotaru, low + width / 2)
        want = -math.log(width) - q.log_prob(x).item()
        if not low:
            want += 1 - math.log(2)
        assert kl.item() == pytest.approx(want, rel=1e-5)
        (slope,) = hotaru.autograd.grad(kl, high)
        assert slope.isfinite()
