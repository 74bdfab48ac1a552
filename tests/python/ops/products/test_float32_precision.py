"""Setting that lets factors of float32 be bfloat16: products and layers."""

import math

import pytest

import hotaru as torch

F = torch.nn.functional
MKLDNN = torch.backends.mkldnn


@pytest.fixture(autouse=True)
def own_precision():
    torch.manual_seed(0)
    yield
    torch.set_float32_matmul_precision("highest")
    MKLDNN.fp32_precision = "none"
    for family in (MKLDNN.matmul, MKLDNN.conv, MKLDNN.rnn):
        family.fp32_precision = "none"


def rounded(x):
    return x.bfloat16().double()


def bound(x, y):
    """Bound on the distance to the product of rounded factors: sums of k terms
    in float32, in any order, each step rounded by 2 ** -24 of what it adds up
    to.
    """
    return x.shape[-1] * 2.0**-23 * (x.abs() @ y.abs()).max().item()


def takes_permission():
    """The processor's instructions decide whether permission is used."""
    x = torch.full((64, 64), 1 + 2.0**-12)
    return (x @ x)[0, 0].item() == 64


def expect(got, x, y, exact):
    """One of the two: all factors rounded, or none."""
    want = x.double() @ y.double() if exact else rounded(x) @ rounded(y)
    assert (got.double() - want).abs().max().item() <= bound(x, y)


SHAPES = [(128, 96, 64), (33, 40, 35), (200, 32, 1025), (1, 300, 500)]


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
@pytest.mark.parametrize("transposed", [False, True])
def test_products_are_rounded_when_permitted(m, n, k, transposed):
    x = torch.randn(m, k)
    y = torch.randn(n, k).t() if transposed else torch.randn(k, n)
    torch.set_float32_matmul_precision("medium")
    exact = m < 32 or not takes_permission()  # few rows: rounding takes longer
    expect(x @ y, x, y, exact)
    expect(torch.stack([x] * 3) @ y, x, y, exact)
    expect(torch.bmm(torch.stack([x] * 3), torch.stack([y] * 3)), x, y, exact)
    expect(torch.addmm(torch.zeros(n), x, y), x, y, exact)
    expect(F.linear(x, y.t()), x, y, exact)
    torch.set_float32_matmul_precision("high")
    expect(x @ y, x, y, True)
    torch.set_float32_matmul_precision("highest")
    expect(x @ y, x, y, True)


def test_gradients_are_products_too():
    x = torch.randn(64, 64, requires_grad=True)
    y, slope = torch.randn(64, 64), torch.randn(64, 64)
    torch.set_float32_matmul_precision("medium")
    exact = not takes_permission()
    (x @ y).backward(slope)
    expect(x.grad, slope, y.t(), exact)


def test_other_dtypes_stay_as_they_are():
    x = torch.randn(64, 64, dtype=torch.float64)
    want = x @ x
    torch.set_float32_matmul_precision("medium")
    assert torch.equal(x @ x, want)


@pytest.mark.parametrize("m", [1, 5, 70])
def test_graphs_pack_rounded_weights(m):
    """Whatever the processor has: weights are halved."""
    x, w, b = torch.randn(m, 65), torch.randn(97, 65), torch.randn(97)

    def layer(x):
        return F.relu(F.linear(x, w, b))

    with torch.no_grad():
        torch.set_float32_matmul_precision("medium")
        graphed = torch.compile(layer)
        got = graphed(x)
        near = (rounded(x) @ rounded(w).t() + b.double()).relu()
        mixed = (x.double() @ rounded(w).t() + b.double()).relu()
        limit = bound(x, w.t())
        gaps = [(got.double() - y).abs().max().item() for y in (near, mixed)]
        assert min(gaps) <= limit
        w.copy_(torch.randn(97, 65))  # packed anew
        mixed = (x.double() @ rounded(w).t() + b.double()).relu()
        near = (rounded(x) @ rounded(w).t() + b.double()).relu()
        got = graphed(x)
        gaps = [(got.double() - y).abs().max().item() for y in (near, mixed)]
        assert min(gaps) <= limit


def test_compiled_calls_follow_the_setting():
    x, w = torch.randn(64, 64), torch.randn(64, 64)
    graphed = torch.compile(lambda x: x @ w)
    with torch.no_grad():
        for name in ("highest", "medium", "highest"):
            torch.set_float32_matmul_precision(name)
            for _ in range(3):
                assert torch.equal(graphed(x), x @ w)


