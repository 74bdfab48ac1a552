"""What a profile holds: calls and ranges, and their sums by name.

Times are in microseconds of the clock of `time.perf_counter_ns`.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from ._table import table_of

_ids = itertools.count(1)


class Interval(NamedTuple):
    """From `start` to `end`."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start


class _Times:
    """What is said of times of events and of sums of them alike.

    There are no times of devices of their own: calls that launch kernels are
    recorded, the kernels are not.
    """

    device_time_total = 0
    self_device_time_total = 0

    @property
    def cpu_time(self) -> float:
        """Mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Mean time on a device, of a call."""
        return 0.0


class FunctionEvent(_Times):
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
        kind: "kernel", "operator" or "range".
        concrete_inputs: the arguments that are numbers, truth values or lists
            of them, None in the places of others.
        kwinputs: values given by name.
    """

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
    ) -> None:
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

    @property
    def key(self) -> str:
        """What sums are by."""
        return self.name

    @property
    def is_range(self) -> bool:
        """Whether it is a `record_function`."""
        return self.kind == "range"

    is_user_annotation = is_range

    @property
    def start(self) -> float:
        """When it began."""
        return self.time_range.start

    @property
    def duration(self) -> float:
        """How long it took."""
        return self.time_range.elapsed_us()

    cpu_time_total = duration

    @property
    def self_cpu_time_total(self) -> float:
        """Without what ran inside of it in the same thread."""
        return self.duration - sum(c.duration for c in self.cpu_children)

    self_duration = self_cpu_time_total

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} "
            f"thread={self.thread} cpu_time={self.duration:.3f}us "
            f"cpu_children={[child.id for child in self.cpu_children]} "
            f"input_shapes={self.input_shapes}>"
        )


def new_id() -> int:
    """A number for an event."""
    return next(_ids)


class FunctionEventAvg(_Times):
    """The sum of events."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.node_id = 0
        self.input_shapes: list = []
        self.stack: list[str] = []
        self.is_user_annotation = False
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
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
            self.cpu_parent = other.cpu_parent
        elif other.key != self.key:
            raise AssertionError(
                f"Expected an event of {self.key!r}, not of {other.key!r}"
            )
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} count={self.count} "
            f"self_cpu_time={self.self_cpu_time_total:.3f}us "
            f"cpu_time={self.cpu_time:.3f}us input_shapes={self.input_shapes}>"
        )


class EventList(list):
    """Events, or sums of events."""

    def _populate_cpu_children(self) -> None:
        """Says of each event what ran inside of it in the same thread.

        Of two that overlap otherwise neither is inside of the other.
        """
        opened: dict[tuple, list[FunctionEvent]] = {}
        ordered = sorted(self, key=lambda e: (e.start, -e.time_range.end))
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
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """The sums by name, and by input shapes and callers if asked for.

        `group_by_stack_n` is how many of the nearest callers count.
        """
        found: dict[tuple, FunctionEventAvg] = {}
        for event in self:
            key = [event.key]
            if group_by_input_shape:
                key.append(str(event.input_shapes))
            key += event.stack[:group_by_stack_n]
            found.setdefault(tuple(key), FunctionEventAvg()).add(event)
        for average in found.values():
            if not group_by_input_shape:
                average.input_shapes = []
            average.stack = average.stack[:group_by_stack_n]
        return EventList(found.values())

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
    ) -> str:
        """The events as text, a row each.

        Args:
            sort_by: ``cpu_time``, ``cpu_time_total``, ``self_cpu_time_total``
                or ``count``; the order of first calls if None.
            row_limit: rows at most; -1 for all.
            max_src_column_width, max_name_column_width,
            max_shapes_column_width: longer texts are cut.
            header: a line above the table.
            top_level_events_only: leave out what ran inside of others.

        Raises:
            ValueError: another ``sort_by``.
        """
        widths = (
            max_name_column_width, max_shapes_column_width,
            max_src_column_width,
        )  # fmt: skip
        return table_of(
            self, sort_by, row_limit, widths, header, top_level_events_only
        )

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path) -> None:
        """Writes a trace that ui.perfetto.dev and chrome://tracing open."""
        from ._trace import write_trace

        write_trace(self, path)

    def export_stacks(self, path: str, metric: str) -> None:
        """Writes a line for each event whose callers are known.

        They are the callers, the outermost first, and the time in microseconds,
        which is what scripts that draw flame graphs read.

        ValueError: `metric` is not "self_cpu_time_total".
        """
        if metric != "self_cpu_time_total":
            raise ValueError(
                "metric should be one of: ['self_cpu_time_total'], not "
                f"{metric!r}"
            )
        blank = str.maketrans(" ;\t\n", "____")
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                time = int(event.self_cpu_time_total)
                if event.stack and time > 0:
                    callers = (c.translate(blank) for c in event.stack[::-1])
                    file.write(f"{';'.join(callers)} {time}\n")
