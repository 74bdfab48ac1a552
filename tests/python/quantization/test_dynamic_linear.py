"""Linear maps of floats that compute in 8-bit integers."""

import pytest
from hotaru._quantized import products
from hotaru._quantized.choose import choose_qparams

import hotaru as torch
from hotaru import _C

nnqd = torch.ao.nn.quantized.dynamic


def weight_of(n, k, per_channel, zero=0):
    numbers = torch.randn(n, k)
    if per_channel:
        scales = torch.rand(n).double() * 0.02 + 0.001
        zeros = torch.arange(n) % 5 - 2 if zero else torch.zeros(n).long()
        return torch.quantize_per_channel(numbers, scales, zeros, 0, torch.qint8)
    return torch.quantize_per_tensor(numbers, 0.03, zero, torch.qint8)


def expected(x, weight, bias):
    """The same in float64, integers and all, as PyTorch defines it."""
    low, high = min(x.min().item(), 0.0), max(x.max().item(), 0.0)
    scale, zero = choose_qparams(low, high, 0, 255, reduce_range=True)
    inverse = torch.tensor(1.0) / scale
    integers = (x * inverse + zero).round().clamp(0, 255) - zero
    levels = weight.int_repr().double()
    if weight.qscheme() == torch.per_tensor_affine:
        levels, step = levels - weight.q_zero_point(), weight.q_scale()
    else:
        levels = levels - weight.q_per_channel_zero_points().unsqueeze(1)
        step = weight.q_per_channel_scales()
    made = integers.double() @ levels.t() * (step * scale)
    return made if bias is None else made + bias.double()


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("zero", [0, 3])
@pytest.mark.parametrize("shape", [(1, 7), (5, 64), (33, 300), (2, 3, 17), (9,)])
def test_values(shape, per_channel, zero):
    torch.manual_seed(len(shape) + zero)
    x = torch.randn(shape) * 3 + 0.5
    weight = weight_of(21, shape[-1], per_channel, zero)
    for bias in (None, torch.randn(21)):
        got = products.linear_dynamic(x, weight, bias)
        want = expected(x, weight, bias)
        assert got.shape == want.shape
        assert got.dtype is torch.float32
        # Exact sums; then three roundings of float32, and those of the scales.
        limit = 6 * 2.0**-24 * (want.abs().max().item() + 3)
        assert (got.double() - want).abs().max().item() <= limit


def test_strided_inputs_and_queued_streams():
    x, weight = torch.randn(64, 40).t(), weight_of(8, 64, True)
    want = products.linear_dynamic(x.contiguous(), weight, None)
    assert torch.equal(products.linear_dynamic(x, weight, None), want)
    with torch.cpu.stream(torch.cpu.Stream()):
        queued = products.linear_dynamic(x, weight, None)
    torch.cpu.synchronize()
    assert torch.equal(queued, want)


def test_results_do_not_depend_on_threads():
    x, weight = torch.randn(300, 512), weight_of(70, 512, True)
    saved, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            found.append(products.linear_dynamic(x, weight, None))
    finally:
        torch.set_num_threads(saved)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def test_graphs_see_each_call_s_range():
    model = torch.nn.Sequential(
        torch.nn.Linear(48, 96), torch.nn.ReLU(), torch.nn.Linear(96, 5)
    )
    model = torch.ao.quantization.quantize_dynamic(model.eval())
    assert isinstance(model[0], nnqd.Linear)
    run = torch.compile(model, fullgraph=True)
    with torch.no_grad():
        for size in (1.0, 30.0, 0.01):
            x = torch.randn(4, 48) * size
            assert torch.equal(run(x), model(x))


def test_nothing_and_zeros():
    weight = weight_of(6, 10, True)
    assert products.linear_dynamic(torch.ones(0, 10), weight, None).shape == (0, 6)
    got = products.linear_dynamic(torch.zeros(3, 10), weight, None)
    assert torch.equal(got, torch.zeros(3, 6))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 40, 5000])
