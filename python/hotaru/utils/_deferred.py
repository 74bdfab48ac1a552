"""Calls that a captured function leaves for after each of its replays.

Schedules count in Python: within a capture their step is put off, and happens
once the graph has run, in the order of the calls.
"""

from __future__ import annotations

import functools
import threading

_LATE = (
    "operation not permitted when stream is capturing: a step of an optimizer "
    "behind one of its schedule"
)

_local = threading.local()


class Deferring:
    """A context in which this thread's calls of such methods are put off."""

    def __init__(self) -> None:
        #: The calls, as functions without arguments.
        self.calls: list = []
        #: Optimizers whose options they change.
        self.optimizers: list = []

    def __enter__(self) -> Deferring:
        self._outer = getattr(_local, "now", None)
        _local.now = self
        return self

    def __exit__(self, *error) -> None:
        _local.now = self._outer


def deferring() -> Deferring | None:
    """Returns what puts calls off in this thread now, if anything does."""
    return getattr(_local, "now", None)


def check_order(optimizer) -> None:
    """RuntimeError where a step of the optimizer's schedule was put off."""
    queue = deferring()
    if queue is not None and any(o is optimizer for o in queue.optimizers):
        raise RuntimeError(_LATE)


def deferrable(step):
    """The method `step` of a schedule, which may be put off.

    RuntimeError where it is given what the graph has yet to compute.
    """

    @functools.wraps(step)
    def run(self, *args, **kwargs):
        queue = deferring()
        if queue is None:
            return step(self, *args, **kwargs)
        if args or kwargs:
            raise RuntimeError(
                "operation not permitted when stream is capturing: "
                f"{type(self).__name__}.step() with arguments; call it behind "
                "the captured function"
            )
        queue.calls.append(functools.partial(run, self))
        queue.optimizers.append(self.optimizer)
        return None

    return run
