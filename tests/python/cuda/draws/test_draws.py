"""Random draws on a CUDA device are PyTorch's for the same seed.

That is so for one number of processors: 132 of 2048 threads, as an H200 has
them. Which words of Philox elements get is said once more here, in Python.
"""

from __future__ import annotations

import math

FLOATS = ("float32", "float64", "float16", "bfloat16")


def generator(torch, seed=0):
    return torch.Generator(device="cuda").manual_seed(seed)


def printed(tensor, digits=4):
    return [round(x, digits) for x in tensor.tolist()]


# Known draws, which PyTorch's users print on their GPUs, whichever these are.
def test_known_uniform_draws(hotaru, cuda):
    torch = hotaru
    draws = torch.rand(3, device=cuda, generator=generator(torch))
    assert printed(draws) == [0.3990, 0.5167, 0.0249]
    draws = torch.rand(4, device=cuda, generator=generator(torch, 42))
    assert printed(draws) == [0.6130, 0.0101, 0.3984, 0.0403]


def test_known_normal_draws(hotaru, cuda):
    torch = hotaru
    draws = torch.randn(8, device=cuda, generator=generator(torch))
    assert printed(draws) == [
        -0.9247,
        -0.4253,
        -2.6438,
        0.1452,
        -0.1209,
        -0.5797,
        -0.6229,
        -0.3284,
    ]
    draws = torch.randn(5, device=cuda, generator=generator(torch, 42))
    assert printed(draws) == [0.1940, 2.1614, -0.1721, 0.8491, -1.9244]


def philox(counter, key):
    """Philox 4x32-10 in Python's integers."""
    x, y, z, w = counter
    low, high = key
    mask = 0xFFFFFFFF
    for _ in range(10):
        a, b = 0xD2511F53 * x, 0xCD9E8D57 * z
        x, y, z, w = ((b >> 32) ^ y ^ low, b & mask, (a >> 32) ^ w ^ high, a & mask)
        low, high = (low + 0x9E3779B9) & mask, (high + 0xBB67AE85) & mask
    return x, y, z, w


def words(seed, thread, n):
    return philox((n, 0, thread, 0), (seed, 0))


THREADS = 132 * 2048  # of an H200 at once


def test_philox_is_right(hotaru):
    assert words(0, 0, 0) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)


