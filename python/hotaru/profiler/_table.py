"""Events as a table."""

from __future__ import annotations

# Accepted names of columns to sort by.
_SORT_KEYS = ("cpu_time", "cpu_time_total", "self_cpu_time_total", "count")


def table_of(
    events: list,
    sort_by: str | None,
    row_limit: int,
    widths: tuple[int, int, int],
    header: str | None,
    top_level_only: bool,
    time_unit: str | None = None,
) -> str:
    """See `EventList.table`; `widths` are those of names, shapes, callers."""
    if time_unit is not None and time_unit not in _UNITS:
        raise ValueError(
            f"table: time_unit must be one of {', '.join(_UNITS)}, not "
            f"{time_unit!r}"
        )
    rows = [e for e in events if not (top_level_only and e.cpu_parent)]
    if sort_by is not None:
        if sort_by not in _SORT_KEYS:
            raise ValueError(
                f"table: sort_by must be one of {', '.join(_SORT_KEYS)}, not "
                f"{sort_by!r}"
            )
        rows.sort(key=lambda row: getattr(row, sort_by), reverse=True)
    total = sum(row.self_cpu_time_total for row in events)
    shown = rows if row_limit < 0 else rows[:row_limit]
    columns = _columns(shown, total, time_unit, *widths)
    lines = [list(columns)] + [list(row) for row in zip(*columns.values())]
    above = "" if header is None else f"{header}\n"
    below = f"Self CPU time total: {time_text(total, time_unit)}\n"
    return f"{above}{_aligned(lines)}\n{below}"


def _columns(
    rows: list,
    total: float,
    unit: str | None,
    names: int,
    shapes: int,
    callers: int,
) -> dict[str, list[str]]:
    """The texts of each column by its title."""

    def share(time: float) -> str:
        return f"{100 * time / total if total else 0:.2f}%"

    columns = {
        "Name": [_cut(row.key, names) for row in rows],
        "Self CPU %": [share(row.self_cpu_time_total) for row in rows],
        "Self CPU": [time_text(row.self_cpu_time_total, unit) for row in rows],
        "CPU total %": [share(row.cpu_time_total) for row in rows],
        "CPU total": [time_text(row.cpu_time_total, unit) for row in rows],
        "CPU time avg": [time_text(row.cpu_time, unit) for row in rows],
        "# of Calls": [str(row.count) for row in rows],
    }
    if any(row.input_shapes for row in rows):
        columns["Input Shapes"] = [
            _cut(str([list(shape) for shape in row.input_shapes]), shapes)
            for row in rows
        ]
    if any(row.stack for row in rows):
        columns["Source Location"] = [
            _cut(row.stack[0] if row.stack else "", callers) for row in rows
        ]
    return columns


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 3] + "..."


# How many microseconds a unit has.
_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


def time_text(microseconds: float, unit: str | None = None) -> str:
    """As "1.250ms", in the unit given or in the one that fits."""
    if unit is None:
        fits = (u for u, size in _UNITS.items() if microseconds >= size)
        unit = next(fits, "us")
    return f"{microseconds / _UNITS[unit]:.3f}{unit}"


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines)]
    rule = "  ".join("-" * width for width in widths)
    rows = ["  ".join(map(str.rjust, line, widths)) for line in lines]
    return "\n".join([rule, rows[0], rule, *rows[1:], rule])
