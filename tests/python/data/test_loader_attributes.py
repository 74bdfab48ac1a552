"""Attributes of a loader: libraries build another one of them."""

from __future__ import annotations

import inspect
from itertools import islice

import pytest
from hotaru.utils import data
from hotaru.utils.data import dataloader


class Count(data.IterableDataset):
    def __iter__(self):
        return iter(range(5))

    def __len__(self):
        return 5


@pytest.mark.parametrize("dataset", [list(range(5)), Count()])
def test_public_attributes_are_parameters(dataset):
    loader = data.DataLoader(dataset, batch_size=2)
    len(loader)
    public = {name for name in vars(loader) if not name.startswith("_")}
    parameters = {*inspect.signature(data.DataLoader).parameters}
    assert public == parameters - {"shuffle", "multiprocessing_context"}
    given = {name: getattr(loader, name) for name in public}
    assert given.pop("batch_sampler") is loader._index_sampler
    if isinstance(dataset, Count):
        del given["sampler"]
    again = data.DataLoader(**given)
    assert [b.tolist() for b in again] == [b.tolist() for b in loader]
    assert [b.tolist() for b in again] == [[0, 1], [2, 3], [4]]


def test_the_sampler_of_an_iterable_dataset_goes_on():
    sampler = data.DataLoader(Count()).sampler
    assert isinstance(sampler, dataloader._InfiniteConstantSampler)
    assert isinstance(sampler, data.Sampler)
    assert list(islice(sampler, 3)) == [None] * 3
