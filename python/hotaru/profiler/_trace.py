"""Traces in the format of Chrome."""

from __future__ import annotations

import gzip
import json
import os

from .._extension.new_file import new_file

# The process of a trace that has a row for each stream; no real process. Where
# devices are, 0 is the first of them.
_STREAMS = 0
_STREAMS_BESIDE_DEVICES = "streams"
# Devices come behind the host's threads.
_FIRST_DEVICE = 5_000_000
_CATEGORIES = {
    "kernel": "kernel",
    "operator": "cpu_op",
    "node": "cpu_op",
    "range": "user_annotation",
}
# From a launch to what it launched.
_FLOW = "ac2g"


def write_trace(events: list, path, more: dict | None = None) -> None:
    """Writes events; those of queued streams lie in rows of these, too.

    `more` are entries beside the events. A file of a name that ends with ".gz"
    is compressed.
    """
    text = json.dumps({**(more or {}), **_trace(events)}).encode()
    if str(path).endswith(".gz"):
        text = gzip.compress(text)
    with new_file(path) as file:
        file.write(text)


def _row(event, process: int, beside_devices: bool) -> dict:
    row = {
        "ph": "X",
        "name": event.name,
        "cat": _category(event, beside_devices),
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
    if event.kind == "node":
        row["args"]["Sequence number"] = event.sequence_nr
    if event.flows:
        row["args"]["correlation"] = event.flow_id
    if event.external_id or event.kernels:
        row["args"]["External id"] = event.external_id or event.id
    return row


def _category(event, beside_devices: bool) -> str:
    """Beside devices, kernels are what they run, and none of the host's."""
    if beside_devices and event.kind == "kernel":
        return event.activity_type or "cpu_op"
    return _CATEGORIES[event.kind]


def _memory_row(record, process: int) -> dict:
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "s": "t",
        "name": "[memory]",
        "pid": process,
        "tid": record.thread,
        "ts": record.time,
        "args": {
            "Total Reserved": 0,
            "Total Allocated": record.total,
            "Bytes": record.nbytes,
            "Device Id": -1 if record.on_cpu else record.device,
            "Device Type": 0 if record.on_cpu else 1,
            "Addr": record.address,
        },
    }


def _device_row(event) -> dict:
    args = {
        "External id": event.external_id,
        "device": event.device_index,
        "stream": event.device_resource_id,
    }
    if event.flow_id is not None:
        args["correlation"] = event.flow_id
    return {
        "ph": "X",
        "name": event.name,
        "cat": event.activity_type,
        "pid": event.device_index,
        "tid": event.device_resource_id,
        "ts": event.start,
        "dur": event.duration,
        "args": {**args, **(event.extra_meta or {})},
    }


def _flows(event, row: dict) -> list[dict]:
    """The arrows' ends at a row."""
    end = {"ph": "s"} if event.flow_start else {"ph": "f", "bp": "e"}
    place = {key: row[key] for key in ("pid", "tid", "ts")}
    return [
        {**end, "id": number, **place, "cat": _FLOW, "name": _FLOW}
        for number in event.flows or [event.flow_id]
    ]


def _label(kind: str, pid, tid: int, key: str, value) -> dict:
    row = {"ph": "M", "name": kind, "pid": pid, "tid": tid}
    return {**row, "args": {key: value}}


def _device_labels(lanes: set[tuple[int, int]]) -> list[dict]:
    rows = []
    for device in sorted({device for device, _ in lanes}):
        name, place = f"GPU {device}", _FIRST_DEVICE + device
        rows += [
            _label("process_name", device, 0, "name", name),
            _label("process_labels", device, 0, "labels", name),
            _label("process_sort_index", device, 0, "sort_index", place),
        ]
    for device, lane in sorted(lanes):
        rows += [
            _label("thread_name", device, lane, "name", f"stream {lane}"),
            _label("thread_sort_index", device, lane, "sort_index", lane),
        ]
    return rows


def _trace(events: list) -> dict:
    process = os.getpid()
    rows: list[dict] = []
    queues: dict[int, int] = {}
    lanes = {
        (event.device_index, event.device_resource_id)
        for event in events
        if event.kind == "device"
    }
    beside: int | str = _STREAMS_BESIDE_DEVICES if lanes else _STREAMS
    for event in events:
        if event.kind == "memory":
            continue  # its record has a row
        if event.kind == "device":
            row = _device_row(event)
        else:
            row = _row(event, process, bool(lanes))
        rows.append(row)
        if event.flow_id is not None:
            rows += _flows(event, row)
        elif event.stream:
            number = queues.setdefault(event.stream, len(queues) + 1)
            rows.append({**row, "pid": beside, "tid": number})

    records = getattr(events, "memory", None) or ()
    rows += [_memory_row(record, process) for record in records]
    rows.append(_label("process_name", process, 0, "name", "threads"))
    if queues:
        rows.append(_label("process_name", beside, 0, "name", "streams"))
    for number in queues.values():
        text = f"stream {number}"
        rows.append(_label("thread_name", beside, number, "name", text))
    rows += _device_labels(lanes)
    return {"traceEvents": rows, "displayTimeUnit": "ns"}
