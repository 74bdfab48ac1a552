"""Draws with parameters of their own for each element: their distributions,
what they leave in the generator, and how they move with their parameters.

PyTorch's values on a GPU are not promised. Of n draws with variance v and
fourth central moment m the mean is off by more than 5.5 sqrt(v / n), and the
variance by more than 5.5 sqrt((m - v^2) / n), once in 2.6e7 cases (the central
limit theorem); the seeds are fixed.
"""

from __future__ import annotations

import math

import pytest

import hotaru as torch

N = 20000
DTYPES = ("float32", "float64", "float16", "bfloat16")


def generator(seed=0):
    return torch.Generator(device="cuda").manual_seed(seed)


def offset(gen):
    return int.from_bytes(bytes(gen.get_state().tolist()[8:]), "little")


def assert_moments(draws, mean, variance, fourth):
    """`fourth`: the fourth central moment."""
    x = draws.cpu().double()
    n = x.numel()
    found = x.mean().item()
    assert abs(found - mean) <= 5.5 * math.sqrt(variance / n)
    spread = ((x - mean) ** 2).mean().item()
    assert abs(spread - variance) <= 5.5 * math.sqrt((fourth - variance**2) / n)


def assert_slopes_near(f, *tensors):
    """The CPU's to twice the 1e-8 that test_slopes_of_* there asks of them, and
    rounded to their dtype once.
    """
    want = f(*tensors)
    got = f(*(x.cuda() for x in tensors))
    assert (got.device.type, got.dtype) == ("cuda", want.dtype)
    assert got.shape == want.shape
    relative = 2e-8 + torch.finfo(want.dtype).eps
    assert torch.allclose(got.cpu(), want, rtol=relative, atol=0)


def full(value, dtype="float64", n=N):
    return torch.full((n,), value, dtype=getattr(torch, dtype), device="cuda")


