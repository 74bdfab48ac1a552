"""From what the door recorded to events, those of devices among them."""

from __future__ import annotations

from ._device_type import DeviceType
from ._events import EventList, FunctionEvent, new_id

# What flows of events are called: from the host to the device.
_TO_DEVICE = 2


def events_of(
    calls: list, noted: list[FunctionEvent], device: str | None, cpu: bool
) -> EventList:
    """The events of a recording, by start.

    Args:
        calls: what `_C._stop_profiling` gives.
        noted: operators and ranges.
        device: of which kind the devices are; None: what there is of them.
        cpu: keep the host's events, too.
    """
    events, launched = EventList(noted), []
    for name, stream, thread, start, duration, shapes, work in calls:
        call = FunctionEvent(
            new_id(),
            name,
            thread,
            start / 1e3,
            (start + duration) / 1e3,
            stream=stream,
            input_shapes=shapes,
        )
        events.append(call)
        if work is not None:
            launched.append((call, _of_device(call, *work)))
    events.sort(key=_by_start)
    events._populate_cpu_children()
    for call, work in launched:
        _link(call, work)
    if not cpu:
        events.clear()
    if launched:
        events += [work for _, work in launched]
        events.sort(key=_by_start)
        device = "cuda"
    for event in events:
        event.use_device = device
    return events


def _by_start(event: FunctionEvent) -> tuple[float, float]:
    return event.start, -event.duration


def _of_device(
    call: FunctionEvent,
    name: str,
    device: int,
    lane: int,
    copies: bool,
    nbytes: int,
    start: int,
    duration: int,
) -> FunctionEvent:
    return FunctionEvent(
        new_id(),
        name,
        call.thread,
        start / 1e3,
        (start + duration) / 1e3,
        stream=call.stream,
        kind="device",
        device_type=DeviceType.CUDA,
        device_index=device,
        device_resource_id=lane,
        activity_type="gpu_memcpy" if copies else "kernel",
        extra_meta={"bytes": nbytes} if copies else None,
    )


def _link(call: FunctionEvent, work: FunctionEvent) -> None:
    """Tells the innermost operator of its kernel.

    A call that no operator of Python made has it itself.
    """
    owner: FunctionEvent | None = call
    while owner is not None and owner.kind != "operator":
        owner = owner.cpu_parent
    owner = owner or call
    owner.append_kernel(work.name, work.device_index, work.duration)
    call.activity_type = "cuda_runtime"
    for event, starts in ((call, True), (work, False)):
        event.flow_id, event.flow_type = work.id, _TO_DEVICE
        event.flow_start = starts
        event.linked_correlation_id = event.external_id = owner.id
