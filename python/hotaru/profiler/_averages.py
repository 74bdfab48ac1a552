"""Recorded calls, their averages by name, and the table of them."""

from __future__ import annotations

import dataclasses

# Accepted names of columns to sort by, and the attribute each stands for.
_SORT_KEYS = {
    "cpu_time": "cpu_time",
    "cpu_time_total": "cpu_time_total",
    "self_cpu_time_total": "self_cpu_time_total",
    "count": "count",
}


@dataclasses.dataclass
class FunctionEvent:
    """One call or one ``record_function`` range; times in microseconds."""

    name: str
    thread: int
    stream: int
    start: float
    duration: float
    input_shapes: list
    is_range: bool = False
    self_duration: float = 0.0

    key = property(lambda self: self.name)
    count = 1
    cpu_time = property(lambda self: self.duration)
    cpu_time_total = property(lambda self: self.duration)
    self_cpu_time_total = property(lambda self: self.self_duration)


@dataclasses.dataclass
class FunctionEventAvg:
    """All calls of one name; times in microseconds."""

    key: str
    input_shapes: list
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0

    @property
    def cpu_time(self) -> float:
        """Mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0


class EventList(list):
    """Events or averages of events."""

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """The events merged by name, and by input shapes if asked for."""
        found: dict[tuple, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else []
            key = (event.name, str(shapes))
            average = found.setdefault(
                key, FunctionEventAvg(event.name, shapes)
            )
            average.count += 1
            average.cpu_time_total += event.cpu_time_total
            average.self_cpu_time_total += event.self_cpu_time_total
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """The sum of all."""
        total = FunctionEventAvg("Total", [])
        for event in self:
            total.count += event.count
            total.cpu_time_total += event.cpu_time_total
            total.self_cpu_time_total += event.self_cpu_time_total
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_name_column_width: int = 55,
    ) -> str:
        """The averages as text.

        Args:
            sort_by: ``cpu_time``, ``cpu_time_total``, ``self_cpu_time_total``
                or ``count``; the order of first calls if None.
            row_limit: rows at most; -1 for all.
            max_name_column_width: longer names are cut.

        Raises:
            ValueError: another ``sort_by``.
        """
        rows = list(self)
        if sort_by is not None:
            if sort_by not in _SORT_KEYS:
                raise ValueError(
                    f"table: sort_by must be one of {', '.join(_SORT_KEYS)}, "
                    f"not {sort_by!r}"
                )
            rows.sort(
                key=lambda r: getattr(r, _SORT_KEYS[sort_by]), reverse=True
            )
        total = sum(row.self_cpu_time_total for row in rows)
        shown = rows if row_limit < 0 else rows[:row_limit]
        lines = [
            [
                "Name",
                "Self CPU %",
                "Self CPU",
                "CPU total",
                "CPU time avg",
                "# of Calls",
            ]
        ]
        if any(row.input_shapes for row in rows):
            lines[0].append("Input Shapes")
        for row in shown:
            share = 100 * row.self_cpu_time_total / total if total else 0
            line = [
                _cut(row.key, max_name_column_width),
                f"{share:.2f}%",
                _time(row.self_cpu_time_total),
                _time(row.cpu_time_total),
                _time(row.cpu_time),
                str(row.count),
            ]
            if len(lines[0]) > len(line):
                line.append(str([list(shape) for shape in row.input_shapes]))
            lines.append(line)
        return f"{_aligned(lines)}\nSelf CPU time total: {_time(total)}\n"


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 3] + "..."


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines)]
    rule = "  ".join("-" * width for width in widths)
    rows = ["  ".join(map(str.rjust, line, widths)) for line in lines]
    return "\n".join([rule, rows[0], rule, *rows[1:], rule])
