"""Events as a table."""

from __future__ import annotations

from ._device_type import DeviceType
from ._flops import unit_of

# Accepted names of columns to sort by.
_SORT_KEYS = (
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time_total",
    "device_time",
    "device_time_total",
    "self_device_time_total",
    "cuda_time",
    "cuda_time_total",
    "self_cuda_time_total",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "device_memory_usage",
    "self_device_memory_usage",
    "cuda_memory_usage",
    "self_cuda_memory_usage",
    "count",
)


def by_device(name: str) -> str:
    """The attribute that holds what was called by a kind of devices."""
    return name.replace("cuda", "device")


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
    if not events:
        return ""
    if time_unit is not None and time_unit not in _UNITS:
        raise ValueError(
            f"table: time_unit must be one of {', '.join(_UNITS)}, not {time_unit!r}"
        )
    rows = [e for e in events if not (top_level_only and e.cpu_parent)]
    if sort_by is not None:
        if sort_by not in _SORT_KEYS:
            raise ValueError(
                f"table: sort_by must be one of {', '.join(_SORT_KEYS)}, not "
                f"{sort_by!r}"
            )
        attribute = by_device(sort_by)
        rows.sort(key=lambda row: getattr(row, attribute), reverse=True)
    total = sum(row.self_cpu_time_total for row in events)
    device = _device_of(events)
    on_device = sum(row.self_device_time_total for row in events if _own(row))
    shown = rows if row_limit < 0 else rows[:row_limit]
    columns = _columns(shown, total, time_unit)
    if device:
        columns |= _device_columns(shown, device, on_device, time_unit)
    if getattr(events, "memory", None) is not None:
        columns |= _memory_columns(shown, device)
    columns |= _further_columns(shown, *widths[1:])
    columns = {"Name": [_cut(row.key, widths[0]) for row in shown], **columns}
    lines = [list(columns)] + [list(row) for row in zip(*columns.values())]
    above = "" if header is None else f"{header}\n"
    below = f"Self CPU time total: {time_text(total, time_unit)}\n"
    if device:
        text = time_text(on_device, time_unit)
        below += f"Self {device} time total: {text}\n"
    return f"{above}{_aligned(lines)}\n{below}"


def _device_of(events: list) -> str | None:
    """Name of the columns of devices; None without their times."""
    if not any(row.self_device_time_total > 0 for row in events):
        return None
    return next(row.use_device for row in events if row.use_device).upper()


def _own(row) -> bool:
    """True if a device's time is counted here, not where it was launched."""
    of_cpu = row.device_type is DeviceType.CPU
    return row.is_legacy if of_cpu else not row.is_user_annotation


def _share(time: float, total: float) -> str:
    return f"{100 * time / total if total else 0:.2f}%"


def _columns(rows: list, total: float, unit: str | None) -> dict[str, list[str]]:
    """The texts of the columns of the CPU's times by their titles."""
    return {
        "Self CPU %": [_share(row.self_cpu_time_total, total) for row in rows],
        "Self CPU": [time_text(row.self_cpu_time_total, unit) for row in rows],
        "CPU total %": [_share(row.cpu_time_total, total) for row in rows],
        "CPU total": [time_text(row.cpu_time_total, unit) for row in rows],
        "CPU time avg": [time_text(row.cpu_time, unit) for row in rows],
    }


def _device_columns(
    rows: list, device: str, total: float, unit: str | None
) -> dict[str, list[str]]:
    """The same of the times of devices."""
    alone = [row.self_device_time_total for row in rows]
    return {
        f"Self {device}": [time_text(time, unit) for time in alone],
        f"Self {device} %": [_share(time, total) for time in alone],
        f"{device} total": [time_text(row.device_time_total, unit) for row in rows],
        f"{device} time avg": [time_text(row.device_time, unit) for row in rows],
    }


def _memory_columns(rows: list, device: str | None) -> dict[str, list[str]]:
    """The same of memory."""
    columns = {
        "CPU Mem": [memory_text(row.cpu_memory_usage) for row in rows],
        "Self CPU Mem": [memory_text(row.self_cpu_memory_usage) for row in rows],
    }
    if device:
        alone = [row.self_device_memory_usage for row in rows]
        columns[f"{device} Mem"] = [memory_text(r.device_memory_usage) for r in rows]
        columns[f"Self {device} Mem"] = [memory_text(nbytes) for nbytes in alone]
    return columns


def _further_columns(rows: list, shapes: int, callers: int) -> dict[str, list[str]]:
    """The same of what follows the times."""
    columns = {"# of Calls": [str(row.count) for row in rows]}
    if any(row.input_shapes for row in rows):
        columns["Input Shapes"] = [
            _cut(str([list(shape) for shape in row.input_shapes]), shapes)
            for row in rows
        ]
    counts = [row.flops for row in rows if row.flops]
    if counts:
        unit, name = unit_of(counts)
        columns[f"Total {name}"] = [
            f"{row.flops / unit:.3f}" if row.flops else "--" for row in rows
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


def memory_text(nbytes: int) -> str:
    """As "1.50 KB"."""
    for size, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines)]
    rule = "  ".join("-" * width for width in widths)
    rows = ["  ".join(map(str.rjust, line, widths)) for line in lines]
    return "\n".join([rule, rows[0], rule, *rows[1:], rule])
