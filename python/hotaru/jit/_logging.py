"""Counters that programs add numbers to: `torch.jit._logging`.

Compiled code calls `add_stat_value` and `time_point`, too; a trace does not
record them.
"""

from __future__ import annotations

import enum
import threading
import time

from ._marks import ignore

__all__ = [
    "AggregationType",
    "LockingLogger",
    "LoggerBase",
    "NoopLogger",
    "add_stat_value",
    "set_logger",
    "time_point",
]


class AggregationType(enum.Enum):
    """Ways in which a counter adds numbers up: their sum or their mean."""

    SUM = 0
    AVG = 1


class LoggerBase:
    """Whoever gets what programs count."""

    __module__ = "torch._C"

    def _add(self, name: str, value: int) -> None:
        raise NotImplementedError


class NoopLogger(LoggerBase):
    """Drops what it gets: the logger until another one is set."""

    __module__ = "torch._C"

    def _add(self, name: str, value: int) -> None:
        pass


class LockingLogger(LoggerBase):
    """Counters by name, which any number of threads may add to."""

    __module__ = "torch._C"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, tuple[int, int]] = {}  # sum, how many
        self._kinds: dict[str, AggregationType] = {}

    def _add(self, name: str, value: int) -> None:
        with self._lock:
            total, count = self._counters.get(name, (0, 0))
            self._counters[name] = total + value, count + 1

    def get_counter_val(self, name: str) -> int:
        """The counter's sum, or its mean, rounded towards zero; 0: there is none."""
        with self._lock:
            total, count = self._counters.get(name, (0, 0))
            if not count or self._kinds.get(name) is not AggregationType.AVG:
                return total
            return abs(total) // count * (1 if total >= 0 else -1)

    def set_aggregation_type(self, name: str, type: AggregationType) -> None:
        """Says whether a counter gives its sum or its mean."""
        with self._lock:
            self._kinds[name] = AggregationType(type)


_CURRENT: list[LoggerBase] = [NoopLogger()]


def set_logger(logger: LoggerBase) -> LoggerBase:
    """Sets who gets the numbers, in all threads; gives who got them before."""
    if not isinstance(logger, LoggerBase):
        raise TypeError(f"set_logger: expected a logger, got {logger!r}")
    before, _CURRENT[0] = _CURRENT[0], logger
    return before


@ignore
def add_stat_value(name: str, val: int) -> None:
    """Adds a number to the counter of that name."""
    _CURRENT[0]._add(name, val)


@ignore
def time_point() -> int:
    """Nanoseconds of a clock that never goes back."""
    return time.perf_counter_ns()
