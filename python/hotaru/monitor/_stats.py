"""Statistics of values that come over time."""

from __future__ import annotations

import enum
import math
import threading
import time
from datetime import datetime, timedelta

from ._events import Event, log_event

#: The name of the events of a `Stat`.
STAT_EVENT = "torch.monitor.Stat"


class Aggregation(enum.Enum):
    """Statistics that a `Stat` gives of the values of a window."""

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
        self._last: dict[Aggregation, float] = dict.fromkeys(self._aggregations, 0.0)
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
        """Returns the values of the last event; zeros before the first."""
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
        data = {f"{self.name}.{a.name.lower()}": v for a, v in self._last.items()}
        return Event(STAT_EVENT, datetime.now(), data)


def _no_number(value) -> float:
    raise TypeError(
        f"add(): incompatible function arguments: expected a number, got {type(value)}"
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
