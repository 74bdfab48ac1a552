"""linspace, logspace and range: complex ends, outputs, refusals."""

from __future__ import annotations

import warnings

import pytest

import hotaru as torch


def test_complex_ends():
    # Values of PyTorch 2.13.
    assert torch.linspace(0, 1 + 1j, 3).tolist() == [0, 0.5 + 0.5j, 1 + 1j]
    assert torch.linspace(torch.tensor(1j), 2, 3).tolist() == [1j, 1 + 0.5j, 2]
    row = torch.linspace(0, 5, 3, dtype=torch.complex128)
    assert row.dtype is torch.complex128
    assert row.tolist() == [0, 2.5, 5]
    assert torch.linspace(0, 1j, 0).dtype is torch.complex64
    assert torch.linspace(0, 1j, 1).tolist() == [0]
    row = torch.logspace(0, 1 + 1j, 3)
    wanted = torch.tensor([1, 1.2880 + 2.8881j, -6.6820 + 7.4398j])
    assert torch.allclose(row, wanted, atol=1e-4, rtol=0)
    row = torch.logspace(0, 1j, 4, base=2)
    wanted = torch.tensor([1, 0.9734 + 0.2290j, 0.8951 + 0.4458j, 0.7692 + 0.6390j])
    assert torch.allclose(row, wanted, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_dtypes_that_do_not_hold_complex_ends(name):
    text = (
        rf"torch\.{name}\(\): inferred dtype c10::complex<float> can't be "
        "safely cast to passed dtype Float"
    )
    with pytest.raises(RuntimeError, match=text):
        getattr(torch, name)(0, 1j, 3, dtype=torch.float32)
    with pytest.raises(RuntimeError, match="converted to type float without"):
        getattr(torch, name)(0, 1j, 3, out=torch.zeros(3))
    with pytest.raises(RuntimeError, match="steps must be non-negative"):
        getattr(torch, name)(0, 1j, -1)


def test_outputs_are_filled_in_order():
    for fill, wanted in (
        (lambda out: torch.linspace(0, 3, 4, out=out), [0, 1, 2, 3]),
        (lambda out: torch.logspace(0, 3, 4, out=out), [1, 10, 100, 1000]),
        (lambda out: torch.range(0, 3, out=out), [0, 1, 2, 3]),
    ):
        whole = torch.zeros(2, 3)
        part = whole.narrow(1, 1, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch.range
            fill(part)
        a, b, c, d = wanted
        assert whole.tolist() == [[0, a, b], [0, c, d]]


def test_an_output_of_another_dtype():
    out = torch.zeros(3, dtype=torch.complex64)
    assert torch.linspace(0, 1j, 3, out=out) is out
    assert out.tolist() == [0, 0.5j, 1j]
    whole = torch.zeros(2, 2, dtype=torch.int64)
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        torch.range(0, 3, out=whole)
    assert whole.tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_ends_that_are_tensors_go_into_any_output(name):
    operator = getattr(torch, name)
    zero, two = torch.tensor(0.0), torch.tensor(2)
    wanted = [0, 1, 2] if name == "linspace" else [1, 10, 100]
    for ends in [(zero, two), (zero, 2), (0, two)]:
        for dtype in [torch.int32, torch.float64, torch.complex64]:
            out = torch.empty(0, dtype=dtype)
            assert operator(*ends, 3, out=out) is out
            assert torch.allclose(out, torch.tensor(wanted, dtype=dtype))
    with pytest.raises(TypeError, match="dtype=str"):
        operator(0, 1, 3, dtype="float")
