"""Data pipes in loaders with workers, and over files."""

from __future__ import annotations

import io
import operator
from functools import partial

import pytest
from hotaru.utils.data import DataLoader
from hotaru.utils.data.datapipes.iter import FileLister, IterableWrapper
from hotaru.utils.data.datapipes.utils.common import StreamWrapper

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
    assert [text for _, text in pairs] == [
        "a.txt",
        "b.txt",
        "c.bin",
        "sub/d.txt",
    ]
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