def test_uniform_draws_of_many(hotaru, cuda):
    """A thread's second to fourth words go to elements all threads further."""
    torch = hotaru
    n = 4 * THREADS + 5
    gen = generator(torch, 3)
    draws = torch.rand(n, device=cuda, generator=gen)
    for i in (0, 7, THREADS + 1, 3 * THREADS + 2, 4 * THREADS + 4):
        thread, place = i % THREADS, i // THREADS
        word = words(3, thread, place // 4)[place % 4]
        assert abs(draws[i].item() - word / 2**32) < 1e-7
    assert gen.get_state().tolist()[8] == 8
    assert draws.min().item() >= 0
    assert draws.max().item() < 1


def test_uniform_bounds(hotaru, cuda):
    torch = hotaru
    for dtype in FLOATS:
        draws = torch.empty(3000, dtype=getattr(torch, dtype), device=cuda)
        draws.uniform_(2, 3, generator=generator(torch, 4))
        assert draws.min().item() >= 2
        assert draws.max().item() < 3


def test_draws_of_doubles(hotaru, cuda):
    torch = hotaru
    options = {"dtype": torch.float64, "device": cuda}
    draws = torch.rand(300, generator=generator(torch, 6), **options)
    for i in (0, 299):
        x, y, _, _ = words(6, i, 0)
        bits = x ^ (y << 21)
        assert draws[i].item() == bits / 2**53 + 2**-54
    normal = torch.randn(300, generator=generator(torch, 6), **options)
    x, y, z, w = words(6, 9, 0)
    u, v = (x ^ (y << 21)) / 2**53, (z ^ (w << 21)) / 2**52
    expected = math.sqrt(-2 * math.log(u)) * math.sin(math.pi * v)
    assert math.isclose(normal[9].item(), expected, rel_tol=1e-9)


def test_draws_of_views(hotaru, cuda):
    """Elements are counted in the order in which they lie in memory."""
    torch = hotaru
    plain = torch.rand(4, 6, device=cuda, generator=generator(torch, 8))
    for view in (lambda t: t.t(), lambda t: t.reshape(2, 2, 6).permute(2, 0, 1)):
        out = torch.zeros(4, 6, device=cuda)
        view(out).uniform_(generator=generator(torch, 8))
        assert torch.equal(out, plain)
    wide = torch.zeros(4, 12, device=cuda)
    wide[:, ::2].uniform_(generator=generator(torch, 8))
    assert torch.equal(wide[:, ::2], plain)
    assert wide[:, 1::2].abs().sum().item() == 0


def test_integer_draws(hotaru, cuda):
    torch = hotaru
    draws = torch.randint(0, 10, (5,), device=cuda, generator=generator(torch, 1))
    assert draws.tolist() == [words(1, i, 0)[0] % 10 for i in range(5)]
    wide = torch.empty(5, dtype=torch.int64, device=cuda)

    def word64(i):
        x, y, _, _ = words(1, i, 0)
        return x << 32 | y

    wide.random_(0, 2**40, generator=generator(torch, 1))
    assert wide.tolist() == [word64(i) % 2**40 for i in range(5)]
    wide.random_(generator=generator(torch, 1))
    assert wide.tolist() == [word64(i) % 2**63 for i in range(5)]
    wide.random_(-(2**63), None, generator=generator(torch, 1))
    assert wide.tolist() == [
        word64(i) - (2**64 if word64(i) >> 63 else 0) for i in range(5)
    ]
    for dtype, modulus in (
        ("uint8", 2**8),
        ("int8", 2**7),
        ("int32", 2**31),
        ("bool", 2),
        ("float32", 2**24 + 1),
        ("float16", 2**11 + 1),
        ("bfloat16", 2**8 + 1),
    ):
        out = torch.empty(5, dtype=getattr(torch, dtype), device=cuda)
        out.random_(generator=generator(torch, 1))
        expected = torch.tensor([words(1, i, 0)[0] % modulus for i in range(5)])
        assert torch.equal(out.cpu(), expected.to(out.dtype)), dtype


def test_exponential_draws(hotaru, cuda):
    torch = hotaru
    out = torch.empty(4, device=cuda).exponential_(2, generator=generator(torch, 5))
    for i in range(4):
        u = (words(5, i, 0)[0] + 0.5) / 2**32
        assert math.isclose(out[i].item(), -math.log(u) / 2, rel_tol=1e-5)
    many = torch.empty(20000, device=cuda).exponential_(generator=generator(torch))
    assert many.min().item() > 0
    assert abs(many.mean().item() - 1) < 0.03


def test_cauchy_log_normal_and_geometric_draws(hotaru, cuda):
    """By the formulas of PyTorch's kernels, from the same uniform numbers."""
    torch = hotaru

    def drawn(method, *args, dtype=torch.float32):
        out = torch.empty(4, dtype=dtype, device=cuda)
        return getattr(out, method)(*args, generator=generator(torch, 5))

    u = [(words(5, i, 0)[0] + 0.5) / 2**32 for i in range(4)]
    angles = [math.tan(math.pi * (x - 0.5)) for x in u]
    for got, angle in zip(drawn("cauchy_", 1, 3).tolist(), angles):
        assert math.isclose(got, 1 + 3 * angle, rel_tol=1e-4)
    normals = drawn("normal_", 1, 0.5).tolist()
    for got, x in zip(drawn("log_normal_", 1, 0.5).tolist(), normals):
        assert math.isclose(got, math.exp(x), rel_tol=1e-5)
    trials = [math.ceil(math.log(x) / math.log1p(-0.1)) for x in u]
    for dtype in (torch.float32, torch.float16, torch.int64, torch.uint8):
        assert drawn("geometric_", 0.1, dtype=dtype).tolist() == trials
    ends = torch.empty(200000, device=cuda).cauchy_(generator=generator(torch, 1))
    assert ends.isfinite().all()


def test_bernoulli_draws(hotaru, cuda):
    torch = hotaru
    out = torch.empty(9, device=cuda).bernoulli_(0.4, generator=generator(torch, 2))
    assert out.tolist() == [float(words(2, i, 0)[0] / 2**32 < 0.4) for i in range(9)]
    for dtype in ("float32", "float64", "float16"):
        p = torch.linspace(0, 1, 11).to(getattr(torch, dtype)).to(cuda)
        gen = generator(torch, 2)
        out = torch.bernoulli(p, generator=gen)
        # Four elements a thread.
        expected = [
            float(words(2, i // 4, 0)[i % 4] / 2**32 <= p[i].item()) for i in range(11)
        ]
        assert out.tolist() == expected
        assert gen.get_state().tolist()[8] == 12


def test_dropout_draws(hotaru, cuda):
    """The order depends on how many elements fill 16 bytes."""
    torch = hotaru
    for dtype, n, vector in (
        ("float32", 8, 4),
        ("float32", 6, 2),
        ("float32", 7, 1),
        ("float16", 24, 8),
        ("float16", 12, 4),
        ("float64", 6, 2),
    ):
        torch.cuda.manual_seed(7)
        x = torch.ones(n, dtype=getattr(torch, dtype), device=cuda)
        out = torch.nn.functional.dropout(x, 0.25)
        kept = []
        for i in range(n):
            thread, place = i // vector, i % vector
            kept.append(words(7, thread, place // 4)[place % 4] / 2**32 < 0.75)
        assert [x != 0 for x in out.tolist()] == kept, (dtype, n)
        expected = torch.tensor(kept).to(x.dtype).div(0.75)
        assert torch.equal(out.cpu(), expected)


def test_dropout_has_a_gradient(hotaru, cuda):
    torch = hotaru
    x = torch.ones(50, device=cuda, requires_grad=True)
    out = torch.nn.functional.dropout(x, 0.5)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())
    assert torch.equal(torch.dropout(x, 0.5, False), x)
    y, mask = torch.native_dropout(x.detach(), 0.5, True)
    assert torch.equal(y, mask * 2.0)


def test_multinomial_draws(hotaru, cuda):
    torch = hotaru
    weights = torch.tensor([[1.0, 2.0, 0.0, 5.0], [0.0, 1.0, 1.0, 0.0]])
    sums = [[0.125, 0.375, 0.375, 1.0], [0.0, 0.5, 1.0, 1.0]]
    out = torch.multinomial(
        weights.to(cuda), 6, replacement=True, generator=generator(torch, 9)
    )
    expected = []
    for row in range(2):
        draws = [(words(9, row * 128 + s, 0)[0] + 0.5) / 2**32 for s in range(6)]
        expected.append([min(i for i in range(4) if sums[row][i] >= u) for u in draws])
    assert out.tolist() == expected
    many = torch.rand(700, device=cuda, generator=generator(torch))
    drawn = torch.multinomial(many, 3000, True, generator=generator(torch))
    assert drawn.min().item() >= 0
    assert drawn.max().item() < 700
    once = torch.multinomial(many, 1, generator=generator(torch))
    assert 0 <= once.item() < 700


def test_permutations(hotaru, cuda):
    torch = hotaru
    for n in (0, 1, 2, 10, 1000, 40000):
        gen = generator(torch, 3)
        out = torch.randperm(n, device=cuda, generator=gen)
        assert torch.equal(out.cpu().sort()[0], torch.arange(n))
    small = torch.randperm(9, device=cuda, generator=generator(torch, 3))
    bits = math.ceil(math.log2(9 - (6 * 81 + 1) / (12 * math.log(0.9))))
    keys = []
    for i in range(9):
        x, y, _, _ = words(3, i, 0)
        keys.append(((x << 32 | y) % (2**32 - 1) - 2**31) % 2**bits)
    assert len(set(keys)) == 9
    assert small.tolist() == sorted(range(9), key=keys.__getitem__)
    half = torch.randperm(
        9, device=cuda, dtype=torch.float16, generator=generator(torch, 3)
    )
    assert half.tolist() == small.tolist()


def test_random_slopes(hotaru, cuda):
    torch = hotaru
    torch.cuda.manual_seed(11)
    x = torch.tensor([-1.0, 2.0, -3.0, 0.0, -1.0], device=cuda)
    out = torch.rrelu(x, 0.1, 0.3, True).tolist()
    for i, value in enumerate(x.tolist()):
        slope = 0.1 + 0.2 * words(11, i, 0)[0] / 2**32 if value <= 0 else 1
        assert math.isclose(out[i], value * slope, rel_tol=1e-5)


def test_draws_of_nothing(hotaru, cuda):
    torch = hotaru
    gen = generator(torch)
    torch.rand(0, 3, device=cuda, generator=gen)
    torch.empty(0, dtype=torch.int64, device=cuda).random_(generator=gen)
    assert gen.get_state().tolist()[8] == 0
