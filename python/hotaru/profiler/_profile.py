"""Starting and stopping the profiler, and the steps of a schedule."""

from __future__ import annotations

import enum
import json
import os
import socket
import time
import uuid
import warnings
from collections.abc import Callable

from .. import _C
from . import _ranges, _session
from ._activities import ProfilerActivity, check_activities, device_among, usable_device
from ._collect import events_of
from ._config import asked_for
from ._events import EventList, FunctionEvent
from ._memory import known
from ._operators import Operators
from ._records import MemoryRecord
from ._steps import KinetoStepTracker
from ._trace import write_trace

# Whose the profiler's steps are.
_STEPS = "ProfilerStep"


class ProfilerAction(enum.Enum):
    """Action that a schedule wants in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    # A device ended its recording by itself: none that is recorded here does.
    DEVICE_STOPPED = 4


def _default_schedule_fn(_: int) -> ProfilerAction:
    """The schedule of a profile that was given none: it records each step."""
    return ProfilerAction.RECORD


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Steps to skip, warm up and record in turn; ``repeat`` 0: for ever.

    ``skip_first`` steps come before all, and ``skip_first_wait`` other than 0
    leaves out the first ``wait``.
    """
    if min(wait, warmup, active - 1, repeat, skip_first) < 0:
        raise ValueError(
            "schedule: wait, warmup, repeat and skip_first must not be "
            "negative, active must be positive"
        )

    def action(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        period = wait + warmup + active
        if repeat > 0 and step >= repeat * period:
            return ProfilerAction.NONE
        at = step % period
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        last = at == period - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


class profile:  # noqa: N801
    """Records kernel calls, operators and ranges for a ``with`` block.

    Kernel calls are those of the whole process. Operators are those that Python
    calls in the thread that begins the profile, "aten::add" as in PyTorch,
    with those that PyTorch's call inside of them; one of these has all of the
    time but instants, as they are mostly one kernel here. With CUDA, where
    NVIDIA's CUPTI is found, each kernel, copy and fill is an event of the
    device, with the host's clock. Without it, each kernel call that goes to a
    device lies between two timed events on its stream, and is one event of the
    device; where that had nothing to do, its time has the host's part of the
    launch.

    Args:
        activities: what is recorded; the CPU, and CUDA if it is used, where
            nothing is named. What is not there is a warning at the start.
        schedule: what to do in which step, see ``schedule``; None records all.
        on_trace_ready: called with this object when a recording is complete.
        record_shapes: keep the shapes of operands, and the inputs that an
            operator's schema has.
        with_flops: count the operations of products, convolutions, additions
            and multiplications; inputs are recorded then.
        profile_memory: tell events of the memory of tensors that is taken and
            given back meanwhile in their thread; what no event has is an
            event "[memory]". What was there before the profile is not told.
        with_modules: a warning, as nothing of that is recorded.
        with_stack: keep the callers of operators and ranges.
        acc_events: keep the events of all recordings, not of the last alone.
        custom_trace_id_callback: gives the `trace_id` of each recording; a
            random one without it.
        use_cuda: the older way to ask for `ProfilerActivity.CUDA`, or not to.
        experimental_config: options of PyTorch's library of events; all but
            `verbose`, which is so, are a warning.
        execution_trace_observer: a warning, as there is nothing that it could
            change.
        post_processing_timeout_s: without effect, as events are complete when
            they are recorded.

    One profiler runs at a time: a second one takes over, and the first has
    nothing then, which is a warning at its end. Queued streams are
    synchronised at the end, so that their calls are in, and so are the streams
    of CUDA that were timed.
    """

    def __init__(
        self,
        *,
        activities=None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], object] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config=None,
        execution_trace_observer=None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        _warn_of_missing(
            **dict.fromkeys(asked_for(experimental_config), True),
            execution_trace_observer=execution_trace_observer is not None,
            with_modules=with_modules,
        )
        # None: what there is.
        self.activities = None if activities is None else set(activities)
        if self.activities is not None and not any(
            isinstance(a, ProfilerActivity) for a in self.activities
        ):
            raise AssertionError("No valid profiler activities found")
        if use_cuda is not None:
            self._choose_cuda(use_cuda)
        self.use_device: str | None = None
        self._cpu, self._devices = True, False
        self._schedule = schedule
        self._on_trace_ready = on_trace_ready
        self._record_shapes = record_shapes
        self._with_stack = with_stack
        self._with_flops = with_flops
        self._with_memory = profile_memory
        self._keep_events = acc_events
        self._operators: Operators | None = None
        self._recording = False
        # Set once a schedule is past waiting, or the recording has begun.
        self._prepared = False
        self._step_start = 0
        self._events = EventList()
        self._metadata: dict[str, object] = {}
        self._trace_id_of = custom_trace_id_callback
        self._trace_id: str | None = None
        # Events of this recording, as far as it was read.
        self._held: list[FunctionEvent] = []
        self._held_memory: list[MemoryRecord] = []
        self._origin = 0
        self._interrupted = False
        # Count of what devices did and was not recorded.
        self._lost = 0
        # Set while devices are timed.
        self._timed = False
        self.step_num = 0

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error) -> None:
        self.stop()

    def start(self) -> None:
        """Begins; with a schedule, at its first step.

        AssertionError: nothing of what was asked for is there.
        """
        self._choose_devices()
        KinetoStepTracker.init_step_count(_STEPS)
        self._recording = False  # begun again, it begins from nothing
        self._apply()

    def stop(self) -> None:
        """Ends the recording, if one runs.

        AssertionError: none was begun.
        """
        if self._schedule is None:
            self._check_prepared("stopping trace")
        KinetoStepTracker.erase_step_count(_STEPS)
        if self._recording:
            self._note_step()
            self._finish()

    def step(self) -> None:
        """The next step of the schedule begins."""
        if self._recording:
            self._note_step()
            if (
                self._schedule is not None
                and self._schedule(self.step_num) is ProfilerAction.RECORD_AND_SAVE
            ):
                self._finish()
        self.step_num += 1
        KinetoStepTracker.increment_step(_STEPS)
        self._apply()

    def toggle_collection_dynamic(self, enable: bool, activities) -> None:
        """Interrupts the recording, or goes on with it.

        Args:
            activities: of which kind: with the CPU all is meant, with CUDA
                alone the times of devices; others are ignored.
        """
        if not self._recording:
            return
        if ProfilerActivity.CUDA in activities:
            self._timed = enable and self._devices
            _C._profile_devices(self._timed)
        if ProfilerActivity.CPU not in activities:
            return
        if enable and self._interrupted:
            self._begin()
        elif not enable and not self._interrupted:
            self._end()
        self._interrupted = not enable

    def get_trace_id(self) -> str | None:
        """Name of the last recording; None before the first."""
        return self._trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str] | None) -> None:
        """From the next recording on, `callback` gives `trace_id`."""
        self._trace_id_of = callback

    def events(self) -> EventList:
        """The calls and ranges of the last recording, by start.

        AssertionError, here and where events are written: none was begun.
        """
        self._check_prepared("accessing events")
        return self._events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> EventList:
        """The events merged by name; ``.table()`` prints them."""
        self._check_prepared("getting key averages")
        return self._events.key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def add_metadata(self, key: str, value: str) -> None:
        """Writes a text beside the events of traces."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """The same of a value as JSON."""
        self._metadata[key] = json.loads(value)

    def export_chrome_trace(self, path) -> None:
        """Writes a trace that ui.perfetto.dev and chrome://tracing open.

        Calls lie in the row of their thread, and those of queued streams a
        second time in the row of their stream. Each device has the rows of its
        streams, with arrows from the calls that launched what is there.
        """
        self._check_prepared("exporting chrome trace")
        more = {"trace_id": self._trace_id, **self._metadata}
        if self._lost:
            more["lost_device_records"] = self._lost
        write_trace(self._events, path, more)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes callers and times, see `EventList.export_stacks`.

        AssertionError: without `with_stack`.
        """
        self._check_prepared("exporting stacks")
        if not self._with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._events.export_stacks(path, metric)

    def _check_prepared(self, what: str) -> None:
        if not self._prepared:
            raise AssertionError(f"Profiler must be initialized before {what}")

    def _apply(self) -> None:
        action = ProfilerAction.RECORD
        if self._schedule is not None:
            action = self._schedule(self.step_num)
        self._prepared |= action is not ProfilerAction.NONE
        wanted = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if wanted and not self._recording:
            self._trace_id = (self._trace_id_of or _random_id)()
            self._held, self._held_memory = [], []
            self._interrupted, self._lost = False, 0
            self._timed = self._devices
            if not (self._keep_events and self._events):
                self._origin = time.perf_counter_ns()
            self._begin()
        self._step_start = time.perf_counter_ns()

    def _note_step(self) -> None:
        if self._schedule is not None:
            name = f"ProfilerStep#{self.step_num}"
            _ranges.note("range", name, self._step_start)

    def _choose_cuda(self, wanted: bool) -> None:
        warnings.warn(
            "`use_cuda` is deprecated, use `activities` argument instead",
            FutureWarning,
            stacklevel=3,
        )
        chosen = self.activities or {ProfilerActivity.CPU}
        cuda = {ProfilerActivity.CUDA}
        self.activities = chosen | cuda if wanted else chosen - cuda

    def _choose_devices(self) -> None:
        """Looks what there is of what was asked for."""
        if self.activities is None:  # nothing is opened to find that out
            self._devices = True
            return
        self._cpu = ProfilerActivity.CPU in self.activities
        self.use_device = usable_device(device_among(self.activities), 4)
        self._devices = self.use_device is not None
        check_activities(self._cpu or self._devices)

    def _begin(self) -> None:
        self._operators = _session.begin(
            shapes=self._record_shapes or self._with_flops,
            stacks=self._with_stack,
            flops=self._with_flops,
            memory=self._with_memory,
            devices=self._timed,
            cpu=self._cpu,
            origin=self._origin,
        )
        self._recording = True

    def _end(self) -> None:
        """Adds what was recorded since `_begin`."""
        self._operators.leave()  # also if another thread has ended it
        found = _session.end()
        if found is None:
            warnings.warn(
                "the profile holds nothing: another one began inside of it, "
                "or ended it",
                stacklevel=5,
            )
            return
        memory = known(found.memory, found.origin)
        self._held += events_of(found, memory, self.use_device, self._cpu)
        self._held_memory += memory
        self._lost += found.lost
        _warn_of_devices(found.lost, found.complaint)
        if found.error is not None:
            raise found.error

    def _finish(self) -> None:
        try:
            if not self._interrupted:
                self._end()
        finally:
            self._recording = False
            kept = self._events if self._keep_events else EventList()
            self._events = EventList([*kept, *self._held])
            if self._with_memory:
                self._events.memory = [*(kept.memory or ()), *self._held_memory]
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)


