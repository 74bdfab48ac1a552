"""Events, and who is told of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import datetime

data_value_t = str | float | int | bool


class Event:
    """Something that happened.

    Args:
        name: of its kind.
        timestamp: when.
        data: texts and numbers by name.

    Raises:
        TypeError: arguments of other types.
    """

    __slots__ = ("data", "name", "timestamp")
    name: str
    timestamp: datetime
    data: Mapping[str, data_value_t]

    def __init__(
        self, name: str, timestamp: datetime, data: Mapping[str, data_value_t]
    ) -> None:
        if not (
            isinstance(name, str)
            and isinstance(timestamp, datetime)
            and isinstance(data, Mapping)
            and all(isinstance(key, str) for key in data)
            and all(isinstance(v, (str, float, int)) for v in data.values())
        ):
            raise TypeError(
                "__init__(): incompatible constructor arguments: an Event has "
                "a name (str), a timestamp (datetime) and data (a mapping of "
                "str to str, float, int or bool)"
            )
        self.name = name
        self.timestamp = timestamp
        self.data = dict(data)


class EventHandlerHandle:
    """Stands for a registration, to end it."""

    __slots__ = ("_handler",)

    def __init__(self, handler: Callable[[Event], object]) -> None:
        self._handler = handler


_lock = threading.Lock()
_handles: list[EventHandlerHandle] = []


def register_event_handler(callback: Callable[[Event], object]) -> EventHandlerHandle:
    """Calls `callback` with every event from now on, in the thread it is from.

    What it raises, `log_event` raises.
    """
    handle = EventHandlerHandle(callback)
    with _lock:
        _handles.append(handle)
    return handle


def unregister_event_handler(handler: EventHandlerHandle) -> None:
    """Ends a registration; one that has ended stays so."""
    with _lock:
        _handles[:] = [h for h in _handles if h is not handler]


def log_event(event: Event) -> None:
    """Hands an event to all handlers, in order of their registration.

    TypeError: it is none.
    """
    if not isinstance(event, Event):
        raise TypeError(
            "log_event(): incompatible function arguments: expected an Event, "
            f"got {type(event)}"
        )
    with _lock:
        handles = list(_handles)
    for handle in handles:
        handle._handler(event)
