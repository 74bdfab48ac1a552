"""DataLoader's worker processes: batches, memory, processes.

What PyTorch gives for the same loaders is compared in test_nn_golden.py; how
workers fail and end, in test_data_worker_ends.py.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque

import data_sets
import pytest
from hotaru.utils import data
from hotaru.utils.data import DataLoader
from hypothesis import given, settings
from hypothesis import strategies as st
from worker_runs import run

import hotaru

pytestmark = [
    pytest.mark.usefixtures("worker_helpers", "nothing_left"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]


# --- batches ------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    count=st.integers(1, 14),
    width=st.sampled_from([1, data_sets.WIDTH]),
    batch=st.none() | st.integers(1, 5),
    workers=st.integers(1, 3),
    shuffle=st.booleans(),
    drop_last=st.booleans(),
    prefetch=st.integers(1, 3),
)
def test_workers_make_the_batches_of_one_process(
    count, width, batch, workers, shuffle, drop_last, prefetch
):
    def batches(**options):
        generator = hotaru.Generator().manual_seed(3)
        loader = DataLoader(
            data_sets.Rows(count, width),
            batch,
            shuffle=shuffle,
            drop_last=drop_last and batch is not None,
            generator=generator,
            **options,
        )
        found = [(rows.tolist(), index) for rows, index in loader]
        found = [(r, getattr(i, "tolist", lambda i=i: i)()) for r, i in found]
        return found, hotaru.rand(1, generator=generator).item()

    expected = batches()
    assert batches(num_workers=workers, prefetch_factor=prefetch) == expected


@settings(max_examples=15, deadline=None)
@given(kept=st.lists(st.booleans(), min_size=30, max_size=30))
def test_memory_is_not_used_again_while_somebody_looks(kept):
    loader = DataLoader(data_sets.Rows(60), 2, num_workers=2)
    batches = {}
    for number, (rows, _) in enumerate(loader):
        if kept[number]:
            batches[number] = rows[1][5:]  # a view keeps the whole alive
    for number, row in batches.items():
        assert row.eq(2.0 * number + 1).all(), number


def test_memory_is_used_again():
    """At most four blocks at a time; which ones may change meanwhile."""
    before = set(_shared_areas())
    loader = DataLoader(data_sets.Rows(200), 2, num_workers=1)
    mapped = [len({*_shared_areas()} - before) for _ in loader]
    # Two under way, one here, one in the making.
    assert max(mapped) <= 4


def test_memory_of_large_batches_is_given_up():
    """One large batch does not hold its memory for the rest of the epoch."""

    def collate(samples):
        width = 10**7 if samples[0] == 0 else 2000
        return hotaru.full((width,), float(samples[0]))

    loader = DataLoader(range(60), 1, num_workers=1, collate_fn=collate)
    for number, batch in enumerate(loader):
        assert batch[-1].item() == number
        sizes = [end - begin for begin, end in _shared_areas()]
    assert max(sizes) < 10**6


def _shared_areas() -> list[tuple[int, int]]:
    """Where batches' memory is mapped here."""
    with open("/proc/self/maps") as maps:
        areas = [line.split()[0] for line in maps if "memfd:hotaru" in line]
    return [tuple(int(end, 16) for end in a.split("-")) for a in areas]


def test_batches_lie_in_shared_memory():
    rows, _ = next(iter(DataLoader(data_sets.Rows(4), 2, num_workers=1)))
    assert rows.is_shared()
    assert not hotaru.zeros(3).is_shared()


def test_batch_of_a_forked_child_stays():
    """The child sees the batch as well, though the parent has dropped it."""
    loader = iter(DataLoader(data_sets.Rows(80), 2, num_workers=1))
    held = deque([next(loader)[0]])
    ours, theirs = multiprocessing.Pipe()

    def child():
        ours.close()
        theirs.recv()
        theirs.send(held[0].eq(hotaru.tensor([[0.0], [1.0]])).all().item())

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    held.clear()
    for _ in loader:
        pass
    ours.send("look")
    assert ours.recv() is True
    process.join()
    ours.close()
    theirs.close()


