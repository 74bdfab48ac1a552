"""Draws with parameters of their own for each element: how they move with
these, and what their distributions are.

Slopes are from mpmath with 40 digits: the central difference of the regularized
incomplete gamma or beta function over its density.
"""

from __future__ import annotations

import pytest

GAMMA = [  # shape, draw, slope
    (1e-3, 1e-200, 4.59941446667e-195),
    (0.1, 0.05, 1.36728306784),
    (0.1, 3.0, 9.44361714409),
    (0.5, 0.2, 0.794050566331),
    (1.0, 1.0, 1.17356302722),
    (2.0, 9.0, 2.09391826422),
    (5.0, 0.01, 0.0126442004585),
    (30.0, 33.0, 1.05425468351),
    (30.0, 90.0, 1.65676224485),
    (500.0, 470.0, 0.969704473315),
    (20000.0, 20200.0, 1.00499179105),
    (20000.0, 15000.0, 0.863053389655),
]
DIRICHLET = [  # draw, its parameter, the others' sum, slope
    (0.001, 0.01, 0.02, 4.02093579946),
    (0.5, 0.01, 3.0, 27.5801250296),
    (0.3, 1.0, 1.0, 0.515988344711),
    (0.9, 2.0, 0.5, 0.530484471852),
    (0.999, 50.0, 0.1, 0.0201708322765),
    (0.2, 3.0, 9.0, 0.0806845200174),
    (0.7, 3.0, 9.0, 0.14608577519),
    (0.0003, 4.4, 9796.0, 8.6015399647e-5),
    (0.002, 4.4, 9796.0, 0.000203737299203),
    (0.4, 400.0, 500.0, 0.00105442438171),
    (0.5, 400.0, 500.0, 0.00117877052595),
    (1e-30, 0.2, 1.0, 3.45387763949e-28),
]


@pytest.mark.parametrize(("shape", "draw", "slope"), GAMMA)
def test_slopes_of_gamma_draws(hotaru, shape, draw, slope):
    a, x = (hotaru.tensor([v], dtype=hotaru.float64) for v in (shape, draw))
    found = hotaru._standard_gamma_grad(a, x).item()
    # The expansion of large shapes leaves terms of z ** 4 / (270 shape ** 2)
    # out, 10 quantiles z from the mean 4e-7.
    assert found == pytest.approx(slope, rel=4e-7 if shape > 1e4 else 1e-9)


@pytest.mark.parametrize(("draw", "shape", "rest", "slope"), DIRICHLET)
def test_slopes_of_dirichlet_draws(hotaru, draw, shape, rest, slope):
    x, a, b = (hotaru.tensor([v], dtype=hotaru.float64) for v in (draw, shape, rest))
    found = hotaru._dirichlet_grad(x, a, a + b).item()
    assert found == pytest.approx(slope, rel=1e-8)


def test_slopes_where_series_and_expansion_meet(hotaru):
    a = hotaru.tensor([1e4 - 1e-6, 1e4 + 1e-6], dtype=hotaru.float64)
    for z in (-5.0, -1.0, 0.0, 2.0, 6.0):
        both = hotaru._standard_gamma_grad(a, a + z * 100).tolist()
        assert both[0] == pytest.approx(both[1], rel=4e-7)


def test_slopes_at_the_edges(hotaru):
    t = hotaru.tensor
    zero = hotaru._standard_gamma_grad(t([1.0]), t([0.0]))
    assert zero.item() == 0
    wrong = hotaru._standard_gamma_grad(t([0.0, -1.0]), t([1.0, 1.0]))
    assert wrong.isnan().all()
    # The sum of parameters may round the smaller one away.
    flat = hotaru._dirichlet_grad(t([1.0, 0.0]), t([5e5, 1.0]), t([5e5, 2.0]))
    assert flat.tolist() == [0, 0]


def test_parameters_that_are_no_numbers_end(hotaru):
    nan = hotaru.tensor([float("nan")])
    assert hotaru._standard_gamma(nan).isnan().all()
    assert hotaru.binomial(nan, nan).isnan().all()
    assert hotaru.binomial(nan, hotaru.tensor([0.5])).isnan().all()


@pytest.mark.parametrize(("n", "p"), [(20.0, 0.3), (20.0, 0.9), (400.0, 0.4)])
def test_binomial_draws_have_their_moments(hotaru, n, p):
    hotaru.manual_seed(0)
    count = 20_000
    x = hotaru.binomial(hotaru.full((count,), n), hotaru.full((count,), p))
    spread = (n * p * (1 - p)) ** 0.5
    # Five standard errors of mean and standard deviation.
    assert abs(x.mean().item() - n * p) < 5 * spread / count**0.5
    assert abs(x.std().item() / spread - 1) < 5 / (2 * count) ** 0.5


def test_draws_wait_for_their_turn_on_a_queue(hotaru):
    def draws():
        hotaru.manual_seed(3)
        u = hotaru.rand(50)
        return [
            u,
            hotaru._standard_gamma(u * 3),
            hotaru.poisson(u * 20),
            hotaru.binomial((u * 50).floor(), u),
            hotaru._sample_dirichlet(u.view(10, 5)),
            hotaru._standard_gamma_grad(u, u),
            hotaru.rand(2),
        ]

    want = draws()
    stream = hotaru.cpu.Stream()
    with hotaru.cpu.stream(stream):
        found = draws()
    stream.synchronize()
    for got, expected in zip(found, want, strict=True):
        assert hotaru.equal(got, expected)


def test_a_negative_mean_is_found_on_a_queue(hotaru):
    stream = hotaru.cpu.Stream()
    with hotaru.cpu.stream(stream):
        hotaru.poisson(hotaru.tensor([-1.0]))
    with pytest.raises(RuntimeError, match="invalid Poisson rate"):
        stream.synchronize()


def test_draws_have_tangents_of_zeros(hotaru):
    x, t = hotaru.ones(3), hotaru.ones(3)
    for draw in (hotaru.poisson, lambda a: hotaru.bernoulli(a * 0.5)):
        _, tangent = hotaru.func.jvp(draw, (x,), (t,))
        assert tangent.tolist() == [0, 0, 0]


def test_private_operators_are_functions_as_in_pytorch(hotaru):
    assert hotaru._softmax is hotaru.ops._softmax
    assert not hasattr(hotaru, "_unsafe_view")


def test_layouts_of_draws(hotaru):
    """In logical order, but those of multinomial, which are in memory's: with
    PyTorch's generator these are PyTorch's numbers.
    """
    torch = hotaru
    x = torch.arange(1.0, 21).reshape(4, 5).t()
    for draw in (
        lambda x: torch.normal(x, 1.0),
        lambda x: torch.normal(0.0, x),
        lambda x: torch.normal(x, x),
        lambda x: torch.nn.functional.gumbel_softmax(x),
    ):
        torch.manual_seed(0)
        plain = draw(x.contiguous())
        torch.manual_seed(0)
        assert torch.equal(draw(x), plain)
    torch.manual_seed(0)
    drawn = torch.multinomial(x % 7 + 1, 3)
    torch.manual_seed(0)
    times = torch.empty(4, 5).exponential_().t()
    order = ((x % 7 + 1) / times).topk(3, -1).indices
    assert torch.equal(drawn, order)
