"""Events and statistics that a program gives out while it runs.

    handle = monitor.register_event_handler(print_or_store)
    steps = monitor.Stat("steps", (monitor.Aggregation.COUNT,), minute)
    steps.add(1)        # an event, once a minute, says how many there were

All functions and objects may be used from any thread.
"""

from __future__ import annotations

import enum
import math
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

__all__ = [
    "COUNT",
    "MAX",
    "MEAN",
    "MIN",
    "STAT_EVENT",
    "SUM",
    "VALUE",
    "Aggregation",
    "Event",
    "EventHandlerHandle",
    "Stat",
    "TensorboardEventHandler",
    "data_value_t",
    "log_event",
    "register_event_handler",
    "unregister_event_handler",
]

#: The name of the events of a `Stat`.
STAT_EVENT = "torch.monitor.Stat"

data_value_t = str | float | int | bool


class Aggregation(enum.Enum):
    """What a `Stat` says of the values of a window."""

    VALUE = 0  # the last one
    MEAN = 2
    COUNT = 3
    SUM = 4
    MAX = 5
    MIN = 6

    def __repr__(self) -> str:
        return f"<Aggregation.{self.name}: {self.value}>"


# The module has them, too.
VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation


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

    def __init__(
        self,
        name: str,
        timestamp: datetime,
        data: Mapping[str, data_value_t],
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


def register_event_handler(
    callback: Callable[[Event], object],
) -> EventHandlerHandle:
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


class Stat:
    """Values that come over time, and an event for each window of it.

    A window ends when the first value of the next one is added, or with the
    object. Times are the clock's, in multiples of the window's size.

    Args:
        name: of the statistic; the event's data are named "name.sum" and so on.
        aggregations: what is said of the values.
        window_size: how long a window is.
        max_samples: after so many values the event is there at once, and what
            comes within the same window is left out.
    """

    def __init__(
        self,
        name: str,
        aggregations,
        window_size: timedelta,
        max_samples: int | None = None,
    ) -> None:
        self.name = name
        self._aggregations = tuple(aggregations)
        self._size = max(window_size.total_seconds(), 1e-6)
        self._most = math.inf if max_samples is None else max_samples
        self._lock = threading.RLock()
        self._last: dict[Aggregation, float] = dict.fromkeys(
            self._aggregations, 0.0
        )
        self._values: list[float] = []
        self._window = self._now()
        self._full = False

    @property
    def count(self) -> int:
        """How many values there are since the last event."""
        return len(self._values)

    def add(self, v: float) -> None:
        """Adds a value.

        TypeError: it is no number. Whatever a handler of events raises.
        """
        value = float(v) if not isinstance(v, str) else _no_number(v)
        with self._lock:
            now = self._now()
            if now != self._window:
                event = self._closed()
                self._window, self._full = now, False
            else:
                event = None
            if not self._full:
                self._values.append(value)
            if len(self._values) >= self._most:
                event = self._closed()
                self._full = True
        if event is not None:
            log_event(event)

    def get(self) -> dict[Aggregation, float]:
        """What the last event said; zeros before the first."""
        with self._lock:
            return dict(self._last)

    def __del__(self) -> None:
        event = self._closed() if hasattr(self, "_full") else None
        if event is not None:
            log_event(event)

    def _now(self) -> int:
        return int(time.monotonic() // self._size)

    def _closed(self) -> Event | None:
        """The event of a window that ends; None if it has no values."""
        if not self._values:
            return None
        values, self._values = self._values, []
        self._last = {a: _aggregated(a, values) for a in self._aggregations}
        data = {
            f"{self.name}.{a.name.lower()}": v for a, v in self._last.items()
        }
        return Event(STAT_EVENT, datetime.now(), data)


def _no_number(value) -> float:
    raise TypeError(
        "add(): incompatible function arguments: expected a number, got "
        f"{type(value)}"
    )


def _aggregated(which: Aggregation, values: list[float]) -> float:
    if which is Aggregation.MEAN:
        return math.fsum(values) / len(values)
    if which is Aggregation.COUNT:
        return float(len(values))
    if which is Aggregation.SUM:
        return math.fsum(values)
    if which is Aggregation.MAX:
        return max(values)
    return min(values) if which is Aggregation.MIN else values[-1]


class TensorboardEventHandler:
    """Writes the statistics of `Stat` into a log of TensorBoard.

    Args:
        writer: with `add_scalar(name, value, walltime=seconds)`.
    """

    def __init__(self, writer) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        """Other events are left out."""
        if event.name == STAT_EVENT:
            when = event.timestamp.timestamp()
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=when)


class _WaitCounter:
    """Marks where a program waits.

    As in PyTorch, times go to collectors of the process's native code. There
    are none of them, so they are taken and not kept.
    """

    def __init__(self, key: str) -> None:
        self.key = key

    def guard(self) -> _WaitCounterTracker:
        """A context that is open for as long as the program waits."""
        return _WaitCounterTracker()


class _WaitCounterTracker:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *error) -> None:
        return None