def test_worker_may_keep_what_it_sends():
    kept = []

    def collate(samples):
        if not kept:
            kept.append(data.default_collate(samples))
        return kept[0]

    loader = DataLoader(data_sets.Rows(40), 2, num_workers=1, collate_fn=collate)
    for rows, index in loader:
        assert index.tolist() == [0, 1]
        assert rows[:, 7].tolist() == [0.0, 1.0]


def test_layouts_dtypes_and_classes_survive():
    large = hotaru.arange(6000.0).reshape(3, 20, 100)
    batch = {
        "permuted": large.permute(2, 0, 1),
        "strided": large[:, ::2, ::3],
        "expanded": hotaru.ones(1, 5).expand(2000, 5),
        "scalar": hotaru.tensor(3, dtype=hotaru.int16),
        "empty": hotaru.ones(0, 7, dtype=hotaru.float64),
        "half": large.half(),
        "bool": large > 5,
        "complex": hotaru.complex(large, large),
        "leaf": large.clone().requires_grad_(),
        "parameter": hotaru.nn.Parameter(large.clone()),
        "twice": [large, large],
    }
    loader = DataLoader([0], num_workers=1, collate_fn=lambda samples: dict(batch))
    got = next(iter(loader))
    pairs = [(batch[k], got[k]) for k in batch if k != "twice"]
    pairs += zip(batch["twice"], got["twice"])
    for sent, received in pairs:
        assert type(received) is type(sent)
        assert received.dtype == sent.dtype
        assert received.requires_grad == sent.requires_grad
        assert received.equal(sent)
    assert got["permuted"].stride() == batch["permuted"].stride()


class _Wrapper(hotaru.Tensor):
    """Keeps its elements in another tensor."""

    @staticmethod
    def __new__(cls, data, tag=None):
        made = hotaru.Tensor._make_wrapper_subclass(cls, data.size(), dtype=data.dtype)
        made.inner, made.tag = data, tag
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args = [a.inner if isinstance(a, _Wrapper) else a for a in args]
        return func(*args, **(kwargs or {}))


class _Tagged(hotaru.Tensor):
    pass


def _wrapped(items):
    return _Wrapper(hotaru.tensor(items), "tag")


def _tagged(items):
    made = hotaru.tensor(items).as_subclass(_Tagged)
    made.tag = "tag"
    return made


@pytest.mark.parametrize("collate", [_wrapped, _tagged])
def test_subclasses_come_with_what_they_have(collate):
    batches = list(DataLoader([1, 2], batch_size=1, num_workers=1, collate_fn=collate))
    assert [batch.tag for batch in batches] == ["tag", "tag"]
    assert {type(batch) for batch in batches} == {type(collate([1]))}
    values = [
        (batch.inner if isinstance(batch, _Wrapper) else batch).tolist()
        for batch in batches
    ]
    assert values == [[1], [2]]


def test_more_tensors_than_a_message_takes_descriptors():
    def collate(samples):
        return [hotaru.full((2000,), float(i)) for i in range(600)]

    loader = DataLoader(data_sets.Rows(3), 1, num_workers=1, collate_fn=collate)
    for batch in loader:
        assert [t[0].item() for t in batch] == list(range(600))


def test_full_pipes_do_not_block_each_other():
    """Far more is under way, both ways, than the sockets hold."""
    indices = [list(range(i, i + 400)) for i in range(900)]
    loader = DataLoader(
        range(2000),
        batch_sampler=indices,
        num_workers=1,
        prefetch_factor=900,
        collate_fn=lambda samples: (samples[0], "x" * 3000),
    )
    assert [first for first, _ in loader] == list(range(900))


def test_long_messages():
    loader = DataLoader(
        range(4), 2, num_workers=2, collate_fn=lambda b: ["y" * 10**6, *b]
    )
    assert [batch[1:] for batch in loader] == [[0, 1], [2, 3]]