@pytest.mark.parametrize("at", [0, -1])
def test_a_nan_is_an_error_wherever_it_stands(n, at):
    x = torch.ones(1, n)
    x[0, at] = float("nan")
    with pytest.raises(RuntimeError, match="min should be less than or equal"):
        products.linear_dynamic(x, weight_of(3, n, False), None)


def test_wrong_operands():
    run = _C._operator("hotaru::linear_dynamic")
    x, w, s = torch.ones(2, 4), torch.ones(3, 4).to(torch.int8), torch.ones(1)
    with pytest.raises(RuntimeError, match="expected scalar type Float but fo"):
        run(x.double(), w, s)
    with pytest.raises(RuntimeError, match="should be a matrix of int8, got F"):
        run(x, torch.ones(3, 4), s)
    with pytest.raises(RuntimeError, match="does not fit a weight of shape"):
        run(torch.ones(2, 5), w, s)


@pytest.mark.parametrize(
    ("low", "high", "symmetric", "want"),
    [
        (-1.0, 1.0, False, (2 / 127, 64)),
        (0.0, 0.0, False, (0.1, 0)),
        (2.0, 3.0, False, (3 / 127, 0)),
        (-3.0, -2.0, False, (3 / 127, 127)),
        (0.0, 1e-6, False, (6.1e-5, 0)),
        (-1.0, 3.0, True, (3 / 63 * 127 / 127, 64)),
    ],
)
def test_scales_and_zero_points(low, high, symmetric, want):
    scale, zero = choose_qparams(
        low, high, 0, 255, reduce_range=True, symmetric=symmetric
    )
    assert zero == want[1]
    assert scale == pytest.approx(want[0], rel=1e-6)


LINEAR = _C._operator("hotaru::linear_dynamic")


@pytest.mark.parametrize("rows", [0, 1, 8, 9, 40])
@pytest.mark.parametrize("biased", [False, True])
def test_scales_and_bias_are_applied_as_operators_would(rows, biased):
    """Sums become floats, are scaled and biased, each step rounded; one pass
    that multiplied and added at once would have other bits.
    """
    torch.manual_seed(rows)
    for n, k in ((1, 1), (15, 33), (16, 64), (17, 66), (70, 130), (33, 1024)):
        x = torch.randn(rows, k)
        weight = torch.randint(-128, 128, (n, k)).to(torch.int8)
        bias = torch.randn(2 * n)[::2] if biased else None
        for scale in (torch.rand(1) + 0.1, torch.rand(n)):
            got = LINEAR(x, weight, scale, None, bias)
            if rows == 0:
                assert got.shape == (0, n)
                continue
            low, high = min(x.min().item(), 0.0), max(x.max().item(), 0.0)
            step, zero = choose_qparams(low, high, 0, 255, reduce_range=True)
            step = torch.tensor(step)
            q = (x * (torch.tensor(1.0) / step) + zero).round().clamp(0, 255)
            sums = (q.double() - zero) @ weight.double().t()
            want = sums.float() * (scale * step)
            want = want if bias is None else want + bias
            assert torch.equal(got, want), (n, k)
            graph = torch.cpu.Graph()
            with torch.cpu.graph(graph):
                replayed = LINEAR(x, weight, scale, None, bias)
            graph.replay()
            assert torch.equal(replayed, want), (n, k)


@pytest.mark.parametrize(
    ("scale", "bias", "expected"),
    [
        (torch.ones(3), None, "the scale should be float32, one for each of 4"),
        (torch.ones(1).double(), None, "or one for all, got Double"),
        (torch.ones(1), torch.ones(1), "the bias should be float32, one for"),
    ],
)
def test_errors_say_what_would_be_right(scale, bias, expected):
    with pytest.raises(RuntimeError) as error:
        LINEAR(torch.ones(2, 8), torch.ones(4, 8).to(torch.int8), scale, None, bias)
    assert expected in str(error.value)