@pytest.mark.parametrize("shape", [0.05, 0.5, 1.0, 3.0, 80.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gamma_has_its_moments(cuda, shape, dtype):
    draws = torch._standard_gamma(full(shape, dtype), generator(1))
    assert draws.min().item() > 0
    # Central moments of Gamma(a, 1): a, a, 3 a^2 + 6 a.
    assert_moments(draws, shape, shape, 3 * shape**2 + 6 * shape)


@pytest.mark.parametrize("rate", [0.01, 0.9, 6.0, 9.99, 10.0, 35.0, 1e5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_poisson_has_its_moments(cuda, rate, dtype):
    draws = torch.poisson(full(rate, dtype), generator(2))
    assert draws.equal(draws.floor())
    assert draws.min().item() >= 0
    # Central moments: r, r, 3 r^2 + r.
    assert_moments(draws, rate, rate, 3 * rate**2 + rate)


@pytest.mark.parametrize(
    ("count", "chance"),
    [(1, 0.3), (20, 0.2), (20, 0.9), (30, 0.5), (1000, 0.4), (1e6, 0.75)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_binomial_has_its_moments(cuda, count, chance, dtype):
    draws = torch.binomial(full(count, dtype), full(chance, dtype), generator(3))
    assert draws.equal(draws.floor())
    assert draws.min().item() >= 0
    assert draws.max().item() <= count
    variance = count * chance * (1 - chance)
    fourth = variance * (1 + 3 * (count - 2) * chance * (1 - chance))
    assert_moments(draws, count * chance, variance, fourth)


def test_small_counts_have_their_probabilities(cuda):
    """A share s of n draws is off by more than 5.5 sqrt(s (1 - s) / n) as
    seldom as above.
    """
    for rate in (1.5, 12.0):  # the product's and the rejection's
        drawn = torch.poisson(full(rate), generator(4)).cpu()
        for k in range(int(rate) - 1, int(rate) + 4):
            share = math.exp(k * math.log(rate) - rate - math.lgamma(k + 1))
            found = (drawn == k).double().mean().item()
            assert abs(found - share) < 5.5 * math.sqrt(share / N)
    for n, p in ((10, 0.3), (60, 0.4)):  # the waits' and the rejection's
        drawn = torch.binomial(full(n), full(p), generator(5)).cpu()
        for k in range(int(n * p) - 2, int(n * p) + 3):
            share = math.comb(n, k) * p**k * (1 - p) ** (n - k)
            found = (drawn == k).double().mean().item()
            assert abs(found - share) < 5.5 * math.sqrt(share / N)


def draws_of_all_kinds(gen, dtype="float32", n=700):
    a = full(2.5, dtype, n)
    half = full(0.5, dtype, n)
    return (
        torch._standard_gamma(a, gen),
        torch.poisson(a * 10, gen),
        torch.binomial((a * 20).round(), half, gen),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_draws_repeat_with_their_seed(cuda, dtype):
    first, again, other = (
        draws_of_all_kinds(generator(seed), dtype) for seed in (7, 7, 8)
    )
    for x, same, different in zip(first, again, other):
        assert x.dtype == getattr(torch, dtype)
        assert x.equal(same)
        assert not x.equal(different)


def test_the_generator_moves_on(cuda):
    gen = generator(7)
    first = draws_of_all_kinds(gen)
    assert offset(gen) == 12  # four a call, for one element a thread
    for x, later in zip(first, draws_of_all_kinds(gen)):
        assert not x.equal(later)
    gen = generator()
    torch.poisson(torch.zeros(0, 3, device=cuda), gen)
    assert offset(gen) == 0


def test_draws_share_no_random_numbers(cuda):
    """Neither with their neighbours nor with the calls before, though each
    takes as many as it needs: of rate 6 seven of four words' two. Correlations
    of N pairs that know nothing of each other are normal with variance 1 / N.
    """
    gen = generator(9)
    drawn = torch.stack([torch.poisson(full(6.0), gen) for _ in range(4)])
    x = (drawn.cpu() - 6) / 6**0.5

    def assert_unrelated(a, b):
        assert abs((a * b).mean().item()) < 5.5 / a.numel() ** 0.5

    for apart in (1, 2, 3):
        assert_unrelated(x[:, apart:], x[:, :-apart])
        assert_unrelated(x[apart], x[0])


def test_a_thread_draws_for_several_elements(cuda):
    """More elements than an H200 has threads."""
    n = 132 * 2048 + 1000
    gen = generator(11)
    drawn = torch._standard_gamma(full(1.0, n=n), gen).cpu()
    assert offset(gen) == 8
    assert not drawn[:1000].equal(drawn[-1000:])
    assert_moments(drawn, 1, 1, 9)


def test_extreme_parameters(cuda):
    inf, nan = float("inf"), float("nan")

    def t(*values):
        return torch.tensor(values, device=cuda)

    assert torch.poisson(t(0.0, 0.0)).tolist() == [0, 0]
    gamma = torch._standard_gamma(t(0.0, 1e-30, nan, -1.0)).tolist()
    tiny = torch.finfo(torch.float32).tiny
    assert gamma[:2] == [tiny, tiny]
    assert math.isnan(gamma[2])
    assert math.isnan(gamma[3])
    drawn = torch.binomial(
        t(0.0, 7.0, 7.0, 7.0, 7.0, -1.0, nan, 7.0),
        t(0.5, 0.0, 1.0, 2.0, -1.0, 0.5, 0.5, nan),
    ).tolist()
    assert drawn[:6] == [0, 0, 7, 7, 0, 0]
    assert math.isnan(drawn[6])
    assert math.isnan(drawn[7])
    assert torch.poisson(t(1e30)).item() == pytest.approx(1e30, rel=1e-6)
    assert torch._standard_gamma(t(inf)).item() == inf


@pytest.mark.parametrize("rate", [-1.0, float("nan")])
def test_a_rate_that_is_none_raises(cuda, rate):
    x = torch.tensor([1.0, rate, 2.0], device=cuda)
    with pytest.raises(RuntimeError, match="invalid Poisson rate"):
        torch.poisson(x).cpu()
    assert torch.poisson(torch.zeros(2, device=cuda)).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slopes_of_gamma_draws(cuda, dtype):
    kind = getattr(torch, dtype)
    torch.manual_seed(0)
    a = torch.tensor([1e-3, 0.1, 1.0, 5.0, 30.0, 9999.0, 2e4], dtype=kind)
    a = a[:, None].expand(7, 40)[:, ::2]
    x = a * (torch.rand(20, 7, dtype=kind) * 2 + 1e-3).t()
    assert_slopes_near(torch._standard_gamma_grad, a, x)
    edges = torch.tensor([1.0, 0.0, -1.0, 1.0, float("inf")], dtype=kind)
    at = torch.tensor([0.0, 1.0, 1.0, float("nan"), 1.0], dtype=kind)
    found = torch._standard_gamma_grad(edges.cuda(), at.cuda()).tolist()
    assert found[0] == 0
    assert all(math.isnan(v) for v in found[1:])
    assert_slopes_near(torch._standard_gamma_grad, a[:0], x[:0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slopes_of_dirichlet_draws(cuda, dtype):
    kind = getattr(torch, dtype)
    torch.manual_seed(0)
    x = torch.rand(40, 6, dtype=kind).clamp(1e-4, 1 - 1e-4).t()
    a = torch.tensor([0.01, 1.0, 3.0, 50.0, 400.0, 2e5], dtype=kind)[:, None]
    total = a + torch.tensor([0.5, 3.0, 500.0, 3e5], dtype=kind).repeat(10)
    assert_slopes_near(torch._dirichlet_grad, x, a, total)
    assert_slopes_near(torch._dirichlet_grad, x[:, :0], a, total[:, :0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_slopes_of_16_bits_are_those_of_float(cuda, dtype):
    """In double, rounded once."""
    kind = getattr(torch, dtype)
    a = torch.linspace(0.1, 9, 50, device=cuda).to(kind)
    x = torch.linspace(9, 0.1, 50, device=cuda).to(kind)
    slopes = torch._standard_gamma_grad(a, x)
    wide = torch._standard_gamma_grad(a.double(), x.double())
    assert slopes.equal(wide.to(torch.float32).to(kind))
    share = torch.linspace(0.1, 0.9, 50, device=cuda).to(kind)
    slopes = torch._dirichlet_grad(share, a, a + 2)
    wide = torch._dirichlet_grad(share.double(), a.double(), (a + 2).double())
    assert slopes.equal(wide.to(torch.float32).to(kind))


def test_gradients_flow_through_draws(cuda):
    a = torch.rand(50, device=cuda).add(0.2).requires_grad_()
    torch.cuda.manual_seed(3)
    drawn = torch._standard_gamma(a)
    drawn.sum().backward()
    expected = torch._standard_gamma_grad(a.detach(), drawn.detach())
    assert a.grad.equal(expected)
    torch.poisson(a).sum().backward()
    assert a.grad.equal(expected)  # nothing more


def test_distributions_draw_on_cuda(cuda):
    """Shares of Dirichlet(a) have means a / sum(a) and variances below 1/4."""
    a = torch.tensor([0.5, 1.0, 4.5], device=cuda)
    shares = torch.distributions.Dirichlet(a).sample((4000,))
    assert torch.allclose(shares.sum(-1).cpu(), torch.ones(4000))
    mean = a.cpu() / 6
    bound = 5.5 * (mean * (1 - mean) / 7 / 4000).sqrt()
    assert ((shares.mean(0).cpu() - mean).abs() <= bound).all()
    a = a.clone().requires_grad_()
    torch.distributions.Dirichlet(a).rsample((5,))[:, 0].sum().backward()
    assert a.grad.isfinite().all()
    assert a.grad[0].item() > 0