def test_kept_batches_need_no_descriptors():
    """More batches are kept than a process may open files."""
    program = """
import resource
import data_sets
from hotaru.utils.data import DataLoader

resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
kept = list(DataLoader(data_sets.Rows(400), 1, num_workers=1))
assert all(rows[0, 0].item() == i for i, (rows, _) in enumerate(kept))
"""
    done = run(program)
    assert done.returncode == 0, done.stderr


# --- workers ------------------------------------------------------------------


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_ways_to_start(method):
    loader = DataLoader(
        data_sets.Rows(6), 2, num_workers=2, multiprocessing_context=method
    )
    assert [index.tolist() for _, index in loader] == [[0, 1], [2, 3], [4, 5]]


def test_workers_compute_on_one_thread():
    threads = hotaru.get_num_threads()
    hotaru.set_num_threads(2)
    try:
        loader = DataLoader(data_sets.Threads(), 2, num_workers=1)
        assert next(iter(loader)).tolist() == [1, 1]
    finally:
        hotaru.set_num_threads(threads)


def test_forked_child_computes_in_parallel():
    """The parent's pool is not there any more; the child has its own."""
    threads = hotaru.get_num_threads()
    hotaru.set_num_threads(2)
    try:
        large = hotaru.rand(400, 1000)
        expected = (large @ large.t()).sum().item(), large.exp().sum().item()

        def child(results):
            results.send(hotaru.get_num_threads())
            for _ in range(3):
                results.send((large @ large.t()).sum().item())
                results.send(large.exp().sum().item())

        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=child, args=(theirs,)
        )
        process.start()
        assert ours.recv() == 2
        for _ in range(3):
            assert (ours.recv(), ours.recv()) == expected
        process.join()
        assert process.exitcode == 0
        ours.close()
        theirs.close()
    finally:
        hotaru.set_num_threads(threads)


def test_streams_before_and_inside_of_workers():
    """Results that a stream still computes are there when they are sent."""
    before = hotaru.cpu.Stream()
    with hotaru.cpu.stream(before):
        base = hotaru.zeros(300, 300)
        for _ in range(40):
            base = base + 1

    def collate(samples):
        with hotaru.cpu.stream(hotaru.cpu.Stream()):
            out = base
            for _ in range(20):
                out = out @ hotaru.eye(300)
            return out + samples[0]

    loader = DataLoader(range(6), 1, num_workers=2, collate_fn=collate)
    for number, batch in enumerate(loader):
        assert batch.eq(40.0 + number).all()


def test_persistent_workers_stay_and_begin_again():
    loader = DataLoader(data_sets.Rows(20), 2, num_workers=2, persistent_workers=True)
    batches = iter(loader)
    first = [process.pid for process in batches._workers]
    next(batches)  # leaves the rest of the epoch under way
    for _ in range(2):
        found = [index.tolist() for _, index in loader]
        assert found == [[i, i + 1] for i in range(0, 20, 2)]
    assert [process.pid for process in iter(loader)._workers] == first


def test_two_loaders_at_once():
    one = DataLoader(data_sets.Rows(20), 2, num_workers=1)
    two = DataLoader(data_sets.Counting(20), 2, num_workers=1)
    for (_, index), number in zip(one, two):
        assert index.equal(number)


def test_unordered_batches_do_not_wait_for_a_stuck_worker():
    class Half(data_sets.Rows):
        def __getitem__(self, i):
            if i == 0:
                signal.pause()
            return i

    loader = DataLoader(Half(7), 1, num_workers=2, in_order=False)
    batches = iter(loader)
    assert [next(batches).item() for _ in range(5)] == [1, 3, 4, 5, 6]
    for process in batches._workers:
        process.terminate()


def test_too_many_workers_are_warned_of(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    with pytest.warns(UserWarning, match="will create 2 worker.* system is 1"):
        DataLoader([1], num_workers=2)
