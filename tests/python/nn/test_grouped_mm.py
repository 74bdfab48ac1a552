"""`grouped_mm`: shapes and errors are PyTorch 2.13's."""

from __future__ import annotations

import pytest
from hotaru.nn.functional import grouped_mm

import hotaru as torch

ROWS, INNER = torch.rand(4, 8), torch.rand(8, 16)
BATCH = torch.rand(2, 8, 16)


def _ends(*values):
    return torch.tensor(values, dtype=torch.int32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_kinds_of_groups(dtype):
    rows, inner, batch = (t.to(dtype) for t in (ROWS, INNER, BATCH))
    found = grouped_mm(rows, batch, offs=_ends(1, 4))
    wanted = torch.cat([rows[:1] @ batch[0], rows[1:] @ batch[1]])
    assert found.dtype == dtype
    assert torch.equal(found, wanted)
    found = grouped_mm(rows, inner, offs=_ends(3, 8))
    wanted = torch.stack([rows[:, :3] @ inner[:3], rows[:, 3:] @ inner[3:]])
    assert torch.equal(found, wanted)
    left = torch.rand(2, 4, 8).to(dtype)
    found = grouped_mm(left, inner, offs=_ends(5, 16))
    wanted = torch.cat([left[0] @ inner[:, :5], left[1] @ inner[:, 5:]], 1)
    assert torch.equal(found, wanted)
    assert torch.equal(grouped_mm(left, batch), left @ batch)


def test_what_lies_behind_the_last_group():
    found = grouped_mm(ROWS, BATCH, offs=_ends(1, 3))
    assert torch.equal(found[1:3], ROWS[1:3] @ BATCH[1])
    assert not found[3].any()


def test_gradients():
    rows = ROWS.clone().requires_grad_()
    grouped_mm(rows, BATCH, offs=_ends(1, 4)).sum().backward()
    torch.testing.assert_close(rows.grad[2], BATCH[1].sum(-1))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: grouped_mm(ROWS, BATCH), "Have to provide offsets"),
        (lambda: grouped_mm(BATCH, BATCH.mT, offs=_ends(1, 4)), "no offset if both"),
        (
            lambda: grouped_mm(ROWS, BATCH, offs=_ends(1, 4).long()),
            "Offsets have to be int32",
        ),
        (lambda: grouped_mm(ROWS, BATCH, offs=_ends(1)), "batch sizes have to match"),
        (
            lambda: grouped_mm(ROWS.double(), BATCH, offs=_ends(1, 4)),
            "Expected mat_a to be Float32, BFloat16 or Float16",
        ),
        (
            lambda: grouped_mm(ROWS[0], BATCH, offs=_ends(1, 4)),
            "mat_a has to be 2 or 3d",
        ),
        (lambda: grouped_mm(ROWS, BATCH.mT, offs=_ends(1, 4)), "contraction dimension"),
        (
            lambda: grouped_mm(ROWS, BATCH, offs=_ends(1, 4), bias=ROWS),
            "Bias not supported yet",
        ),
        (
            lambda: grouped_mm(ROWS, BATCH, offs=_ends(1, 4), out_dtype=torch.float64),
            "output dtype must match `mat_a` dtype",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
