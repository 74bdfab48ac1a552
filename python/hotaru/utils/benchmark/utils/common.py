"""Measurements, and how sure they are."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import math
import statistics
import textwrap

from .... import get_num_threads, set_num_threads

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]

# The most digits that are shown.
_MOST_DIGITS = 5
# Quantile of the two-sided 90 % interval of a normal distribution.
_CONFIDENCE = 1.645
# Shares of the median from which the spread is called unsteady.
_UNSTEADY, _VERY_UNSTEADY = 0.10, 0.25
_UNITS = {
    "ns": "nanosecond",
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "m": "minute",
    "h": "hour",
}


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """Subject that is measured: the program, and how people call it."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, else the program itself."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt
        more = f": {self.sub_label}" if self.sub_label else ""
        return f"stmt:{more}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        if self.setup == "pass" or not self.setup:
            return ""
        if "\n" in self.setup:
            return f"setup:\n{textwrap.indent(self.setup, '  ')}"
        return f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and set-up, a line each."""
        parts = [self.title, self.description or "", self.setup_str()]
        return "\n".join(part for part in parts if part)


def _quantile(ordered: list[float], share: float) -> float:
    """With linear interpolation between neighbours."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """Times of one task, in seconds.

    Args:
        number_per_run: how often the program ran for each of `raw_times`.
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict | None = None

    def __getattr__(self, name: str):
        # Fields of the task are the measurement's, too.
        if name.startswith("__") or name == "task_spec":
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    @property
    def times(self) -> list[float]:
        """Times of one run each."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        self._check()
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        self._check()
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """From the first quartile to the third."""
        self._check()
        ordered = sorted(self.times)
        return _quantile(ordered, 0.75) - _quantile(ordered, 0.25)

    @property
    def significant_figures(self) -> int:
        """How many digits of the median mean something: those that its
        standard error, from the inner half of the times, leaves.
        """
        self._check()
        n = len(self.raw_times)
        inner = sorted(self.times)[n // 4 : math.ceil(3 * n / 4)]
        error = _CONFIDENCE * statistics.pstdev(inner) / math.sqrt(len(inner))
        if error == 0:
            return _MOST_DIGITS
        digits = math.floor(math.log10(self.median / error))
        return min(max(digits, 1), _MOST_DIGITS)

    @property
    def has_warnings(self) -> bool:
        return bool(self._warnings())

    def _warnings(self) -> list[str]:
        share = self.iqr / self.median if self.median else 0
        if share < _UNSTEADY:
            return []
        what = (
            "This suggests significant environmental influence."
            if share > _VERY_UNSTEADY
            else "This could indicate system fluctuation."
        )
        return [
            f"  WARNING: Interquartile range is {share * 100:.1f}% of the "
            "median measurement.",
            " " * 11 + what,
        ]

    def meets_confidence(self, threshold: float = _UNSTEADY) -> bool:
        """True if the quartiles are closer than this share of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        return self.task_spec.title

    @property
    def env(self) -> str:
        return "Unspecified env" if self._env is None else str(self._env)

    @property
    def _env(self):
        return self.task_spec.env

    @property
    def as_row_name(self) -> str:
        return self.sub_label or self.stmt or "[Unknown]"

    def _check(self) -> None:
        if not self.raw_times:
            raise ValueError("there are no times: nothing was measured")

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        digits = 2
        kind = type(self)
        lines = [
            f"<{kind.__module__}.{kind.__qualname__} object at {id(self):#x}>",
            self.task_spec.summarize(),
        ]
        n, runs = len(self.raw_times), self.number_per_run
        median = f"{self.median / scale:.{digits}f} {unit}"
        if n == 1:
            lines.append(f"  {median}")
        else:
            lines.append(f"  Median: {median}")
        if n > 3:
            ordered = sorted(self.times)
            low, high = (_quantile(ordered, q) / scale for q in (0.25, 0.75))
            lines.append(
                f"  IQR:    {self.iqr / scale:.{digits}f} {unit} "
                f"({low:.{digits}f} to {high:.{digits}f})"
            )
        threads = self.num_threads
        lines.append(
            f"  {n} measurement{'s' if n > 1 else ''}, {runs} runs "
            f"{'per measurement' if n > 1 else ''}, {threads} "
            f"thread{'s' if threads > 1 else ''}"
        )
        return "\n".join(lines + (self._warnings() if n > 3 else []))

    @staticmethod
    def merge(measurements) -> list[Measurement]:
        """One for each task, with the times of all that measured it."""
        grouped = collections.defaultdict(list)
        for measurement in measurements:
            grouped[measurement.task_spec].append(measurement)
        return [
            Measurement(1, [t for m in group for t in m.times], spec)
            for spec, group in grouped.items()
        ]


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time is read easily, and that unit in seconds."""
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(
        math.floor(math.log10(t) / 3) if t > 0 else 0, "s"
    )
    return unit, {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def unit_to_english(u: str) -> str:
    """As "microsecond" of "us"."""
    return _UNITS[u]


def trim_sigfig(x: float, n: int) -> float:
    """Rounded to n digits."""
    if x == 0 or n < 1:
        return x
    place = math.floor(math.log10(abs(x))) + 1 - n
    return float(round(x / 10.0**place) * 10.0**place)


def ordered_unique(elements) -> list:
    """Each once, in the order of their first."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int):
    """Inside, operators run on n threads."""
    before = get_num_threads()
    set_num_threads(n)
    try:
        yield
    finally:
        set_num_threads(before)
