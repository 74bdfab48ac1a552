"""Contents of a profile: calls and ranges, and their sums by name.

Times are in microseconds since the profile began to record.
"""

from __future__ import annotations

import itertools

from .._extension.new_file import new_file
from ._device_type import DeviceType
from ._records import Interval, Kernel, MemoryRecord
from ._table import by_device, table_of
from ._times import FormattedTimesMixin, deprecated

_ids = itertools.count(1)


# Details that an event may be told, with what they are where nobody says.
_DETAILS = {
    "overload_name": None,
    "fwd_thread": None,
    "scope": 0,
    "use_device": None,
    "cpu_memory_usage": 0,
    "device_memory_usage": 0,
    "is_async": False,
    "is_remote": False,
    "sequence_nr": -1,
    "device_type": DeviceType.CPU,
    "device_index": 0,
    "device_resource_id": None,
    "is_legacy": False,
    "flops": None,
    "trace_name": None,
    "is_user_annotation": False,
    "is_python_function": False,
    "activity_type": None,
    "metadata_json": None,
    "flow_id": None,
    "flow_type": None,
    "flow_start": None,
    "external_id": 0,
    "linked_correlation_id": 0,
    "extra_meta": None,
    "structured_input_shapes": None,
    "structured_input_strides": None,
    "input_dtypes": None,
    "python_id": -1,
    "python_parent_id": -1,
    "python_module_id": -1,
}


# Where they are kept that have a property of their name.
_ATTRIBUTES = {"metadata_json": "_metadata_json"}


class FunctionEvent(FormattedTimesMixin):
    """A kernel call, an operator that Python called, or a named range.

    Args:
        id: a number of its own.
        name: as "exp" of a kernel, "aten::exp" of an operator.
        thread: the system's number of the thread it ran in.
        start_us, end_us: when.
        node_id: of the process among those of a program; -1 without.
        input_shapes: of the arguments, [] of one that is no tensor.
        stack: the callers, the nearest first, as "file(line): function".
        stream: the id of the stream of a kernel call.
        kind: "kernel", "operator", "range", "node" (of a backward pass) or
            "memory", all of the host; "device".
        concrete_inputs: the arguments that are numbers, truth values or lists
            of them, None in the places of others.
        kwinputs: values given by name.
        details: what profiles of other programs know, by PyTorch's names:
            memory, devices, flows; see `_DETAILS`.

    Times on devices are those of the kernels that were appended; a kernel call
    that goes to a device is an event of the host, the launch, and one of the
    device.
    """

    # True if its times are not measured; and if its parent's are its.
    is_estimated = works = False

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        *,
        node_id: int = -1,
        input_shapes: list | None = None,
        stack: list[str] | None = None,
        stream: int = 0,
        kind: str = "kernel",
        concrete_inputs: list | None = None,
        kwinputs: dict | None = None,
        **details,
    ) -> None:
        for key, value in details.items():
            if key not in _DETAILS:
                raise TypeError(
                    f"FunctionEvent() got an unexpected keyword argument {key!r}"
                )
            setattr(self, _ATTRIBUTES.get(key, key), value)
        if self.device_resource_id is None:
            self.device_resource_id = thread
        if kind == "range":
            self.is_user_annotation = True
        self.id = id
        self.node_id = node_id
        self.name = name
        self.thread = thread
        self.time_range = Interval(start_us, end_us)
        self.input_shapes = input_shapes or []
        self.stack = stack or []
        self.stream = stream
        self.kind = kind
        self.concrete_inputs = concrete_inputs or []
        self.kwinputs = kwinputs or {}
        self.count = 1
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.kernels: list[Kernel] = []
        # Numbers of what a launch launched.
        self.flows: list[int] = []

    @property
    def key(self) -> str:
        """The name by which events are summed."""
        return self.name

    @property
    def is_range(self) -> bool:
        """True if it is a `record_function`."""
        return self.kind == "range"

    @property
    def start(self) -> float:
        """When it began."""
        return self.time_range.start

    @property
    def duration(self) -> float:
        """How long it took."""
        return self.time_range.elapsed_us()

    @property
    def cpu_time_total(self) -> float:
        """How long it took, if that was on the CPU."""
        return self.duration if self._on_cpu() else 0

    @property
    def self_cpu_time_total(self) -> float:
        """Without what ran inside of it in the same thread."""
        return self._alone("cpu_time_total")

    self_duration = self_cpu_time_total

    @property
    def device_time_total(self) -> float:
        """Time of the kernels that it and what ran inside of it launched; for
        an event of a device, its own time.
        """
        inside = sum(c.device_time_total for c in self.cpu_children)
        return self._of_device(0 if self.is_legacy else inside)

    @property
    def self_device_time_total(self) -> float:
        """Without the kernels of what ran inside of it."""
        inside = sum(c.device_time_total for c in self.cpu_children)
        return self._of_device(-inside if self.is_legacy else 0)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes, without those of what ran inside of it."""
        return self._alone("cpu_memory_usage")

    @property
    def self_device_memory_usage(self) -> int:
        """Bytes of a device, without those of what ran inside of it."""
        return self._alone("device_memory_usage")

    cuda_time_total = deprecated("cuda_time_total", "device_time_total")
    self_cuda_time_total = deprecated("self_cuda_time_total", "self_device_time_total")
    self_cuda_memory_usage = deprecated(
        "self_cuda_memory_usage", "self_device_memory_usage"
    )

    @property
    def metadata_json(self) -> str | None:
        """Details that a trace has beside it, as JSON."""
        return self._metadata_json

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Adds a kernel that it launched, of so many microseconds."""
        if not self._on_cpu():
            raise AssertionError("Expected device_type to be CPU")
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Adds what ran directly inside of it in the same thread."""
        self._check(child, "child")
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Says inside of what it ran."""
        self._check(parent, "parent")
        self.cpu_parent = parent

    def _check(self, other, role: str) -> None:
        if not isinstance(other, FunctionEvent):
            raise AssertionError(f"Expected {role} to be a FunctionEvent")
        for event, name in ((self, ""), (other, f"{role} ")):
            if not event._on_cpu():
                raise AssertionError(f"Expected {name}device_type to be CPU")

    def _on_cpu(self) -> bool:
        return self.device_type is DeviceType.CPU

    def _of_device(self, more: float) -> float:
        """The kernels' times and `more`; an event of a device has its own.

        The kernels of an event that a legacy profile made are those of what
        ran inside of it, too.
        """
        if self.is_async or not self.use_device:
            return 0
        if not self._on_cpu():
            return self.duration
        return sum(kernel.duration for kernel in self.kernels) + more

    def _alone(self, name: str):
        if self.is_async or not self._on_cpu():
            return 0
        inside = sum(getattr(child, name) for child in self.cpu_children)
        return getattr(self, name) - inside

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} "
            f"thread={self.thread} cpu_time={self.duration:.3f}us "
            f"cpu_children={[child.id for child in self.cpu_children]} "
            f"input_shapes={self.input_shapes}>"
        )


