"""`scaled_mm`: products of float8 with scales, as PyTorch 2.13's on the CPU."""

from __future__ import annotations

import pytest
from hotaru.nn.functional import ScalingType, scaled_grouped_mm, scaled_mm

import hotaru as torch

A = (torch.arange(12.0).reshape(3, 4) / 4 - 1).to(torch.float8_e4m3fn)
B = (torch.arange(8.0).reshape(4, 2) / 2 - 2).to(torch.float8_e4m3fn)
ONE = torch.ones(())
PLAIN = A.float() @ B.float()


def test_one_scale_of_each_matrix():
    found = torch._scaled_mm(A, B, ONE * 2, ONE * 0.5, out_dtype=torch.float32)
    assert torch.equal(found, PLAIN)
    assert torch._scaled_mm(A, B, ONE, ONE).dtype == torch.float8_e4m3fn
    bias = torch.tensor([1.0, -1.0])
    found = torch._scaled_mm(A, B, ONE, ONE, bias, out_dtype=torch.float32)
    assert torch.equal(found, PLAIN + bias)
    found = scaled_mm(A, B, ONE, ScalingType.TensorWise, ONE, ScalingType.TensorWise)
    assert torch.equal(found, PLAIN.to(torch.bfloat16))


def test_a_scale_of_each_row_and_column():
    rows, columns = (torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([[1.0, 8]]))
    found = scaled_mm(
        A,
        B,
        [rows],
        [ScalingType.RowWise],
        [columns],
        [ScalingType.RowWise],
        output_dtype=torch.float32,
    )
    assert torch.equal(found, PLAIN * rows * columns)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: torch._scaled_mm(A.float(), B, ONE, ONE),
            ValueError,
            "Invalid scaling configuration",
        ),
        (
            lambda: torch._scaled_mm(A, B, ONE.double(), ONE),
            ValueError,
            "Invalid scaling configuration",
        ),
        (
            lambda: torch._scaled_mm(A, B, torch.ones(3), torch.ones(2)),
            ValueError,
            "Invalid scaling configuration",
        ),
        (
            lambda: torch._scaled_mm(A, A, ONE, ONE),
            RuntimeError,
            "cannot be multiplied",
        ),
        (
            lambda: scaled_mm(
                A, B, ONE, ScalingType.BlockWise1x32, ONE, ScalingType.RowWise
            ),
            NotImplementedError,
            "BlockWise1x32",
        ),
        (
            lambda: scaled_grouped_mm(A, B, ONE, 0, ONE, 0),
            NotImplementedError,
            "scaled_mm",
        ),
    ],
)
def test_others_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
