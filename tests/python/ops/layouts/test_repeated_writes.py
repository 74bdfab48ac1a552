"""Writing into tensors whose elements repeat, or that are read meanwhile.

What is said and what is written is PyTorch 2.13's.
"""

from __future__ import annotations

import warnings

import pytest
from hotaru.nn import functional as F

import hotaru as torch

OVERLAP = "unsupported operation: some elements of the input tensor"


@pytest.fixture(autouse=True)
def always():
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


def rows():
    """[2, 3], whose rows are one."""
    return torch.arange(3.0).expand(2, 3)


@pytest.mark.parametrize("as_tensor", [False, True])
def test_masked_fill_of_repeated_elements(as_tensor):
    x = rows()
    value = torch.tensor(7.0) if as_tensor else 7.0
    mask = torch.tensor([[True, False, False], [False, False, True]])
    with pytest.warns(UserWarning, match="masked_fill_ on expanded tensors"):
        assert x.masked_fill_(mask, value) is x
    assert x.tolist() == [[7, 1, 7], [7, 1, 7]]


def test_mask_that_broadcasts_over_repeated_elements():
    x = rows()
    with pytest.warns(UserWarning, match="expanded"):
        x.masked_fill_(torch.tensor([[True], [False]]), -1.0)
    assert x.tolist() == [[-1] * 3] * 2


def test_gradient_of_a_fill_of_repeated_elements():
    leaf = torch.arange(3.0, requires_grad=True)
    x = (leaf * 1).expand(2, 3)
    with pytest.warns(UserWarning, match="expanded"):
        x.masked_fill_(torch.tensor([True, False, False]), 5.0)
    x.sum().backward()
    assert leaf.grad.tolist() == [0, 2, 2]


def test_index_fill_of_repeated_elements():
    x = rows()
    with pytest.warns(UserWarning, match="index_fill_ on expanded tensors"):
        x.index_fill_(1, torch.tensor([2]), 9.0)
    assert x.tolist() == [[0, 1, 9]] * 2


def test_threshold_of_repeated_elements_needs_no_warning():
    x = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.threshold(x, 0.5, 4.0, inplace=True)
    assert x.tolist() == [[4, 1, 2]] * 2


def test_no_warning_without_repeats():
    x = torch.arange(3.0).expand(1, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.masked_fill_(torch.tensor([True, False, False]), 3.0)
        x.index_fill_(1, torch.tensor([1]), 3.0)
    assert x.tolist() == [[3, 3, 2]]


def test_what_is_written_is_not_read():
    mask = torch.tensor([True, False, True, True])
    index = torch.tensor([2, 1, 0])
    whole = torch.arange(4)
    with pytest.raises(RuntimeError, match=OVERLAP):
        mask[1:].masked_fill_(mask[:-1], False)
    with pytest.raises(RuntimeError, match=OVERLAP):
        index.index_fill_(0, index, 0)
    with pytest.raises(RuntimeError, match=OVERLAP):
        whole[:-1] <<= whole[1:]
    x = torch.rand(3)
    with pytest.raises(RuntimeError, match=OVERLAP):
        x[:-1] >>= x[1:]
    assert whole.tolist() == [0, 1, 2, 3]
    whole <<= whole
    assert whole.tolist() == [0, 2, 8, 24]


@pytest.mark.parametrize("name", ["index_add_", "index_copy_", "scatter_"])
def test_slices_are_not_written_while_they_are_read(name):
    index = torch.tensor([2, 1, 0])
    values = torch.rand(6)
    for self, where, source in (
        (values, index, values[:3]),
        (index, index, index.clone()),
        (index, index.clone(), index),
    ):
        before = self.clone()
        with pytest.raises(RuntimeError, match=OVERLAP):
            getattr(self, name)(0, where, source)
        assert torch.equal(self, before)
