"""DataLoader's worker processes: errors, and how they end."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import deque

import data_sets
import pytest
from hotaru.utils.data import DataLoader
from worker_runs import ENVIRONMENT, SECONDS, ended, run

import hotaru

pytestmark = [
    pytest.mark.usefixtures("worker_helpers", "nothing_left"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]


# --- errors -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ({"signal": signal.SIGKILL}, "is killed by signal: Killed"),
        ({"signal": signal.SIGTERM}, "is killed by signal: Terminated"),
        ({"code": 3}, "exited unexpectedly with exit code 3"),
        ({"code": 0}, "exited unexpectedly with exit code 0"),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_dead_worker_is_reported(end, cause, workers):
    loader = DataLoader(data_sets.Dying(12, 5, **end), 1, num_workers=workers)
    batches = iter(loader)
    dead = batches._workers[5 % workers].pid
    with pytest.raises(RuntimeError) as caught:
        deque(batches)
    expected = f"DataLoader worker (pid(s) {dead}) exited unexpectedly"
    assert str(caught.value) == expected
    assert f"(pid {dead}) {cause}" in str(caught.value.__cause__)
    # It is over; nothing pretends that the epoch had ended.
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(batches)
    assert all(not process.is_alive() for process in batches._workers)


def test_dead_worker_is_reported_though_its_child_lives():
    batches = iter(
        DataLoader(
            data_sets.Dying(4, 1, signal.SIGKILL, grandchild=True), 1, num_workers=1
        )
    )
    sleeper = next(batches)[0].item()
    try:
        with pytest.raises(RuntimeError, match="exited unexpectedly"):
            next(batches)
    finally:
        os.kill(sleeper, signal.SIGKILL)


def test_worker_killed_from_outside_while_the_parent_waits():
    batches = iter(DataLoader(data_sets.Stuck(4), 1, num_workers=2))
    os.kill(batches._workers[1].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(batches)  # of the other worker, which is stuck
    for process in batches._workers:
        process.kill()


def test_timeout():
    batches = iter(DataLoader(data_sets.Stuck(4), 1, num_workers=1, timeout=0.1))
    with pytest.raises(RuntimeError, match=r"timed out after 0\.1 seconds"):
        next(batches)
    batches._workers[0].kill()


def test_error_has_the_workers_traceback():
    class Broken(data_sets.Rows):
        def __getitem__(self, i):
            raise LookupError(f"no item {i}")

    with pytest.raises(LookupError) as caught:
        next(iter(DataLoader(Broken(3), 1, num_workers=1)))
    text = str(caught.value)
    assert text.startswith("Caught LookupError in DataLoader worker process 0.")
    assert 'raise LookupError(f"no item {i}")' in text
    assert "in __getitem__" in text


def test_error_of_a_type_that_cannot_travel():
    class LocalError(Exception):
        pass

    class Broken(data_sets.Rows):
        def __getitem__(self, i):
            raise LocalError("local")

    with pytest.raises(RuntimeError, match="LocalError: local"):
        next(iter(DataLoader(Broken(3), 1, num_workers=1)))


def test_batch_that_cannot_travel_is_an_error():
    loader = DataLoader(
        [1, 2], 1, num_workers=1, collate_fn=lambda batch: lambda: batch
    )
    with pytest.raises(Exception, match="in DataLoader worker process 0"):
        next(iter(loader))


def test_tensor_with_a_history_does_not_travel():
    loader = DataLoader(
        [1.0, 2.0],
        1,
        num_workers=1,
        collate_fn=lambda b: hotaru.ones(2, requires_grad=True) * 2,
    )
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize"):
        next(iter(loader))


def test_error_of_the_sampler_comes_from_the_parent():
    def sampler():
        yield 0
        raise LookupError("sampler")

    loader = DataLoader(data_sets.Rows(3), 1, sampler=sampler(), num_workers=1)
    with pytest.raises(LookupError, match=r"^sampler$"):
        list(loader)


def test_dataset_that_cannot_be_pickled():
    class Local(data_sets.Rows):
        pass

    loader = DataLoader(Local(3), num_workers=1, multiprocessing_context="spawn")
    with pytest.warns(UserWarning, match="Got pickle error"):  # noqa: SIM117
        with pytest.raises((AttributeError, TypeError)):
            iter(loader)


def test_an_exception_is_wrapped_and_raised_elsewhere():
    wrapper = hotaru._utils.ExceptionWrapper
    try:
        {}["gone"]
    except KeyError:
        info = sys.exc_info()
    sent = pickle.loads(pickle.dumps(wrapper(info, "in a thread")))
    assert sent.exc_type is KeyError
    with pytest.raises(KeyError, match=r"Caught KeyError in a thread.\nOrig"):
        sent.reraise()
    try:
        b"\xff".decode()
    except UnicodeDecodeError:
        sent = wrapper()
    with pytest.raises(RuntimeError, match="Caught UnicodeDecodeError in back"):
        sent.reraise()


# --- ends ---------------------------------------------------------------------


def test_iterator_dropped_midway_ends_its_workers():
    batches = iter(DataLoader(data_sets.Rows(100), 1, num_workers=2))
    next(batches)
    workers = batches._workers
    del batches
    assert [process.exitcode for process in workers] == [0, 0]


def test_stuck_worker_is_ended():
    batches = iter(DataLoader(data_sets.Stuck(4), 1, num_workers=1))
    worker = batches._workers[0]
    del batches  # takes five seconds: workers may finish what they do
    assert worker.exitcode == -signal.SIGTERM


def test_interpreter_ends_with_an_iterator_alive():
    program = """
import data_sets
from hotaru.utils.data import DataLoader

loader = DataLoader(data_sets.Rows(100), 1, num_workers=2,
                    persistent_workers=True)
batches = iter(loader)
next(batches)
print(*(process.pid for process in batches._workers))
"""
    done = run(program)
    assert (done.returncode, done.stderr) == (0, "")
    for pid in map(int, done.stdout.split()):
        assert ended(pid)


# A shell's background jobs, and what they start, ignore interrupts.
_ENDLESS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import data_sets
from hotaru.utils.data import DataLoader

batches = iter(DataLoader(data_sets.Rows(10**9), 1, num_workers=2))
next(batches)
print(*(process.pid for process in batches._workers), flush=True)
for batch in batches:
    pass
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(number):
    """Killed alone, or interrupted with its whole group, as a terminal does."""
    with subprocess.Popen(
        [sys.executable, "-c", _ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    ) as parent:
        workers = list(map(int, parent.stdout.readline().split()))
        assert len(workers) == 2
        if number == signal.SIGINT:
            os.killpg(parent.pid, number)
        else:
            parent.send_signal(number)
        try:
            _, errors = parent.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(parent.pid, signal.SIGKILL)
            raise
    for pid in workers:
        assert ended(pid)
    assert parent.returncode == -number
    if number == signal.SIGINT:
        # Only the parent tells.
        assert errors.splitlines().count("KeyboardInterrupt") == 1, errors
        assert errors.endswith("KeyboardInterrupt\n")


def test_forked_child_leaves_the_parents_workers_alone():
    batches = iter(DataLoader(data_sets.Rows(20), 2, num_workers=1))
    next(batches)
    pid = os.fork()
    if pid == 0:
        batches._end()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(list(batches)) == 9
