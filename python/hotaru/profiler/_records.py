"""Helpers that profiles are read with, beside their events."""

from __future__ import annotations

import bisect
from typing import NamedTuple


class Interval(NamedTuple):
    """From `start` to `end`."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start


class Kernel(NamedTuple):
    """Launch by a call on a device, with its time in microseconds."""

    name: str
    device: int
    duration: float


class MemoryRecord(NamedTuple):
    """A block of memory that was taken, or given back: `nbytes` is negative.

    Attributes:
        thread, time: of which thread, and when, in microseconds.
        address: where the block is.
        total: bytes of its device that are taken then.
        on_cpu, device: whose it is, with the device's index.
    """

    thread: int
    time: float
    address: int
    nbytes: int
    total: int
    on_cpu: bool
    device: int


class EnforceUnique:
    """Keys of which each may be seen once."""

    def __init__(self) -> None:
        self.seen: set = set()

    def see(self, *key) -> None:
        """RuntimeError: it was seen before."""
        if key in self.seen:
            raise RuntimeError("duplicate key: " + str(key))
        self.seen.add(key)


class MemRecordsAcc:
    """Finds records by the time they are of.

    Args:
        mem_records: tuples whose first item has `start_ns()`.
    """

    def __init__(self, mem_records) -> None:
        self._mem_records = mem_records
        order = sorted(
            (record[0].start_ns(), i) for i, record in enumerate(mem_records)
        )
        self._start_nses = [start for start, _ in order]
        self._indices = [i for _, i in order]

    def in_interval(self, start_ns: float, end_ns: float):
        """The records of between two times, by time."""
        first = bisect.bisect_left(self._start_nses, start_ns)
        last = bisect.bisect_right(self._start_nses, end_ns)
        for i in self._indices[first:last]:
            yield self._mem_records[i]
