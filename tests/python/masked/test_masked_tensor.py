"""MaskedTensor: what is said when one is made, and whose memory it has."""

from __future__ import annotations

import warnings

import pytest

import hotaru as torch

PROTOTYPE = "The PyTorch API of MaskedTensors is in prototype stage"


def pair():
    data = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return data, torch.tensor([[True, False], [True, True]])


def said(make) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    assert all(w.filename == __file__ for w in caught)
    return [str(w.message)[:30] for w in caught]


@pytest.mark.parametrize("name", ["masked_tensor", "as_masked_tensor", "MaskedTensor"])
def test_making_one_warns_where_it_is_made(name):
    data, mask = pair()
    make = getattr(torch.masked, name)
    assert said(lambda: make(data, mask)) == [PROTOTYPE[:30]]


def test_data_with_a_gradient_warn_only_where_it_is_cut_off():
    data, mask = pair()
    data.requires_grad_()
    cut = said(lambda: torch.masked.masked_tensor(data, mask))
    assert cut[1] == "It is not recommended to creat"
    assert len(said(lambda: torch.masked.as_masked_tensor(data, mask))) == 1


@pytest.mark.filterwarnings("ignore:The PyTorch API")
def test_results_say_nothing_and_the_data_are_a_copy():
    data, mask = pair()
    masked = torch.masked.masked_tensor(data, mask)
    assert said(lambda: (masked + 1).exp().sum(0)) == []
    data.zero_()
    mask.zero_()
    assert masked.sum().item() == 8


@pytest.mark.filterwarnings("ignore:The PyTorch API")
def test_writing_in_place_keeps_history_and_mask():
    data, mask = pair()
    leaf = torch.masked.masked_tensor(data, mask, requires_grad=True)
    doubled = leaf * 2
    doubled.mul_(3)
    doubled.sum().backward()
    assert leaf.grad.to_tensor(0).tolist() == [[6, 0], [6, 6]]


@pytest.mark.filterwarnings("ignore:The PyTorch API")
def test_rows_in_which_nothing_counts_poison_no_gradient():
    data = torch.ones(2, 2, requires_grad=True)
    mask = torch.tensor([[False, False], [True, True]])
    masked = torch.masked.as_masked_tensor(data, mask)
    masked.softmax(1).get_data().sum().backward()
    assert not data.grad.isnan().any()


@pytest.mark.filterwarnings("ignore:The PyTorch API")
def test_functions_of_masks_take_one():
    masked = torch.masked.masked_tensor(*pair())
    assert torch.masked.mean(masked, 0).tolist() == [2, 4]
    assert torch.masked.sum(masked, 1).tolist() == [1, 7]
