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
) -> str:
    """See `EventList.table`; `widths` are those of names, shapes, callers."""
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
    columns = _columns(shown, total, *widths)
    lines = [list(columns)] + [list(row) for row in zip(*columns.values())]
    above = "" if header is None else f"{header}\n"
    return f"{above}{_aligned(lines)}\nSelf CPU time total: {_time(total)}\n"


def _columns(
    rows: list, total: float, names: int, shapes: int, callers: int
) -> dict[str, list[str]]:
    """The texts of each column by its title."""

    def share(time: float) -> str:
        return f"{100 * time / total if total else 0:.2f}%"

    columns = {
        "Name": [_cut(row.key, names) for row in rows],
        "Self CPU %": [share(row.self_cpu_time_total) for row in rows],
        "Self CPU": [_time(row.self_cpu_time_total) for row in rows],
        "CPU total %": [share(row.cpu_time_total) for row in rows],
        "CPU total": [_time(row.cpu_time_total) for row in rows],
        "CPU time avg": [_time(row.cpu_time) for row in rows],
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
