"""How long a statement takes."""

from __future__ import annotations

import enum
import textwrap
import timeit
from collections.abc import Callable

import hotaru

from .... import cuda
from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]

# The most that looking at the clock may take of a block's time.
_OVERHEAD = 1000
_LEAST_TIMES = 4


def timer() -> float:
    """The time in seconds, behind what GPUs have been given to do."""
    if cuda.is_available() and cuda.is_initialized():
        cuda.synchronize()
    return timeit.default_timer()


class Language(enum.Enum):
    """Language that statements are written in."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Times a statement as `timeit.Timer` does, on a given number of threads.

    Args:
        stmt: the statement.
        setup: what runs once before each measurement.
        global_setup: of C++; it must be empty.
        timer: the time in seconds.
        globals: what the statement sees.
        label, sub_label, description, env: what tables call it.
        num_threads: of operators, while it is measured.
        language: Python; C++ raises NotImplementedError.
    """

    _timer_cls = timeit.Timer

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError(
                f"Timer: statements in {language} would need a compiler; time "
                "a program of hotaru's C++ library by itself"
            )
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. "
                "Most likely this code can simply be moved to `setup`."
            )
        stmt, setup = (textwrap.dedent(text).strip() for text in (stmt, setup))
        self._globals = dict(globals or {})
        # The package itself is always at hand, as `torch`.
        self._globals.setdefault("torch", hotaru)
        self._timer = self._timer_cls(
            stmt=stmt, setup=setup, timer=timer, globals=self._globals
        )
        self._task_spec = TaskSpec(
            stmt, setup, "", label, sub_label, description, env, num_threads
        )

    def _timeit(self, number: int) -> float:
        # A clock that did not move would be divided by.
        return max(self._timer.timeit(number), 1e-9)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One measurement of `number` runs, behind a few to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return self._measured(number, [self._timeit(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """NotImplementedError: `blocked_autorange` measures repeatedly."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback=None) -> None:
        """NotImplementedError: see `blocked_autorange`."""
        self.repeat()

    def _block_size(self, least: float) -> int:
        """Runs for which one look at the clock is short enough."""
        overhead = min(self._timer_cls("pass").timeit(0) for _ in range(5))
        number = 1
        while True:
            taken = self._timeit(number)
            if (
                overhead * _OVERHEAD <= taken and taken >= least / _OVERHEAD
            ) or taken > least:
                return number
            number *= 10

    def _blocks(self, number, least, most, enough, callback) -> Measurement:
        times: list[float] = []
        spent = 0.0
        while True:
            one = self._timeit(number)
            times.append(one)
            spent += one
            if callback is not None:
                callback(number, one)
            found = self._measured(number, times)
            if spent >= least and (spent >= most or enough(found)):
                return found

    def blocked_autorange(
        self, callback=None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measures blocks of runs, so long that the clock does not matter,
        until `min_run_time` seconds are spent.

        Args:
            callback: is given the number of runs and the time of each block.
        """
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            return self._blocks(number, min_run_time, 0, lambda m: True, callback)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback=None,
    ) -> Measurement:
        """Measures until the quartiles are closer than `threshold` of the
        median, or `max_run_time` seconds are spent.
        """

        def enough(found: Measurement) -> bool:
            steady = len(found.raw_times) >= _LEAST_TIMES
            return steady and found.meets_confidence(threshold)

        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            return self._blocks(number, min_run_time, max_run_time, enough, callback)

    def collect_callgrind(
        self,
        number: int = 100,
        *,
        repeats: int | None = None,
        collect_baseline: bool = True,
        retain_out_file: bool = False,
    ):
        """NotImplementedError: run `valgrind --tool=callgrind` on a script."""
        raise NotImplementedError(
            "Timer.collect_callgrind: counts of instructions need a debug "
            "build's bindings; run valgrind --tool=callgrind on a script"
        )
