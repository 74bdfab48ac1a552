"""Hooks on states, pickles and texts of pipes; names of data sets."""

from __future__ import annotations

import pickle

import pytest
from hotaru.utils.data import (
    ConcatDataset,
    IterDataPipe,
    MapDataPipe,
    non_deterministic,
)


class Ones(IterDataPipe):
    def __init__(self) -> None:
        self.x = 1

    def __iter__(self):
        yield self.x


class Twos(MapDataPipe):
    def __getitem__(self, key):
        return 2


@pytest.mark.parametrize(("base", "kind"), [(IterDataPipe, Ones), (MapDataPipe, Twos)])
def test_hooks_are_those_of_a_kind_of_pipes(base, kind):
    pipe = kind()
    try:
        base.set_getstate_hook(lambda p: {"kind": type(p)})
        assert pipe.__getstate__() == {"kind": kind}
        with pytest.raises(RuntimeError, match="override existing getstate"):
            base.set_getstate_hook(lambda p: None)
        base.set_reduce_ex_hook(lambda p: (list, ()))
        assert pickle.loads(pickle.dumps(pipe)) == []
        with pytest.raises(RuntimeError, match="override existing reduce_ex"):
            base.set_reduce_ex_hook(lambda p: None)
    finally:
        base.set_getstate_hook(None)
        base.set_reduce_ex_hook(None)
    other = MapDataPipe if base is IterDataPipe else IterDataPipe
    assert other.getstate_hook is other.reduce_ex_hook is None
    assert pipe.__getstate__() == vars(pipe)


def test_a_hook_may_know_nothing_of_a_pipe():
    def hook(pipe):
        raise NotImplementedError

    IterDataPipe.set_reduce_ex_hook(hook)
    try:
        assert list(pickle.loads(pickle.dumps(Ones()))) == [1]
    finally:
        IterDataPipe.set_reduce_ex_hook(None)


def test_hooks_of_texts(monkeypatch):
    pipe = Ones()
    assert str(pipe) == repr(pipe) == "Ones"
    monkeypatch.setattr(IterDataPipe, "str_hook", staticmethod(lambda p: "S"))
    assert (str(pipe), repr(pipe)) == ("S", "Ones")
    monkeypatch.setattr(IterDataPipe, "repr_hook", staticmethod(lambda p: "R"))
    assert (str(pipe), repr(pipe)) == ("S", "R")


def test_marked_pipes_are_made_by_a_name_of_their_own():
    marked = non_deterministic(Ones)
    assert list(marked.deterministic_wrapper_fn()) == [1]


def test_ends_of_joined_datasets():
    assert ConcatDataset.cumsum([[1, 2], [3]]) == [2, 3]
    with pytest.warns(FutureWarning, match="renamed to `cumulative_sizes`"):
        assert ConcatDataset([[1, 2], [3]]).cummulative_sizes == [2, 3]
