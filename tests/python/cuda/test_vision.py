"""torchvision's operators on a CUDA device, as on the CPU."""

from __future__ import annotations

import pytest
from nearness import random

import hotaru as torch
from hotaru import _torchvision

_torchvision.install()
OPS = torch.ops.torchvision


def boxes_of(n, dtype):
    torch.manual_seed(n)
    corner = torch.rand(n, 2, dtype=torch.float64) * 50
    size = torch.rand(n, 2, dtype=torch.float64) * 12
    return torch.cat([corner, corner + size], 1).to(dtype)


# Words of 64 boxes, blocks of 256 of them, and what is left of both.
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 300, 1100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.half])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0])
def test_nms(cuda, n, dtype, threshold):
    boxes = boxes_of(n, dtype)
    scores = torch.rand(n).to(dtype)
    want = OPS.nms(boxes, scores, threshold)
    got = OPS.nms(boxes.to(cuda), scores.to(cuda), threshold)
    assert (got.device, got.dtype) == (cuda, torch.int64)
    assert got.tolist() == want.tolist()
    if n == 1100 and threshold == 0.3:
        assert 64 < len(want) < n - 64


def test_nms_of_boxes_alike_empty_and_lost(cuda):
    """Equal scores keep the first; an empty box's overlap is no number."""
    alike = torch.tensor([[0.0, 0, 2, 2]]).expand(130, 4)
    assert OPS.nms(alike.to(cuda), torch.ones(130).to(cuda), 0.5).tolist() == [
        0
    ]
    boxes = torch.tensor(
        [[1.0, 1, 1, 1], [1, 1, 1, 1], [0, 0, 9, 9], [5, 5, 1, 1]]
        + [[float("nan"), 0, 2, 2]] * 2
    )
    scores = torch.arange(6.0)
    want = OPS.nms(boxes, scores, 0.5).tolist()
    assert OPS.nms(boxes.to(cuda), scores.to(cuda), 0.5).tolist() == want


def test_nms_compares_in_the_boxes_precision(cuda):
    """An overlap of float(0.3), which is more than 0.3."""
    boxes = torch.tensor([[0.0, 0, 10, 1], [0, 0, 3, 1]]).to(cuda)
    scores = torch.tensor([1.0, 0.5]).to(cuda)
    assert OPS.nms(boxes, scores, 0.3).tolist() == [0]
    limit = float(torch.tensor(0.3))
    assert OPS.nms(boxes, scores, limit).tolist() == [0, 1]


def test_nms_of_strided_boxes(cuda):
    boxes = boxes_of(40, torch.float32)
    scores = torch.rand(80)[::2]
    wide = torch.zeros(40, 8)
    wide[:, ::2] = boxes
    want = OPS.nms(boxes, scores, 0.2).tolist()
    wide = wide.to(cuda)[:, ::2]
    assert OPS.nms(wide, scores.to(cuda), 0.2).tolist() == want
