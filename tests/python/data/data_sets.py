"""Datasets of the worker tests: workers that are spawned import this module."""

from __future__ import annotations

import os
import signal
import subprocess

from hotaru.utils.data import Dataset, IterableDataset, get_worker_info

import hotaru

# Above the size from which tensors travel in shared memory.
WIDTH = 3000


class Rows(Dataset):
    """Row i holds i everywhere."""

    def __init__(self, count: int, width: int = WIDTH) -> None:
        self.count = count
        self.width = width

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i):
        return hotaru.full((self.width,), float(i)), i


class Threads(Dataset):
    """How many threads a worker computes with."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i) -> int:
        return hotaru.get_num_threads()


class Dying(Rows):
    """A worker that looks up `at` ends at once, by a signal or an exit code.

    A grandchild that lives on must not hide that; item 0 is its id.
    """

    def __init__(self, count, at, signal=0, code=0, grandchild=False) -> None:
        super().__init__(count, 4)
        self.at, self.signal, self.code = at, signal, code
        self.grandchild = grandchild

    def __getitem__(self, i):
        if i == 0 and self.grandchild:
            sleeper = subprocess.Popen(["sleep", "600"])
            return hotaru.tensor([sleeper.pid]), 0
        if i != self.at:
            return hotaru.zeros(1), i
        if self.signal:
            os.kill(os.getpid(), self.signal)
        os._exit(self.code)


class Stuck(Rows):
    """Looking up an item takes until somebody ends the worker."""

    def __getitem__(self, i):
        signal.pause()


class Counting(IterableDataset):
    """`share` numbers from each worker."""

    def __init__(self, share: int) -> None:
        self.share = share

    def __iter__(self):
        worker = get_worker_info()
        first = worker.id * self.share if worker else 0
        return iter(range(first, first + self.share))


def add_and_answer(inbox, outbox, shared) -> None:
    """Adds one to what arrives, in place, and sends it back."""
    received = inbox.get()
    received += 1
    shared.fill_(7)
    outbox.put(received)
    inbox.get()  # a sender lives until its tensor has arrived


def fill(index: int, target) -> None:
    """Writes index + 1 into an element."""
    target[index] = index + 1


def fail(index: int) -> None:
    """Raises in process 1; the others wait to be ended."""
    if index == 1:
        raise ValueError("process one")
    signal.pause()


def fail_at_length(index: int) -> None:
    """Raises with more text than a pipe holds."""
    raise ValueError("x" * 200_000)


def fail_first(index: int) -> None:
    """Process 0 ends with a code of its own; the others with none."""
    if index == 0:
        raise SystemExit(12)


def pass_by(index: int) -> None:
    """Ends at once."""


def count_bytes(storage, empty) -> None:
    """Numbers the bytes of a storage."""
    assert empty.nbytes() == 0
    for i in range(storage.nbytes()):
        storage[i] = i


def die(index: int) -> None:
    """Ends by a signal."""
    os.kill(os.getpid(), signal.SIGKILL)


def measure(inbox, answers) -> None:
    """Answers twice how long the memory of tensors is, and if it is shared."""
    for _ in range(2):
        got = inbox.get()
        answers.put([(t.untyped_storage().nbytes(), t.is_shared()) for t in got])
        del got
