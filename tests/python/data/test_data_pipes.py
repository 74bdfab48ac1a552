"""Data pipes in loaders with workers, and over files."""

from __future__ import annotations

import doctest
import importlib
import io
import operator
import pickle
from functools import partial

import pytest
from hotaru.utils.data import DataLoader
from hotaru.utils.data.datapipes.iter import FileLister, IterableWrapper
from hotaru.utils.data.datapipes.utils.common import StreamWrapper
from hotaru.utils.data.datapipes.utils.snapshot import (
    _simple_graph_snapshot_restoration,
)
from hotaru.utils.data.graph_settings import apply_random_seed

import hotaru as torch

COUNT = 24


def taken(loader) -> list[int]:
    return [int(x) for batch in loader for x in batch]


def pipeline():
    source = IterableWrapper(range(COUNT))
    return source.shuffle().sharding_filter().map(partial(operator.mul, 2))


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_share_a_shuffled_pipe_without_overlap(persistent):
    loader = DataLoader(
        pipeline(), batch_size=4, num_workers=2, persistent_workers=persistent
    )
    torch.manual_seed(5)
    first, second = taken(loader), taken(loader)
    want = list(range(0, 2 * COUNT, 2))
    # Each epoch has all items once: all workers shuffled alike.
    assert sorted(first) == sorted(second) == want
    assert first != second
    torch.manual_seed(5)
    again = DataLoader(
        pipeline(), batch_size=4, num_workers=2, persistent_workers=persistent
    )
    assert taken(again) == first


def test_a_pipe_without_a_filter_is_given_by_every_worker():
    loader = DataLoader(IterableWrapper(range(3)), num_workers=2)
    assert sorted(taken(loader)) == [0, 0, 1, 1, 2, 2]


def test_workers_are_set_up_behind_the_sharding():
    pipe = IterableWrapper(range(4)).sharding_filter()

    def note(worker):
        assert pipe.num_of_instances == 2
        assert pipe.instance_id == worker
        pipe.apply_sharding(1, 0)

    loader = DataLoader(pipe, num_workers=2, worker_init_fn=note)
    assert sorted(taken(loader)) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_the_loader_puts_a_shuffler_behind_a_pipe_without_one():
    torch.manual_seed(1)
    with pytest.warns(UserWarning, match="does not contain a `Shuffler`"):
        loader = DataLoader(IterableWrapper(range(COUNT)), shuffle=True)
    found = taken(loader)
    assert sorted(found) == list(range(COUNT))
    assert found != sorted(found)


def test_files_in_order_by_pattern_and_their_contents(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("b.txt", "a.txt", "c.bin", "sub/d.txt"):
        (tmp_path / name).write_text(name)
    root = str(tmp_path)
    names = [path[len(root) + 1 :] for path in FileLister(root, "*.txt")]
    assert names == ["a.txt", "b.txt"]
    all_of_them = FileLister(root, ["*.txt", "c*"], recursive=True)
    opened = all_of_them.open_files("rt")
    pairs = list(opened.read_from_stream())
    assert [text for _, text in pairs] == ["a.txt", "b.txt", "c.bin", "sub/d.txt"]
    with (
        pytest.warns(UserWarning, match="No such file"),
        pytest.raises(FileNotFoundError),
    ):
        list(FileLister(str(tmp_path / "none")))


def test_what_is_filtered_out_is_closed(tmp_path):
    (tmp_path / "a").write_text("x")
    streams = []

    def unwanted(pair):
        streams.append(pair[1])
        return False

    opened = FileLister(str(tmp_path)).open_files()
    with pytest.warns(UserWarning, match="Local function is not supported"):
        kept = opened.filter(unwanted)
    assert list(kept) == []
    assert streams[0].closed


def test_a_parent_stream_has_to_be_one():
    with pytest.raises(RuntimeError, match="Parent stream should be"):
        StreamWrapper(io.StringIO(), 3)


def _times_ten(x):
    return x * 10


def _forked_graph():
    pipe = IterableWrapper(range(12)).map(_times_ten).shuffle()
    first, second = pipe.batch(2).fork(2)
    return first.zip(second)


def _seeded(pipe, seed=4):
    generator = torch.Generator().manual_seed(seed)
    apply_random_seed(pipe, generator)
    return pipe


class _PlainIterator(IterableWrapper):
    def __init__(self):
        super().__init__(range(12))

    def __iter__(self):
        return iter(self.iterable)


@pytest.mark.parametrize("kind", [_forked_graph, _PlainIterator])
def test_snapshots(kind):
    """A copy goes on where the pipe stood when it was pickled."""
    expected = list(_seeded(kind()))
    pipe = _seeded(kind())
    iterator = iter(pipe)
    for _ in range(2):
        next(iterator)
    copy = pickle.loads(pickle.dumps(pipe))
    count = copy._number_of_samples_yielded
    assert count == 2
    generator = torch.Generator().manual_seed(4)
    _simple_graph_snapshot_restoration(copy, count, generator)
    with pytest.raises(RuntimeError, match="restoration cannot be applied"):
        _simple_graph_snapshot_restoration(copy, count)
    assert list(copy) == expected[2:]
    assert list(iterator) == expected[2:]
    # Once only: then it begins anew, as any pipe.
    assert list(_seeded(copy)) == expected
    with pytest.raises(RuntimeError, match="exceeds the number of samples"):
        _simple_graph_snapshot_restoration(copy, 100)


def test_numpy_states_of_workers():
    from hotaru.utils.data._utils.worker import _generate_state

    pytest.importorskip("numpy", reason="the numbers are numpy's")
    # Seeds that PyTorch's workers give numpy.
    expected = [2884386318, 1088094898, 3523808998, 3860348662]
    assert _generate_state(13434589827475259383, 4) == expected


@pytest.mark.filterwarnings("ignore:Lambda function is not supported")
@pytest.mark.parametrize(
    "name",
    [
        "iter.callable",
        "iter.combinatorics",
        "iter.combining",
        "iter.forking",
        "iter.grouping",
        "iter.selecting",
        "iter.streamreader",
        "map.callable",
        "map.combinatorics",
        "map.combining",
        "map.grouping",
    ],
)
def test_examples_in_the_documentation(name):
    module = importlib.import_module(f"hotaru.utils.data.datapipes.{name}")
    failed, attempted = doctest.testmod(module)
    assert attempted > 0
    assert failed == 0