# Few events are told more than the usual.
for _key, _usual in _DETAILS.items():
    setattr(FunctionEvent, _ATTRIBUTES.get(_key, _key), _usual)


def new_id() -> int:
    """A number for an event."""
    return next(_ids)


# Numbers that a sum adds up.
_SUMS = (
    "cpu_time_total",
    "self_cpu_time_total",
    "device_time_total",
    "self_device_time_total",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "device_memory_usage",
    "self_device_memory_usage",
)


class FunctionEventAvg(FormattedTimesMixin):
    """The sum of events."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.node_id = 0
        self.input_shapes: list = []
        self.stack: list[str] = []
        self.is_user_annotation = False
        self.device_type = DeviceType.CPU
        self.use_device: str | None = None
        self.is_legacy = False
        self.flops = 0
        for name in _SUMS:
            setattr(self, name, 0)
        self.cpu_parent: FunctionEvent | None = None

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Adds an event or a sum; the first one gives the name.

        AssertionError: it has another name.
        """
        if self.key is None:
            self.key = other.key
            self.node_id = other.node_id
            self.input_shapes = other.input_shapes
            self.stack = other.stack
            self.is_user_annotation = other.is_user_annotation
            self.device_type = other.device_type
            self.use_device = other.use_device
            self.is_legacy = other.is_legacy
            self.cpu_parent = other.cpu_parent
        elif other.key != self.key:
            raise AssertionError(
                f"Expected an event of {self.key!r}, not of {other.key!r}"
            )
        self.count += other.count
        self.flops += other.flops or 0
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} count={self.count} "
            f"self_cpu_time={self.self_cpu_time_total:.3f}us "
            f"cpu_time={self.cpu_time:.3f}us input_shapes={self.input_shapes}>"
        )


