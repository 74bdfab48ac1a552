"""Samplers draw what is asked for, not what could be asked for."""

import tracemalloc
import warnings
from itertools import islice

import pytest
from hotaru.utils import data

import hotaru as torch


@pytest.mark.parametrize("replacement", [False, True])
def test_the_first_indices_of_many_are_cheap(replacement):
    sampler = data.RandomSampler(
        range(10), replacement=replacement, num_samples=int(1e15)
    )
    assert len(sampler) == 10**15
    tracemalloc.start()
    try:
        first = list(islice(sampler, 100))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(first) == 100
    assert set(first) <= set(range(10))
    # A list of the rounds to come would take terabytes, 100 indices do not.
    assert peak < 1 << 20


def test_the_first_batch_of_a_loader_is_cheap():
    sampler = data.RandomSampler(range(10), replacement=True, num_samples=int(1e15))
    loader = data.DataLoader(range(10), sampler=sampler, batch_size=4)
    assert len(next(iter(loader))) == 4


def test_weights_may_be_a_tensor():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sampler = data.WeightedRandomSampler(torch.tensor([0, 3, 0]), 4)
    assert list(sampler) == [1, 1, 1, 1]
    assert sampler.weights.dtype == torch.float64
