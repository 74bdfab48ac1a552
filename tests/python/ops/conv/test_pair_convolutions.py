"""Convolutions of 16-bit floats, and of floats that may be rounded, eagerly."""

import itertools

import pytest

import hotaru as torch

F = torch.nn.functional
HALF_UNIT = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 2.0**-24}
CONVOLUTIONS = [F.conv1d, F.conv2d, F.conv3d]

# (channels, outputs, groups), (sizes), (kernel), options
CASES = [
    ((6, 32, 1), (11, 13), (3, 3), {"padding": 1}),
    ((7, 17, 1), (9, 9), (3, 2), {"stride": 2}),
    ((3, 64, 1), (23, 23), (7, 7), {"stride": 2, "padding": 3}),
    ((64, 40, 1), (8, 9), (1, 1), {}),
    ((33, 20, 1), (8, 9), (1, 1), {"stride": 2}),
    ((16, 64, 4), (10, 12), (3, 3), {"padding": 2, "dilation": 2}),
    ((6, 54, 2), (10, 12), (3, 3), {"padding": (0, 1)}),
    ((8, 8, 8), (12, 20), (3, 3), {"padding": 1}),
    ((5, 33, 1), (70,), (5,), {"padding": 2}),
    ((5, 33, 1), (9,), (5,), {}),
    ((3, 20, 1), (5, 6, 7), (2, 3, 3), {"padding": 1}),
]


@pytest.fixture
def permission():
    torch.backends.mkldnn.conv.fp32_precision = "bf16"
    yield
    torch.backends.mkldnn.conv.fp32_precision = "none"


def check(got, x, w, bias, options, dtype):
    """One rounding of the result, and sums of floats, of rounded factors."""
    convolve = CONVOLUTIONS[x.dim() - 3]
    add = None if bias is None else bias.double()
    want = convolve(x.double(), w.double(), add, **options)
    sizes = convolve(
        x.double().abs(),
        w.double().abs(),
        None if bias is None else add.abs(),
        **options,
    )
    depth = w[0].numel() + 1
    limit = HALF_UNIT[dtype] * (1 + 2.0**-9) * want.abs()
    limit = limit + depth * 2.0**-23 * sizes + 2.0**-25
    assert got.dtype == dtype
    assert ((got.double() - want).abs() <= limit).all()


def operands(case, batch):
    (channels, outputs, groups), sizes, kernel, options = case
    x = torch.randn(batch, channels, *sizes)
    w = torch.randn(outputs, channels // groups, *kernel)
    return x, w, torch.randn(outputs), {**options, "groups": groups}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_halves(case, dtype):
    torch.manual_seed(0)
    for batch, biased in itertools.product((1, 3), (True, False)):
        x, w, bias, options = operands(case, batch)
        x, w, bias = (t.to(dtype) for t in (x, w, bias))
        if not biased:
            bias = None
        got = CONVOLUTIONS[x.dim() - 3](x, w, bias, **options)
        check(got, x, w, bias, options, dtype)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_floats_that_may_be_rounded(case, permission):
    torch.manual_seed(0)
    x, w, bias, options = operands(case, 2)
    # Numbers that rounding leaves alone.
    x, w = x.bfloat16().float(), w.bfloat16().float()
    got = CONVOLUTIONS[x.dim() - 3](x, w, bias, **options)
    check(got, x, w, bias, options, torch.float32)


def test_rounding_happens_under_permission_alone():
    x, w = torch.full((1, 4, 8, 8), 1 + 2.0**-12), torch.ones(32, 4, 3, 3)
    exact = F.conv2d(x, w)
    assert (exact == 36 * (1 + 2.0**-12)).all()
    torch.backends.mkldnn.conv.fp32_precision = "bf16"
    try:
        rounded = F.conv2d(x, w)
    finally:
        torch.backends.mkldnn.conv.fp32_precision = "none"
    assert (rounded == 36).all() or torch.equal(rounded, exact)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gradients_are_rounded_once(dtype):
    torch.manual_seed(0)
    x = torch.randn(2, 6, 9, 10).to(dtype).requires_grad_()
    w = torch.randn(20, 6, 3, 3).to(dtype).requires_grad_()
    bias = torch.randn(20).to(dtype).requires_grad_()
    wide = [t.detach().double().requires_grad_() for t in (x, w, bias)]
    y = F.conv2d(x, w, bias, stride=2, padding=1)
    direction = torch.randn(y.shape).to(dtype)
    y.backward(direction)
    F.conv2d(*wide, stride=2, padding=1).backward(direction.double())
    for got, want in zip((x, w, bias), wide, strict=True):
        size = want.grad.abs().max()
        error = (got.grad.double() - want.grad).abs().max()
        assert error <= HALF_UNIT[dtype] * (1 + 2.0**-9) * size


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_threads_change_nothing(dtype):
    x, w = torch.randn(3, 20, 30, 30).to(dtype), torch.randn(40, 20, 3, 3)
    want, saved = F.conv2d(x, w.to(dtype)), torch.get_num_threads()
    try:
        for threads in (1, 2, 3, 4):
            torch.set_num_threads(threads)
            assert torch.equal(F.conv2d(x, w.to(dtype)), want)
    finally:
        torch.set_num_threads(saved)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_empty_and_infinite(dtype):
    w = torch.ones(32, 4, 3, 3, dtype=dtype)
    assert F.conv2d(torch.ones(0, 4, 8, 8, dtype=dtype), w).shape[0] == 0
    x = torch.ones(1, 4, 8, 8, dtype=dtype)
    x[0, 1, 4, 4] = torch.inf
    y = F.conv2d(x, w)
    assert y[0, 0, 2, 2] == torch.inf
    assert y[0, 0, 0, 0] == 36
