"""`torch.ops.quantized`: sums, products and joined tensors."""

from __future__ import annotations

import pytest

import hotaru as torch

quantized = torch.ops.quantized
DTYPES = ["quint8", "qint8", "qint32"]


def pair(dtype: str):
    torch.manual_seed(0)
    return [
        torch.quantize_per_tensor(
            torch.randn(40, 5) * 3, scale, zero, getattr(torch, dtype)
        )
        for scale, zero in ((0.1, 3), (0.07, 10))
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "add_relu", "mul", "mul_relu"])
def test_results_are_the_nearest_numbers(dtype, name):
    a, b = pair(dtype)
    found = getattr(quantized, name)(a, b, 0.0371, 7)
    x, y = a.dequantize(), b.dequantize()
    expected = x + y if name.startswith("add") else x * y
    if name.endswith("relu"):
        expected = expected.relu()
    expected = torch.quantize_per_tensor(expected, 0.0371, 7, a.dtype)
    assert (found.q_scale(), found.q_zero_point()) == (0.0371, 7)
    assert found.dtype is a.dtype
    assert torch.equal(found.int_repr(), expected.int_repr())


@pytest.mark.parametrize("dtype", DTYPES)
def test_joined_tensors_have_the_first_ones_scale(dtype):
    a, b = pair(dtype)
    found = quantized.cat([a, b], 1, None, None)
    assert (found.q_scale(), found.q_zero_point()) == (0.1, 3)
    assert torch.equal(found[:, :5].int_repr(), a.int_repr())
    numbers = torch.cat([a.dequantize(), b.dequantize()])
    for function, expected in (
        (quantized.cat, numbers),
        (quantized.cat_relu, numbers.relu()),
    ):
        found = function([a, b], 0, 0.2, 1)
        expected = torch.quantize_per_tensor(expected, 0.2, 1, a.dtype)
        assert torch.equal(found.int_repr(), expected.int_repr())


def test_small_numbers_of_which_results_are_known():
    a = torch.quantize_per_tensor(torch.tensor([1.0, 2.0]), 0.5, 0, torch.quint8)
    assert quantized.add(a, a, 0.5, 0).dequantize().tolist() == [2, 4]
    assert quantized.mul(a, a, 0.5, 0).dequantize().tolist() == [1, 4]
    found = quantized.add.default(a, qb=a, scale=0.5, zero_point=1)
    assert found.int_repr().tolist() == [5, 9]
    assert quantized.cat([a, a], 0, 0.5, 0).dequantize().tolist() == [1, 2] * 2
    one = torch.quantize_per_tensor(torch.ones(1), 0.5, 0, torch.quint8)
    assert quantized.add(a, one, 0.5, 0).dequantize().tolist() == [2, 3]


def test_operands_that_do_not_fit():
    a, _ = pair("quint8")
    other, _ = pair("qint8")
    channels = torch.quantize_per_channel(
        torch.ones(2, 2), torch.ones(2), torch.zeros(2), 0, torch.quint8
    )
    for call, kind, text in (
        (lambda: quantized.add(a, other, 0.1, 0), RuntimeError, "same data"),
        (lambda: quantized.mul(a, other, 0.1, 0), RuntimeError, "same data"),
        (lambda: quantized.cat([a, other], 0, 0.1, 0), RuntimeError, "dtypes"),
        (lambda: quantized.add(a, a[:3], 0.1, 0), RuntimeError, "must match"),
        (
            lambda: quantized.add(a, torch.ones(40, 5), 0.1, 0),
            NotImplementedError,
            "quantized::add",
        ),
        (
            lambda: quantized.cat([], 0, None, None),
            NotImplementedError,
            "quantized::cat",
        ),
        (
            lambda: quantized.add(channels, channels, 0.1, 0),
            RuntimeError,
            "Only per tensor quantization",
        ),
    ):
        with pytest.raises(kind, match=text):
            call()
    with pytest.raises(AttributeError):
        _ = quantized.no_such_operator
