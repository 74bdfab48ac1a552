"""StackDataset asked for several samples at once."""

from __future__ import annotations

import pytest
from hotaru.utils.data import DataLoader, StackDataset

import hotaru as torch


class Batched:
    """A dataset that gives several samples at once, and notes it."""

    def __init__(self, less: int = 0) -> None:
        self.asked, self.less = [], less

    def __len__(self):
        return 4

    def __getitem__(self, index):
        raise AssertionError("asked one by one")

    def __getitems__(self, indices):
        self.asked.append(indices)
        return [10 * i for i in indices[self.less :]]


def test_datasets_that_can_are_asked_once():
    many = Batched()
    assert StackDataset(many, "abcd").__getitems__([0, 2]) == [(0, "a"), (20, "c")]
    assert StackDataset(x=many, y="abcd").__getitems__([3]) == [{"x": 30, "y": "d"}]
    assert many.asked == [[0, 2], [3]]


def test_the_loader_does_so():
    many = Batched()
    first, _ = DataLoader(StackDataset(many, range(4)), batch_size=2)
    assert first[0].tolist() == [0, 10]
    assert many.asked == [[0, 1], [2, 3]]


def test_another_number_of_samples_is_an_error():
    with pytest.raises(ValueError, match=r"Expected 2, got 1"):
        StackDataset(Batched(less=1)).__getitems__([0, 1])


def test_futures_are_no_data():
    import pickle

    with pytest.raises(RuntimeError, match=r"Can not pickle torch.futures"):
        pickle.dumps(torch.futures.Future())
    for wait in (torch.jit.wait, lambda none: torch.futures.wait_all([none])):
        with pytest.raises(RuntimeError, match="Future can't be None"):
            wait(None)


def test_whether_warnings_come_each_time_is_remembered():
    assert not torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    assert torch.is_warn_always_enabled()
    torch.set_warn_always(False)
    with pytest.raises(RuntimeError, match="expects a bool, but got int"):
        torch.set_warn_always(1)
