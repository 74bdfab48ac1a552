"""Profiles under the names that `torch.autograd.profiler` gives them.

What is recorded are kernels and named ranges, see `hotaru.profiler`.
"""

from __future__ import annotations

import warnings

from .. import profiler as _profiler
from .._own_names import no_attribute
from ..profiler import (
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    ProfilerActivity,
    _ranges,
    kineto_available,
    record_function,
)
from ..profiler._activities import check_activities, usable_device
from ..profiler._profile import _random_id
from ..profiler._records import EnforceUnique, MemRecordsAcc
from ..profiler._steps import KinetoStepTracker

__all__ = [
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "KinetoStepTracker",
    "MemRecordsAcc",
    "emit_itt",
    "emit_nvtx",
    "kineto_available",
    "profile",
    "record_function",
]


def _profiler_enabled() -> bool:
    """True if a profile runs."""
    return _ranges.recording.events is not None


TYPE_CHECKING = False
if TYPE_CHECKING:
    _is_profiler_enabled: bool
else:

    def __getattr__(name: str):
        if name == "_is_profiler_enabled":
            return _profiler_enabled()
        raise no_attribute(__name__, name)


def _record_function_with_args_enter(name: str, *args) -> _ranges.Handle:
    """Opens a range whose inputs are `args`."""
    return _ranges.Handle(name, args)


def _record_function_with_args_exit(handle: _ranges.Handle) -> None:
    """Ends it."""
    handle.close()


class _Emitter:
    """Marks operators for another program's profile: none is marked here.

    Raises:
        RuntimeError: on entering it enabled; `profile` is there instead.
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes

    def __enter__(self):
        if self.enabled:
            raise RuntimeError(
                f"torch.autograd.profiler.{type(self).__name__}: hotaru marks "
                "no operators for other profilers; use torch.profiler.profile"
            )
        return None

    def __exit__(self, *error) -> bool:
        return False


class emit_nvtx(_Emitter):  # noqa: N801
    __doc__ = _Emitter.__doc__


class emit_itt(_Emitter):  # noqa: N801
    __doc__ = _Emitter.__doc__


class profile:  # noqa: N801
    """Records kernel calls, operators and ranges for a ``with`` block.

    Args:
        enabled: False makes the block record nothing.
        record_shapes: keep the shapes of operands and inputs.
        with_stack: keep the callers of operators and ranges.
        with_flops: count operations of some operators, see there.
        profile_memory: tell events of the memory that they take and give back.
        with_modules: a warning, as nothing of that is recorded.
        use_device: "cuda" records the times of its devices, too; what is not
            there is a warning.
        use_cuda: the older way to say so.
        use_cpu: False leaves out all but the devices' events.
        use_kineto: without effect.
        experimental_config, acc_events, custom_trace_id_callback,
        post_processing_timeout_s: as in `hotaru.profiler.profile`.
        activity_filters: a warning, as all calls are recorded.

    Raises:
        RuntimeError: from the results' methods, before the block has ended.
        AssertionError: there is nothing to record.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = True,
        use_cpu: bool = True,
        use_cuda: bool = False,
        experimental_config=None,
        acc_events: bool = False,
        custom_trace_id_callback=None,
        post_processing_timeout_s: float | None = None,
        activity_filters: dict | None = None,
    ) -> None:
        if activity_filters:
            warnings.warn(
                "activity_filters: the profiler records all calls of the CPU",
                stacklevel=2,
            )
        self.enabled = enabled
        self.record_shapes = record_shapes
        self.use_cuda, self.use_device = use_cuda, use_device
        if enabled:
            self._choose_device()
        activities = {ProfilerActivity.CPU} if use_cpu else set()
        if self.use_device == "cuda":
            activities.add(ProfilerActivity.CUDA)
        check_activities(activities)
        self._profile = _profiler.profile(
            activities=activities,
            record_shapes=record_shapes,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
            experimental_config=experimental_config,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
        )
        self.custom_trace_id_callback = custom_trace_id_callback
        self._ended = False

    def _choose_device(self) -> None:
        if self.use_cuda:
            warnings.warn(
                "The attribute `use_cuda` will be deprecated soon, "
                "please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
                stacklevel=3,
            )
            self.use_device = "cuda"
        self.use_device = usable_device(self.use_device, 3)
        self.use_cuda = self.use_cuda and self.use_device == "cuda"

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

    def default_trace_id(self) -> str:
        """A new random name of a recording."""
        return _random_id()

    def create_trace_id(self) -> str:
        """A new name: what `custom_trace_id_callback` gives, if any."""
        return (self.custom_trace_id_callback or self.default_trace_id)()

    @property
    def trace_id(self) -> str:
        """Name of the recording; empty before it began."""
        return self._profile.get_trace_id() or ""

    def toggle_collection_dynamic(self, enabled: bool, activities) -> None:
        """Interrupts the recording, or goes on with it.

        `activities` are those of which `ProfilerActivity.CPU` counts.
        """
        self._profile.toggle_collection_dynamic(enabled, activities)

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> EventList:
        """The sums by name, and by shapes and callers if asked for."""
        return self.function_events.key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        return self.function_events.total_average()

    def table(self, *args, **kwargs) -> str:
        """The events as a table, see `EventList.table`."""
        return self.function_events.table(*args, **kwargs)

    def export_chrome_trace(
        self, path, metadata: dict | None = None, use_python_export=False
    ) -> None:
        """Writes a trace that ui.perfetto.dev and chrome://tracing open.

        Args:
            metadata: texts that stand beside the events.
            use_python_export: either way it is Python that writes it.
        """
        for key, value in (metadata or {}).items():
            self._profile.add_metadata(key, value)
        self._profile.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes callers and times, see `EventList.export_stacks`."""
        self.function_events.export_stacks(path, metric)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all calls, without those within them."""
        return sum(event.self_cpu_time_total for event in self.function_events)

    def __str__(self) -> str:
        return self.table() if self._ended else "<unfinished profile>"
