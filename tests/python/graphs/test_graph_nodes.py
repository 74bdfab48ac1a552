"""Objects of registered classes, as TensorDict, in compiled calls."""

from __future__ import annotations

import collections

import pytest
from hotaru.utils import _pytree

import hotaru as torch

pytestmark = pytest.mark.filterwarnings("ignore:compile")


class Batch:
    """A class whose objects are nodes of trees."""

    def __init__(self, values: dict, size: tuple):
        self.values = values
        self.size = size


class Narrow:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Queue(collections.deque):
    pass


for _kind in (Batch, Narrow, Queue):
    _pytree.register_pytree_node(
        _kind, lambda node: ([], node), lambda values, node: node
    )


def _batch(value: float) -> Batch:
    return Batch({"a": torch.full((3,), value)}, (3,))


def test_arguments_and_results_are_nodes():
    def double(batch):
        return Batch({"b": batch.values["a"] * 2}, (*batch.size, "out"))

    compiled = torch.compile(double, fullgraph=True)
    kept = []
    for value in (1.0, 2.0, 3.0):
        kept.append(compiled(_batch(value)))
    assert [type(result) for result in kept] == [Batch] * 3
    assert [result.values["b"].tolist() for result in kept] == [
        [2.0] * 3,
        [4.0] * 3,
        [6.0] * 3,
    ]
    assert kept[0].size == (3, "out")


def test_attributes_that_are_no_tensors_tell_calls_apart():
    compiled = torch.compile(
        lambda batch: batch.values["a"] * len(batch.size), fullgraph=True
    )
    for size in ((), (1,), (1, 2), (1,), ()):
        got = compiled(Batch({"a": torch.ones(2)}, size))
        assert got.tolist() == [float(len(size))] * 2


def test_a_node_that_is_given_back_is_the_caller_s():
    compiled = torch.compile(lambda batch: (batch, batch.values["a"] + 1))
    for value in (1.0, 2.0, 3.0):
        batch = _batch(value)
        same, more = compiled(batch)
        assert same is batch
        assert more.tolist() == [value + 1] * 3


@pytest.mark.parametrize("way", ["key", "attribute"])
def test_changes_of_a_node_have_no_graph_and_are_made(way):
    def change(batch):
        result = batch.values["a"] + 1
        if way == "key":
            batch.values["b"] = result
        else:
            batch.size = (7,)
        return result

    with pytest.raises(Exception, match="changes a"):
        torch.compile(change, fullgraph=True)(_batch(1.0))
    compiled = torch.compile(change)
    for value in (1.0, 2.0, 3.0):
        batch = _batch(value)
        compiled(batch)
        if way == "key":
            assert batch.values["b"].tolist() == [value + 1] * 3
        else:
            assert batch.size == (7,)


def test_writes_into_tensors_of_a_node_are_the_caller_s():
    def step(batch):
        batch.values["a"].mul_(2)
        return batch.values["a"].sum()

    compiled = torch.compile(step, fullgraph=True)
    for value in (1.0, 2.0, 3.0):
        batch = _batch(value)
        assert compiled(batch).item() == 6 * value
        assert batch.values["a"].tolist() == [2 * value] * 3


def test_slots_are_attributes_too():
    compiled = torch.compile(lambda node: Narrow(node.value * 2), fullgraph=True)
    for value in (1.0, 2.0, 3.0):
        assert (
            compiled(Narrow(torch.full((2,), value))).value.tolist() == [2 * value] * 2
        )


def test_nodes_that_hold_more_than_attributes_have_no_graph():
    compiled = torch.compile(lambda queue: queue[0] * len(queue))
    for count in (1, 2, 3, 1):
        queue = Queue([torch.full((2,), float(count))] * count)
        assert compiled(queue).tolist() == [float(count * count)] * 2
    with pytest.raises(Exception, match="cannot be part of a graph"):
        torch.compile(lambda queue: queue[0] + 1, fullgraph=True)(
            Queue([torch.ones(2)])
        )
