"""From what the door recorded to events, those of devices among them."""

from __future__ import annotations

from ._device_type import DeviceType
from ._events import EventList, FunctionEvent, new_id

# Name of flows of events from the host to the device.
_TO_DEVICE = 2


def events_of(
    calls: list,
    others: list,
    noted: list[FunctionEvent],
    origin: int,
    device: str | None,
    cpu: bool,
) -> EventList:
    """The events of a recording, by start.

    Args:
        calls, others: what `_C._stop_profiling` gives.
        noted: operators and ranges, of times since `origin`.
        origin: when times are 0, in nanoseconds of the clock of `calls`.
        device: of which kind the devices are; None: what there is of them.
        cpu: keep the host's events, too.
    """
    events, launched = EventList(noted), []
    for name, stream, thread, start, duration, shapes, works in calls:
        collective = name.startswith("c10d::")
        if collective:
            name, shapes = _as_pytorch(name, shapes)
        call = FunctionEvent(
            new_id(),
            name,
            thread,
            (start - origin) / 1e3,
            (start - origin + duration) / 1e3,
            stream=stream,
            input_shapes=[list(shape) for shape in shapes],
            is_async=collective,
        )
        events.append(call)
        launched += [(call, _of_device(origin, call, *work)) for work in works]
    events.sort(key=_by_start)
    events._populate_cpu_children()
    for call, work in launched:
        _link(call, work)
    if not cpu:
        events.clear()
    if launched or others:
        events += [work for _, work in launched]
        events += [_of_device(origin, None, *work) for work in others]
        events.sort(key=_by_start)
        device = "cuda"
    for event in events:
        event.use_device = device
        event.flops = event.flops or 0
    return events


def _by_start(event: FunctionEvent) -> tuple[float, float]:
    return event.start, -event.duration


def _of_device(
    origin: int,
    call: FunctionEvent | None,
    name: str,
    device: int,
    lane: int,
    activity: str,
    nbytes: int,
    start: int,
    duration: int,
    launch: dict,
) -> FunctionEvent:
    meta = dict(launch) if activity == "kernel" else {"bytes": nbytes, **launch}
    return FunctionEvent(
        new_id(),
        name,
        call.thread if call else 0,
        (start - origin) / 1e3,
        (start - origin + duration) / 1e3,
        stream=call.stream if call else 0,
        kind="device",
        device_type=DeviceType.CUDA,
        device_index=device,
        device_resource_id=lane,
        activity_type=activity,
        extra_meta=meta or None,
    )


def _as_pytorch(name: str, shapes: list) -> tuple[str, list]:
    """A collective as programs look for it: by its backend, with the tensors
    that it is given.
    """
    kind = name.partition("::")[2]
    if kind in ("all_gather", "gather"):
        shapes = shapes[:1]
    return f"gloo:{kind}", shapes


def _link(call: FunctionEvent, work: FunctionEvent) -> None:
    """Tells the innermost operator of its kernel.

    A call that no operator of Python made has it itself. What the same launch
    had done has one number: CUPTI's, or one of ours.
    """
    owner: FunctionEvent | None = call
    while owner is not None and owner.kind != "operator":
        owner = owner.cpu_parent
    owner = owner or call
    owner.append_kernel(work.name, work.device_index, work.duration)
    call.activity_type = "cuda_runtime"
    number = (work.extra_meta or {}).get("correlation", work.id)
    if number not in call.flows:
        call.flows.append(number)
    work.flow_id, call.flow_id = number, call.flows[0]
    for event, starts in ((call, True), (work, False)):
        event.flow_type, event.flow_start = _TO_DEVICE, starts
        event.linked_correlation_id = event.external_id = owner.id
