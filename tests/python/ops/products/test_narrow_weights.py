"""Products with weights of 8 and 4 bits as PyTorch packs them."""

import pytest

import hotaru as torch

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
# Limits of a result's error, relative to the sum of the terms' sizes: float
# sums in any order, and one rounding of the result.
LIMITS = {
    torch.float32: 2.0**-19,
    torch.bfloat16: 2.0**-8,
    torch.float16: 2.0**-11 + 2.0**-19,
}


def int8_case(n, k, dtype):
    weight = torch.randint(-128, 128, (n, k)).to(torch.int8)
    scales = (torch.rand(n) + 0.01).to(dtype)
    wide = weight.double() * scales.double()[:, None]

    def run(x):
        return torch._weight_int8pack_mm(x, weight, scales)

    return run, wide


def int4_case(n, k, dtype, group=32):
    levels = torch.randint(0, 16, (n, k))
    packed = torch._convert_weight_to_int4pack_for_cpu(levels.int(), 2)
    pairs = torch.randn(k // group, n, 2).to(dtype)
    scale, zero = pairs.double().transpose(0, 1).unbind(-1)  # [n, groups]
    spread = (levels.double() - 8).reshape(n, k // group, group)
    wide = (spread * scale[..., None] + zero[..., None]).reshape(n, k)

    def run(x):
        return torch._weight_int4pack_mm_for_cpu(x, packed, group, pairs)

    return run, wide


def check(run, wide, x):
    got = run(x)
    want = x.double() @ wide.t()
    sizes = x.double().abs() @ wide.abs().t() + 1e-6
    assert got.dtype == x.dtype
    assert got.shape == want.shape
    assert ((got.double() - want).abs() <= LIMITS[x.dtype] * sizes).all()


@pytest.mark.parametrize("dtype", DTYPES)
# Few rows of x, by ones, twos and fours, and more, by panels.
@pytest.mark.parametrize("m", [1, 2, 3, 4, 7, 8, 9, 33])
def test_int8_by_every_number_of_rows(m, dtype):
    torch.manual_seed(m)
    # k: below a vector, no multiple of one, of four; n: beyond a unit of rows.
    for n, k in ((1, 1), (5, 3), (67, 130), (130, 256), (3, 1031)):
        check(*int8_case(n, k, dtype), torch.randn(m, k).to(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [1, 2, 3, 8, 9, 33])
def test_int4_by_every_number_of_rows(m, dtype):
    torch.manual_seed(m)
    # Whole blocks of 64 rows, a rest, a rest alone; groups of every size.
    for n, k, group in ((64, 32, 32), (16, 64, 64), (208, 256, 128), (128, 512, 256)):
        case = int4_case(n, k, dtype, group)
        check(*case, torch.randn(m, k).to(dtype))


@pytest.mark.parametrize("case", [int8_case, int4_case])
def test_rows_apart_and_no_rows(case):
    run, _ = case(64, 64, torch.float32)
    x = torch.randn(3, 128)
    if case is int8_case:  # the other asks for contiguous rows
        for few in (x, torch.randn(20, 128)):
            assert torch.equal(run(few[:, :64]), run(few[:, :64].contiguous()))
    assert run(x[:0, :64].contiguous()).shape == (0, 64)


def test_no_columns_are_zeros():
    empty = torch.empty(5, 0, dtype=torch.int8)
    got = torch._weight_int8pack_mm(torch.ones(2, 0), empty, torch.ones(5))
    assert torch.equal(got, torch.zeros(2, 5))


@pytest.mark.parametrize("case", [int8_case, int4_case])
@pytest.mark.parametrize("m", [1, 20])
def test_threads_streams_and_graphs_change_nothing(case, m):
    run, _ = case(320, 1024, torch.bfloat16)
    x = torch.randn(m, 1024).bfloat16()
    want = run(x)
    saved = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            assert torch.equal(run(x), want)
    finally:
        torch.set_num_threads(saved)
    with torch.cpu.stream(torch.cpu.Stream()):
        queued = run(x)
    torch.cpu.synchronize()
    assert torch.equal(queued, want)
    replayed = torch.compile(run, fullgraph=True)
    with torch.no_grad():
        for scale in (1, -2):
            assert torch.equal(replayed(x * scale), run(x * scale))


@pytest.mark.parametrize("case", [int8_case, int4_case])
def test_gradients_of_the_input(case):
    run, wide = case(64, 32, torch.float32)
    x = torch.randn(2, 32, requires_grad=True)
    run(x).sum().backward()
    want = wide.sum(0).expand(2, 32)
    assert torch.allclose(x.grad.double(), want, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("m", [1, 12])
def test_infinite_and_absent_numbers_stay_what_they_are(m):
    run, _ = int8_case(8, 64, torch.float32)
    x = torch.ones(m, 64)
    x[0, 63] = torch.nan
    got = run(x)
    assert got[0].isnan().all()
    assert not got[1:].isnan().any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [1, 3])
def test_int8_of_numbers_far_apart_and_none(m, dtype):
    """A row's integers have one scale; what it doesn't serve goes as floats."""
    torch.manual_seed(m)
    weight = torch.randint(-128, 128, (70, 300)).to(torch.int8)
    weight[:, 5] = 0  # what is largest counts for nothing
    scales = (torch.rand(70) + 0.01).to(dtype)
    wide = weight.double() * scales.double()[:, None]

    def run(x):
        return torch._weight_int8pack_mm(x, weight, scales)

    x = torch.randn(m, 300)
    for largest in (0, 20, 60, 3e4):
        x[:, 5] = largest
        check(run, wide, x.to(dtype))
    check(run, wide, torch.zeros(m, 300, dtype=dtype))
    if dtype != torch.float16:
        for scale in (1e-30, 1e-18, 1e20):
            check(run, wide, (x * scale).to(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [1, 3])
def test_int4_of_numbers_far_apart_and_none(m, dtype):
    """Groups have a scale each; what no scale serves goes as floats."""
    torch.manual_seed(m)
    run, wide = int4_case(128, 128, dtype)
    x = torch.randn(m, 128)
    x[:, :32] *= 1e2
    x[:, 64:96] = 0
    x[:, 96:] *= 1e-4
    check(run, wide, x.to(dtype))
    if dtype != torch.float16:
        check(run, wide, (x * 1e-30).to(dtype))
        check(run, wide, torch.full((m, 128), 1e28).to(dtype))
    for value in (torch.inf, -torch.inf, torch.nan):
        x[0, 70] = value
        y = run(x.to(dtype))
        assert not y[0].isfinite().any()
        if m > 1:
            check(run, wide, x[1:].to(dtype))
            # The others are rounded as they are beside floats.
            sizes = x[1:].double().abs() @ wide.abs().t()
            gap = (y[1:].double() - x[1:].to(dtype).double() @ wide.t()).abs()
            assert (gap <= LIMITS[dtype] * sizes + 1e-6).all()