def test_names_of_precisions():
    seen = []
    for name in ("medium", "high", "highest"):
        torch.set_float32_matmul_precision(name)
        seen.append(MKLDNN.matmul.fp32_precision)
    assert seen == ["bf16", "tf32", "ieee"]
    MKLDNN.matmul.fp32_precision = "none"
    with MKLDNN.flags(fp32_precision="bf16"):
        assert MKLDNN.matmul.fp32_precision == "bf16"
        x = torch.full((64, 64), 1 + 2.0**-12)
        assert (x @ x)[0, 0].item() == 64 or not takes_permission()
    assert MKLDNN.matmul.fp32_precision == "none"
    with pytest.raises(RuntimeError, match="Unknown precision: x"):
        MKLDNN.matmul.fp32_precision = "x"
    with pytest.raises(AttributeError, match="Unknown attribute y"):
        MKLDNN.matmul.y = 1


def test_convolutions_have_a_precision_of_their_own():
    torch.set_float32_matmul_precision("medium")
    assert MKLDNN.conv.fp32_precision == "none"
    MKLDNN.fp32_precision = "bf16"
    assert MKLDNN.conv.fp32_precision == "bf16"
    MKLDNN.conv.fp32_precision = "ieee"
    assert MKLDNN.conv.fp32_precision == "ieee"
    assert MKLDNN.fp32_precision == "bf16"
    with pytest.raises(RuntimeError, match="Unknown precision: x"):
        MKLDNN.conv.fp32_precision = "x"


def test_graphs_round_what_convolutions_read():
    """Once each: picture, weight, and the result that another one reads."""
    net = torch.nn.Sequential(
        torch.nn.Conv2d(32, 48, 3, padding=1, bias=False),
        torch.nn.ReLU(),
        torch.nn.Conv2d(48, 64, 1, bias=False),
    ).eval()
    x = torch.randn(2, 32, 9, 7)
    with torch.no_grad():
        exact = net(x)
        torch.set_float32_matmul_precision("medium")
        assert (torch.compile(net)(x) - exact).abs().max().item() < 1e-5
        MKLDNN.conv.fp32_precision = "bf16"
        graphed = torch.compile(net)
        got = [graphed(x) for _ in range(2)][1]
        eager = net(x)
        first, _, second = net
        y = F.conv2d(rounded(x), rounded(first.weight), padding=1).relu()
        want = F.conv2d(rounded(y), rounded(second.weight))
    assert got.dtype == torch.float32
    if not takes_permission_in_graphs():
        assert (got - exact).abs().max().item() < 1e-5
        assert torch.equal(eager, exact)
        return
    # Where a sum lies between two numbers of 8 bits, its last bit decides.
    weights = second.weight.abs().sum((1, 2, 3)).max().item()
    limit = 1e-5 + weights * 2.0**-8 * y.abs().max().item()
    for result in (got, eager):
        gap = (result.double() - want).abs()
        assert gap.max().item() <= limit
        assert gap.median().item() < 1e-5
        assert (result - exact).abs().median().item() > 1e-5


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize(("inputs", "hidden"), [(48, 64), (33, 35)])
@pytest.mark.parametrize("batch", [1, 3])
def test_graphs_round_what_recurrent_layers_multiply(kind, inputs, hidden, batch):
    """On any processor: weights are halved. Gates and cells stay exact."""
    net = getattr(torch.nn, kind)(inputs, hidden).eval()
    x = torch.randn(12, batch, inputs)
    with torch.no_grad():
        exact = net(x)[0]
        MKLDNN.rnn.fp32_precision = "bf16"
        eager = net(x)[0]
        graphed = torch.compile(net)
        got = [graphed(x)[0] for _ in range(2)][1]
        want = by_steps(kind, net, x)
    # h is below 1; where the last bit of a rounded one decides, its products
    # with weights below 1 / sqrt(hidden) differ by that bit.
    rounds = 12 * batch >= 16 and takes_permission_in_graphs()
    assert rounds or torch.equal(eager, exact)  # too few rows to pay
    for result in (got, eager) if rounds else (got,):
        gap = (result.double() - want).abs()
        assert gap.max().item() < 12 * 2.0**-9 * hidden**0.5
        assert gap.median().item() < 2e-3
        assert (result - exact).abs().max().item() > 1e-5


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("steps", "batch"), [(20, 1), (20, 5), (3, 2)])
def test_recurrent_layers_of_16_bits(kind, dtype, steps, batch):
    """Eager and in a graph, both directions, odd sizes; states are floats."""
    net = getattr(torch.nn, kind)(33, 35, bidirectional=True).to(dtype).eval()
    x = torch.randn(steps, batch, 33).to(dtype)
    wide = getattr(torch.nn, kind)(33, 35, bidirectional=True).double().eval()
    wide.load_state_dict(net.state_dict())
    with torch.no_grad():
        graphed = torch.compile(net)
        results = [net(x), graphed(x), graphed(x)]
        want, last = wide(x.double())
    unit = 2.0**-8 if dtype == torch.bfloat16 else 2.0**-11
    for y, state in results:
        assert y.dtype == dtype
        # States below 1, rounded where they are multiplied by weights below
        # 1 / sqrt(35); forgetting halves what was before.
        gap = (y.double() - want).abs()
        assert gap.max().item() <= 4 * 35**0.5 * unit
        assert gap.median().item() <= unit
        h = state[0] if kind == "LSTM" else state
        end = last[0] if kind == "LSTM" else last
        assert (h.double() - end).abs().max().item() <= 4 * 35**0.5 * unit
        assert torch.equal(h[0], y[-1, :, :35])
    assert torch.equal(results[1][0], results[2][0])


