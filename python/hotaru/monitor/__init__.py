"""Events and statistics that a program gives out while it runs.

    handle = monitor.register_event_handler(print_or_store)
    steps = monitor.Stat("steps", (monitor.Aggregation.COUNT,), minute)
    steps.add(1)        # an event, once a minute, says how many there were

All functions and objects may be used from any thread.
"""

from __future__ import annotations

from ._events import (
    Event,
    EventHandlerHandle,
    data_value_t,
    log_event,
    register_event_handler,
    unregister_event_handler,
)
from ._stats import COUNT, MAX, MEAN, MIN, STAT_EVENT, SUM, VALUE, Aggregation, Stat

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


# Their names are this module's.
for _thing in (
    Aggregation,
    Event,
    EventHandlerHandle,
    Stat,
    log_event,
    register_event_handler,
    unregister_event_handler,
):
    _thing.__module__ = __name__