def _warn_of_missing(**options: bool) -> None:
    for name, wanted in options.items():
        if wanted:
            warnings.warn(
                f"{name}=True: the profiler records times alone; there are no "
                "columns of that",
                stacklevel=3,
            )


def _warn_of_devices(lost: int, complaint: str) -> None:
    """Warns of what a profile lacks of what devices did."""
    if lost:
        warnings.warn(
            f"the profile lacks {lost} records of what devices did: there was "
            "no memory left for them (HOTARU_CUPTI_BUFFER_MB in the "
            "environment says how many mebibytes there are, 128 without it), "
            "or a device never did it",
            stacklevel=6,
        )
    if complaint:
        warnings.warn(
            "the profile has the times of calls, not of kernels, as CUPTI is "
            f"of no use here: {complaint}. HOTARU_CUPTI=0 in the environment "
            "chooses that without this warning",
            stacklevel=6,
        )


def _random_id() -> str:
    return uuid.uuid4().hex.upper()


def tensorboard_trace_handler(
    dir_name: str,
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[profile], None]:
    """Makes an `on_trace_ready` that writes each trace to a file of its own.

    Args:
        dir_name: the folder, made where there is none.
        worker_name: its name begins so; the machine's and process's if None.
        use_gzip: not supported.
        use_python_export: either way it is Python that writes it.

    Raises:
        ValueError: `use_gzip`.
        RuntimeError: the folder cannot be made.
    """
    if use_gzip:
        raise ValueError("tensorboard_trace_handler: use_gzip is not supported")
    worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"

    def write(prof: profile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        name = f"{worker}.{time.time_ns()}.pt.trace.json"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return write
