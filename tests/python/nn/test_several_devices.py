"""Batches cut and joined; batch normalisation over a group of one."""

from __future__ import annotations

from collections import namedtuple

import pytest
from hotaru.nn.parallel.scatter_gather import gather, scatter, scatter_kwargs

import hotaru
from hotaru import nn

Pair = namedtuple("Pair", "a b")


def test_tensors_are_cut_and_the_rest_is_shared():
    x = hotaru.arange(6).reshape(6, 1)
    first, second = scatter((x, {"k": x}, "name"), ["cpu", "cpu"])
    assert first[0].flatten().tolist() == [0, 1, 2]
    assert second[1]["k"].flatten().tolist() == [3, 4, 5]
    assert first[2] == second[2] == "name"
    pairs = scatter(Pair(x, x), ["cpu", "cpu", "cpu"])
    assert [type(p) for p in pairs] == [Pair] * 3
    assert pairs[2].b.flatten().tolist() == [4, 5]


def test_named_arguments_are_as_many_as_the_others():
    x = hotaru.arange(4)
    given, named = scatter_kwargs((x,), None, ["cpu", "cpu"])
    assert named == ({}, {})
    assert given[1][0].tolist() == [2, 3]


def test_gather_undoes_scatter():
    x = hotaru.arange(12).reshape(6, 2)
    parts = scatter([x, Pair(x, x + 1)], ["cpu", "cpu"])
    whole, pair = gather(parts, "cpu")
    assert hotaru.equal(whole, x)
    assert isinstance(pair, Pair)
    assert hotaru.equal(pair.b, x + 1)


def test_gather_makes_a_row_of_single_numbers():
    losses = [hotaru.tensor(1.0), hotaru.tensor(3.0)]
    assert gather(losses, "cpu").tolist() == [1.0, 3.0]


def test_synchronised_normalisation_is_that_of_the_batch():
    hotaru.manual_seed(0)
    x = hotaru.randn(5, 3, 4)
    plain, synced = nn.BatchNorm1d(3), nn.SyncBatchNorm(3)
    assert hotaru.equal(plain(x), synced(x))
    assert hotaru.equal(plain.running_var, synced.running_var)
    with pytest.raises(ValueError, match="at least 2D"):
        synced(x[0, 0])


def test_conversion_keeps_parameters_and_mode():
    net = nn.Sequential(nn.Conv2d(1, 2, 1), nn.Sequential(nn.BatchNorm2d(2)))
    before = net[1][0]
    net.eval()
    out = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    after = out[1][0]
    assert type(after) is nn.SyncBatchNorm
    assert after.weight is before.weight
    assert after.running_mean is before.running_mean
    assert not after.training
    assert out is net
