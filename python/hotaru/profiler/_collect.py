"""From what the door recorded to events, those of devices among them."""

from __future__ import annotations

from ._device_type import DeviceType
from ._events import EventList, FunctionEvent, new_id
from ._memory import share
from ._records import MemoryRecord
from ._session import Found

# The turn of a backward node begins with this.
_TURN = "autograd::engine::evaluate_function: "
# Number of a node that comes as soon as it can: a leaf's.
_AT_ONCE = 2**64 - 1
# Scope of what is computed backward, in PyTorch's numbers.
_BACKWARD = 1
# Name of flows of events from the host to the device.
_TO_DEVICE = 2


def events_of(
    found: Found, memory: list[MemoryRecord], device: str | None, cpu: bool
) -> EventList:
    """The events of a recording, by start.

    Args:
        memory: what of it is of blocks whose begin is known.
        device: of which kind the devices are; None: what there is of them.
        cpu: keep the host's events, too.
    """
    origin = found.origin
    events, launched = EventList(found.noted), []
    events += [_of_node(origin, *node) for node in found.nodes]
    for name, stream, thread, start, duration, shapes, works in found.calls:
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
    if memory:
        events += share(events, memory)
        events.sort(key=_by_start)
    if not cpu:
        events.clear()
    if launched or found.others:
        events += [work for _, work in launched]
        events += [_of_device(origin, None, *work) for work in found.others]
        events.sort(key=_by_start)
        device = "cuda"
    for event in events:
        event.use_device = device
        event.flops = event.flops or 0
    return events


def _by_start(event: FunctionEvent) -> tuple[float, float]:
    return event.start, -event.duration


def _of_node(
    origin: int,
    name: str,
    turn: bool,
    sequence: int,
    thread: int,
    start: int,
    duration: int,
) -> FunctionEvent:
    return FunctionEvent(
        new_id(),
        _TURN + name if turn else name,
        thread,
        (start - origin) / 1e3,
        (start - origin + duration) / 1e3,
        kind="node",
        sequence_nr=-1 if sequence == _AT_ONCE else sequence,
        scope=0 if turn else _BACKWARD,
    )


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
    """Tells the innermost operator or node of its kernel.

    A call that none of them made has it itself. What the same launch
    had done has one number: CUPTI's, or one of ours.
    """
    owner: FunctionEvent | None = call
    while owner is not None and owner.kind not in ("operator", "node"):
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