class EventList(list):
    """Events, or sums of events.

    Attributes:
        memory: the records of memory, of events that were asked to have it;
            None of others.
    """

    memory: list[MemoryRecord] | None = None

    def _populate_cpu_children(self) -> None:
        """Says of each event what ran inside of it in the same thread.

        Of two that overlap otherwise neither is inside of the other.
        """
        opened: dict[tuple, list[FunctionEvent]] = {}
        ordered = sorted(
            (e for e in self if e._on_cpu()), key=lambda e: (e.start, -e.time_range.end)
        )
        for event in ordered:
            event.cpu_parent, event.cpu_children = None, []
            stack = opened.setdefault((event.thread, event.node_id), [])
            while stack and (
                event.start >= stack[-1].time_range.end
                or event.time_range.end > stack[-1].time_range.end
            ):
                stack.pop()
            if stack:
                event.cpu_parent = stack[-1]
                stack[-1].cpu_children.append(event)
            stack.append(event)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all, each counted once."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> EventList:
        """The sums by name and kind of device, and by what is asked for.

        Args:
            group_by_input_shapes, group_by_overload_name: also by these.
            group_by_stack_n: how many of the nearest callers count.
            include_python_functions: accepted; calls of Python's functions are
                no events here.

        Raises:
            NotImplementedError: no event knows its overload, as those that are
                recorded here.
        """
        if group_by_overload_name and all(
            event.overload_name is None for event in self
        ):
            raise NotImplementedError(
                "key_averages: group_by_overload_name: the profiler does not "
                "record overloads; group by input shapes instead"
            )
        found: dict[tuple, FunctionEventAvg] = {}
        for event in self:
            key = [event.key, event.device_type]
            if group_by_overload_name:
                key.append(event.overload_name)
            if group_by_input_shapes:
                key.append(str(event.input_shapes))
            key += event.stack[:group_by_stack_n]
            found.setdefault(tuple(key), FunctionEventAvg()).add(event)
        for average in found.values():
            if not group_by_input_shapes:
                average.input_shapes = []
            average.stack = average.stack[:group_by_stack_n]
        averages = EventList(found.values())
        averages.memory = self.memory
        return averages

    def total_average(self) -> FunctionEventAvg:
        """The sum of all."""
        total = FunctionEventAvg()
        for event in self:
            total.key = event.key
            total.add(event)
        total.key = "Total"
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as text, a row each; no text without any.

        Args:
            sort_by: ``cpu_time``, ``cpu_time_total``, ``self_cpu_time_total``,
                ``cpu_memory_usage``, ``self_cpu_memory_usage``, the same of
                ``device`` or ``cuda``, or ``count``; the order of first calls
                if None.
            row_limit: rows at most; -1 for all.
            max_src_column_width, max_name_column_width,
            max_shapes_column_width: longer texts are cut.
            header: a line above the table.
            top_level_events_only: leave out what ran inside of others.
            time_unit: of all times, "s", "ms" or "us"; what fits each if None.

        Raises:
            ValueError: another ``sort_by`` or ``time_unit``.
        """
        widths = (max_name_column_width, max_shapes_column_width, max_src_column_width)
        return table_of(
            self, sort_by, row_limit, widths, header, top_level_events_only, time_unit
        )

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path) -> None:
        """Writes a trace that ui.perfetto.dev and chrome://tracing open."""
        from ._trace import write_trace

        write_trace(self, path)

    @staticmethod
    def supported_export_stacks_metrics() -> list[str]:
        """By what `export_stacks` can measure."""
        return ["self_cpu_time_total", "self_cuda_time_total"]

    def export_stacks(self, path: str, metric: str) -> None:
        """Writes a line for each event whose callers are known.

        They are the callers, the outermost first, and the time in microseconds,
        which is what scripts that draw flame graphs read.

        ValueError: `metric` is none of `supported_export_stacks_metrics`.
        """
        known = self.supported_export_stacks_metrics()
        if metric not in known:
            raise ValueError(f"metric should be one of: {known}, not {metric!r}")
        blank = str.maketrans(" ;\t\n", "____")
        with new_file(path, "w", encoding="utf-8") as file:
            for event in self:
                time = int(getattr(event, by_device(metric)))
                if event.stack and time > 0:
                    callers = (c.translate(blank) for c in event.stack[::-1])
                    file.write(f"{';'.join(callers)} {time}\n")
