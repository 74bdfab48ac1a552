"""Profiles under the names that `torch.autograd.profiler` gives them.

What is recorded are kernels and named ranges, see `hotaru.profiler`.
"""

from __future__ import annotations

from .. import profiler as _profiler
from ..profiler import EventList, FunctionEventAvg, record_function

__all__ = ["kineto_available", "profile", "record_function"]


def kineto_available() -> bool:
    """False: what is recorded does not come from that library."""
    return False


class profile:  # noqa: N801
    """Records every kernel call of the process for a ``with`` block.

    Args:
        enabled: False makes the block record nothing.
        record_shapes: keep the shapes of the operands.
        use_cpu, use_kineto, use_device: without effect; the CPU's calls are
            recorded, and those that launch kernels of a device.

    Raises:
        RuntimeError: from the results' methods, before the block has ended;
            from the block, while another profile runs.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_device: str | None = None,
        record_shapes: bool = False,
        use_kineto: bool = True,
        use_cpu: bool = True,
    ) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes
        self._profile = _profiler.profile(record_shapes=record_shapes)
        self._ended = False

    def __enter__(self) -> profile:
        if self._ended:
            raise RuntimeError("Profiler context manager is not reentrant")
        if self.enabled:
            self._profile.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.enabled:
            self._profile.stop()
        self._ended = True

    @property
    def function_events(self) -> EventList:
        """The calls and ranges, by start."""
        if not self._ended:
            raise RuntimeError("Profiler didn't finish running")
        return self._profile.events()

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """The events merged by name, and by input shapes if asked for."""
        return self.function_events.key_averages(group_by_input_shape)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        return self.function_events.total_average()

    def table(self, *args, **kwargs) -> str:
        """The events as a table, see `EventList.table`."""
        return self.function_events.table(*args, **kwargs)

    def export_chrome_trace(self, path) -> None:
        """Writes a trace that ui.perfetto.dev and chrome://tracing open."""
        self._profile.export_chrome_trace(path)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all calls, without those within them."""
        return sum(event.self_cpu_time_total for event in self.function_events)

    def __str__(self) -> str:
        return self.table() if self._ended else "<unfinished profile>"
