"""Tables of measurements."""

from __future__ import annotations

import collections
import enum

from .common import (
    Measurement,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

__all__ = ["Colorize", "Compare"]

_BEST, _GOOD = "\033[92m", "\033[34m"
_VERY_BAD, _BAD = "\033[31m", "\033[91m"
_BOLD, _END = "\033[1m", "\033[0m"


class Colorize(enum.Enum):
    """Groups that the best times are the best of."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Measurements in a table for each label: rows are tasks by their
    `sub_label`, under their `env` and number of threads, columns descriptions.
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = self._warn = False
        self._colorize = Colorize.NONE
        self.extend_results(results)

    def __str__(self) -> str:
        return "\n".join(self._render())

    def extend_results(self, results) -> None:
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(
                    "Expected an instance of `Measurement`, got "
                    f"{type(result)} instead."
                )
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Only digits that mean something are shown."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """The best times are coloured, of columns or of rows."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Times that were unsteady get their spread."""
        self._warn = True

    def print(self) -> None:
        print(self)

    def _render(self) -> list[str]:
        merged = Measurement.merge(self._results)
        groups: dict[str, list[Measurement]] = collections.defaultdict(list)
        for result in merged:
            groups[result.label or ""].append(result)
        return [_Table(g, self).text() for g in groups.values()]


class _Table:
    """The measurements of one label."""

    def __init__(self, results: list[Measurement], options: Compare) -> None:
        self._results = results
        self._options = options
        self._label = results[0].label or ""
        unit = select_unit(min(r.median for r in results))
        self._unit, self._scale = unit
        self._rows = sorted(
            ordered_unique(self._row(r) for r in results),
            key=lambda row: (row[0] is not None, row[0] or "", row[1]),
        )
        self._columns = ordered_unique(r.description for r in results)
        self._found = {(self._row(r), r.description): r for r in results}

    @staticmethod
    def _row(result: Measurement) -> tuple:
        return result.task_spec.env, result.num_threads, result.as_row_name

    def _value(self, result: Measurement) -> float:
        value = result.median / self._scale
        if self._options._trim:
            return trim_sigfig(value, result.significant_figures)
        return value

    def _digits(self, column) -> int:
        """Behind the point, for a column."""
        if not self._options._trim:
            return 1
        most = 0
        for (_, name), result in self._found.items():
            if name != column:
                continue
            value, left = self._value(result), 0
            while left < 4 and abs(round(value, left) - value) > 1e-9:
                left += 1
            most = max(most, left)
        return most

    def _cell(self, row, column) -> str:
        result = self._found.get((row, column))
        if result is None:
            return ""
        text = f"{self._value(result):.{self._digits(column)}f}"
        if self._options._warn and result.has_warnings:
            text += f" (! {100 * result.iqr / result.median:.0f}%)"
        return text

    def _coloured(self, text: str, row, column) -> str:
        """Filled cells of the best times, and of those far from them."""
        result = self._found.get((row, column))
        kind = self._options._colorize
        if result is None or kind is Colorize.NONE:
            return text
        if kind is Colorize.ROWWISE:
            others = [r for (at, _), r in self._found.items() if at == row]
        else:
            others = [
                r
                for (at, name), r in self._found.items()
                if name == column and at[1] == row[1]
            ]
        best = min(r.median for r in others)
        ratio = result.median / best
        colour = ""
        if ratio < 1.05:
            colour = _BEST + _BOLD
        elif ratio < 1.10:
            colour = _GOOD + _BOLD
        elif ratio > 2.0:
            colour = _VERY_BAD + _BOLD
        elif ratio > 1.5:
            colour = _BAD
        return f"{colour}{text}{_END * colour.count(chr(27))}"

    def text(self) -> str:
        cells = {(r, c): self._cell(r, c) for r in self._rows for c in self._columns}
        names = [str(c) if c is not None else "" for c in self._columns]
        with_env = any(row[0] is not None for row in self._rows)
        stems = [
            "      " + (f"({r[0]})  " if with_env and r[0] else "") + r[2]
            for r in self._rows
        ]
        heads = [f"{n} threads: " for n in {row[1] for row in self._rows}]
        first = max(len(s) for s in stems)
        widths = [
            max(len(name), *(len(cells[r, c]) for r in self._rows))
            for c, name in zip(self._columns, names)
        ]
        header = " " * first + "".join(
            f"  |  {name.center(w)}" for name, w in zip(names, widths)
        )
        width = max(len(header), *(len(h) for h in heads))
        lines = [self._title(width), header]
        threads = None
        for stem, row in zip(stems, self._rows):
            if row[1] != threads:
                threads = row[1]
                lines.append(f"{threads} threads: ".ljust(width, "-"))
            line = stem.ljust(first)
            for column, w in zip(self._columns, widths):
                text = cells[row, column].rjust(w)
                line += "  |  " + self._coloured(text, row, column)
            lines.append(line)
        unit = f"{unit_to_english(self._unit)}s ({self._unit})"
        return "\n".join(lines) + f"\n\nTimes are in {unit}.\n"

    def _title(self, width: int) -> str:
        """The label between dashes."""
        return "[" + f" {self._label} ".center(width - 2, "-") + "]"