def by_steps(kind, net, x):
    weights = [rounded(net.weight_ih_l0).t(), rounded(net.weight_hh_l0).t()]
    biases = [net.bias_ih_l0.double(), net.bias_hh_l0.double()]
    h = c = torch.zeros(x.shape[1], net.hidden_size, dtype=torch.float64)
    out = []
    for step in x:
        g = rounded(step) @ weights[0] + biases[0]
        q = rounded(h) @ weights[1] + biases[1]
        if kind == "RNN":
            h = (g + q).tanh()
        elif kind == "LSTM":
            i, f, n, o = (g + q).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * n.tanh()
            h = o.sigmoid() * c.tanh()
        else:
            r, z = ((g + q).chunk(3, -1)[k].sigmoid() for k in (0, 1))
            n = (g.chunk(3, -1)[2] + r * q.chunk(3, -1)[2]).tanh()
            h = n + z * (h - n)
        out.append(h)
    return torch.stack(out)


@pytest.mark.parametrize("autocast", [False, True])
def test_graphs_of_convolutions_in_bfloat16(autocast):
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, 2),
        torch.nn.BatchNorm2d(32),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 48, 3, padding=1),
        torch.nn.Hardswish(),
        torch.nn.ConvTranspose2d(48, 32, 2, 2),
        torch.nn.AdaptiveAvgPool2d(1),
    ).eval()
    net[1].running_mean.uniform_(-1, 1)
    net[1].running_var.uniform_(0.5, 2)
    x = torch.randn(2, 3, 17, 15)
    with torch.no_grad():
        exact = net(x)
        if not autocast:
            net, x = net.bfloat16(), x.bfloat16()
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            eager = net(x)
            graphed = torch.compile(net)
            got = [graphed(x) for _ in range(2)][1]
    assert got.dtype == eager.dtype == torch.bfloat16
    # Roundings of what the calls round, or fewer.
    gaps = [(y.float() - exact).abs().max().item() for y in (got, eager)]
    assert gaps[0] <= 2 * gaps[1] + 2.0**-9


def takes_permission_in_graphs():
    MKLDNN.matmul.fp32_precision = "bf16"
    return takes_permission()


@pytest.mark.parametrize("m", [1, 3, 5, 40])
@pytest.mark.parametrize("k", [1, 2, 33, 700])
@pytest.mark.parametrize("transposed", [False, True])
def test_products_of_bfloat16_are_rounded_once(m, k, transposed):
    x, y = torch.randn(m, k).bfloat16(), torch.randn(k, 50).bfloat16()
    if transposed:
        y = torch.randn(50, k).bfloat16().t()
    got, want = x @ y, x.double() @ y.double()
    # Half a unit of 8 bits, and the sums'.
    limit = want.abs() * 2.0**-8 + bound(x.double(), y.double())
    assert bool(((got.double() - want).abs() <= limit).all())
    assert math.isfinite(got.float().sum().item())


def test_graphs_of_bfloat16_finish_in_float():
    layer = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.GELU())
    layer = layer.bfloat16().eval()
    x = torch.randn(9, 64).bfloat16()
    r = torch.randn(9, 48).bfloat16()
    with torch.no_grad():
        w, b = layer[0].weight.double(), layer[0].bias.double()
        graphed = torch.compile(lambda x, r: layer(x) + r)
        for _ in range(3):
            got = graphed(x, r)
        want = F.gelu(x.double() @ w.t() + b) + r.double()
        # GELU's slope is at most 1.13; two roundings behind it.
        assert (got.double() - want).abs().max().item() <= 3 * 2.0**-8 * (
            want.abs().max().item() + 1
        )
