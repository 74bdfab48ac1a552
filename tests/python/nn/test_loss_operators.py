"""Losses as operators, which check less than the functions of `functional`."""

import hotaru.nn.functional as F
import pytest

import hotaru as torch


def test_a_ranking_by_one_row_of_targets():
    a, b = torch.arange(6.0).view(2, 3), torch.ones(2, 3)
    target = torch.tensor([1.0, -1.0, 1.0])
    found = torch.margin_ranking_loss(a, b, target, 0.5, 0)
    assert torch.equal(found, (-target * (a - b) + 0.5).clamp(0))
    with pytest.raises(RuntimeError, match="should have same dimension"):
        F.margin_ranking_loss(a, b, target)


def test_triplets_with_a_margin_below_zero():
    x = torch.zeros(2, 3)
    assert torch.triplet_margin_loss(x, x, x + 1, -1.0).item() == 0
    with pytest.raises(ValueError, match="margin must be greater than 0"):
        F.triplet_margin_loss(x, x, x, margin=-1)
