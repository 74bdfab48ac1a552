"""Traces in the format of Chrome."""

from __future__ import annotations

import json
import os

# The process of a trace that has a row for each stream; no real process.
_STREAMS = 0
_CATEGORIES = {
    "kernel": "kernel",
    "operator": "cpu_op",
    "range": "user_annotation",
}


def write_trace(events: list, path, more: dict | None = None) -> None:
    """Writes events; those of queued streams lie in rows of these, too.

    `more` are entries beside the events.
    """
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**(more or {}), **_trace(events)}, file)


def _row(event, process: int) -> dict:
    row = {
        "ph": "X",
        "name": event.name,
        "cat": _CATEGORIES[event.kind],
        "pid": process,
        "tid": event.thread,
        "ts": event.start,
        "dur": event.duration,
        "args": {"stream": event.stream},
    }
    if event.input_shapes:
        row["args"]["shapes"] = [list(shape) for shape in event.input_shapes]
    if event.stack:
        row["args"]["Call stack"] = ";".join(event.stack)
    return row


def _trace(events: list) -> dict:
    process = os.getpid()
    rows: list[dict] = []
    streams: dict[int, int] = {}
    for event in events:
        row = _row(event, process)
        rows.append(row)
        if event.stream:
            number = streams.setdefault(event.stream, len(streams) + 1)
            rows.append({**row, "pid": _STREAMS, "tid": number})

    def name(kind: str, pid: int, tid: int, text: str) -> None:
        row = {"ph": "M", "name": kind, "pid": pid, "tid": tid}
        rows.append({**row, "args": {"name": text}})

    name("process_name", process, 0, "threads")
    if streams:
        name("process_name", _STREAMS, 0, "streams")
    for number in streams.values():
        name("thread_name", _STREAMS, number, f"stream {number}")
    return {"traceEvents": rows, "displayTimeUnit": "ns"}
