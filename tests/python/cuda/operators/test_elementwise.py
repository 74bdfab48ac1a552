"""Elementwise kernels and copies in the layouts that they tell apart."""

from __future__ import annotations

import pytest

import hotaru as torch

DTYPES = (torch.float32, torch.int8, torch.int64, torch.bfloat16, torch.bool)


def numbers(*shape, dtype=torch.float32):
    """Fixed numbers from -6 to 6, on the CPU."""
    count = 1
    for size in shape:
        count *= size
    flat = (torch.arange(count) * 37 % 25 - 12) / 2
    return flat.to(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(33, 70), (5, 40, 64), (8, 9, 10, 11), (64, 64), (1, 7), (0, 3)]
)
def test_transposed_copies(dtype, shape):
    x = numbers(*shape, dtype=dtype)
    for dims in ((0, 1), (0, -1), (-2, -1)):
        want = x.transpose(*dims).contiguous()
        got = x.cuda().transpose(*dims).contiguous()
        assert torch.equal(got.cpu(), want)


@pytest.mark.parametrize("dtype", DTYPES[:4])
@pytest.mark.parametrize(
    "other", ["numbers(64)", "numbers(6, 1)", "numbers(6, 64)", "numbers(1)"]
)
@pytest.mark.parametrize("step", [1, 2])
def test_operands_that_broadcast(dtype, other, step):
    a, b = numbers(6, 64, dtype=dtype), eval(other).to(dtype)
    wide = b.shape[-1] > 1
    for f in (torch.add, torch.mul, torch.maximum, torch.lt):
        want = f(a[:, ::step], b[..., ::step] if wide else b)
        x, y = a.cuda(), b.cuda()
        got = f(x[:, ::step], y[..., ::step] if wide else y)
        assert torch.equal(got.cpu(), want), f


@pytest.mark.parametrize("dtype", DTYPES[:4])
def test_numbers_travel_by_value(dtype):
    x = numbers(50, dtype=dtype)
    for number in (3, 0.1, torch.tensor(2), torch.tensor(0.5)):
        for f in (torch.add, torch.mul, torch.sub):
            want, got = f(x, number), f(x.cuda(), number)
            assert got.is_cuda
            assert got.dtype == want.dtype
            assert torch.equal(got.cpu(), want)


def test_a_number_on_a_queue_of_the_cpu_is_waited_for():
    with torch.cpu.stream(torch.cpu.Stream()):
        number = torch.ones(300, 300).matmul(torch.ones(300, 300)).sum()
        got = torch.ones(3, device="cuda") * number
    assert got.cpu().tolist() == [27e6] * 3


@pytest.mark.parametrize("from_dtype", DTYPES)
@pytest.mark.parametrize("to_dtype", DTYPES)
def test_conversions(from_dtype, to_dtype):
    x = numbers(7, 50, dtype=from_dtype)
    for view in (x, x[:, ::3], x.t()):
        want = view.to(to_dtype)
        on_device = x.cuda()
        same = {0: on_device, 1: on_device[:, ::3], 2: on_device.t()}
        for index, candidate in same.items():
            if candidate.shape == view.shape:
                assert torch.equal(candidate.to(to_dtype).cpu(), want), index
        assert torch.equal(view.cuda().to(to_dtype).cpu(), want)
        assert torch.equal(view.to("cuda", to_dtype).cpu(), want)


def test_many_dimensions():
    x = numbers(*[2] * 14)
    flipped = x.permute(*range(13, -1, -1))
    got = x.cuda().permute(*range(13, -1, -1)) + x.cuda()
    assert torch.equal(got.cpu(), flipped + x)


def test_writes_into_views():
    x, y = numbers(8, 9), numbers(8, 9).cuda()
    for t in (x, y):
        t[::2, 1:].mul_(3).add_(t[1::2, 1:])
        t.t()[2] = 7
        t[:, ::4] = t[:, 1:2]
    assert torch.equal(y.cpu(), x)


def test_results_without_elements_of_the_input_are_on_its_device():
    x = torch.ones(3, device="cuda")
    assert torch.isreal(x).is_cuda
    assert torch.empty(0, device="cuda").nanmedian().is_cuda
    rows = torch.tril_indices(3, 3, device="cuda")
    assert rows.is_cuda
    assert torch.equal(rows.cpu(), torch.tril_indices(3, 3))
