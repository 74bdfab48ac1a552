"""Memory in a profile: whose it is, and what is nobody's."""

from __future__ import annotations

import bisect

from ._events import FunctionEvent, new_id
from ._records import MemoryRecord

# As PyTorch calls what no event has.
NAME = "[memory]"


def known(rows: list, origin: int) -> list[MemoryRecord]:
    """Records of blocks that were taken since the profile began, by time.

    What was there before is not told when it goes, as with PyTorch.

    Args:
        rows: memory as `_C._stop_profiling` gives it.
        origin: when times are 0, in nanoseconds.
    """
    found: list[MemoryRecord] = []
    blocks: set[tuple] = set()
    totals: dict[tuple, int] = {}
    for thread, time, address, nbytes, on_cpu, device in sorted(
        rows, key=lambda row: row[1]
    ):
        place = on_cpu, device
        block = *place, address
        if nbytes > 0:
            blocks.add(block)
        elif block in blocks:
            blocks.discard(block)
        else:
            continue
        totals[place] = total = totals.get(place, 0) + nbytes
        time = (time - origin) / 1e3
        found.append(MemoryRecord(thread, time, address, nbytes, total, on_cpu, device))
    return found


def share(
    events: list[FunctionEvent], records: list[MemoryRecord]
) -> list[FunctionEvent]:
    """Tells events of the memory of their thread and time.

    Those whose times are estimated have it if their parent's time is theirs.

    Args:
        events: of the host, each with what is inside of it.

    Returns:
        events of what no event has.
    """
    tops: dict[int, _Level] = {}
    for event in events:
        if event.cpu_parent is None and _is_measured(event):
            tops.setdefault(event.thread, _Level()).append(event)
    levels: dict[int, _Level] = {}
    alone = []
    for record in records:
        owner, level = None, tops.get(record.thread)
        while level and (inside := level.at(record.time)) is not None:
            owner = inside
            if owner.id not in levels:
                levels[owner.id] = _Level(filter(_is_measured, owner.cpu_children))
            level = levels[owner.id]
        if owner is None:
            owner = FunctionEvent(
                new_id(), NAME, record.thread, record.time, record.time, kind="memory"
            )
            alone.append(owner)
        elif record.nbytes > 0:
            owner = _who_works(owner)
        _add(owner, record)
    return alone


def _is_measured(event: FunctionEvent) -> bool:
    return event.kind in ("operator", "range", "node") and not event.is_estimated


def _who_works(event: FunctionEvent) -> FunctionEvent:
    """The innermost that is told to work: results are its."""
    while True:
        inside = [c for c in event.cpu_children if c.is_estimated and c.works]
        if not inside:
            return event
        event = inside[-1]


def _add(event: FunctionEvent | None, record: MemoryRecord) -> None:
    name = "cpu_memory_usage" if record.on_cpu else "device_memory_usage"
    while event is not None:
        setattr(event, name, getattr(event, name) + record.nbytes)
        event = event.cpu_parent


class _Level(list):
    """Events that follow each other, by start."""

    def at(self, time: float) -> FunctionEvent | None:
        i = bisect.bisect_right(self, time, key=lambda event: event.start) - 1
        if i < 0 or self[i].time_range.end < time:
            return None
        return self[i]
