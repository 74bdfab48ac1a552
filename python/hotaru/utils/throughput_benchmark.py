"""How many calls of a module several threads make in a second."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from dataclasses import dataclass

__all__ = ["ExecutionStats", "ThroughputBenchmark", "format_time"]


def format_time(time_us=None, time_ms=None, time_s=None) -> str:
    """A time, given in one of three units, in the one that suits it.

    Raises AssertionError unless exactly one is given.
    """
    given = [
        time * unit
        for time, unit in ((time_us, 1), (time_ms, 1e3), (time_s, 1e6))
        if time is not None
    ]
    if len(given) != 1:
        raise AssertionError("Expected only one of time_us, time_ms, time_s is given.")
    for unit, name in ((1e6, "s"), (1e3, "ms")):
        if given[0] >= unit:
            return f"{given[0] / unit:.3f}{name}"
    return f"{given[0]:.3f}us"


@dataclass(frozen=True)
class BenchmarkConfig:
    """Settings that `benchmark` was told."""

    num_calling_threads: int
    num_warmup_iters: int
    num_iters: int
    profiler_output_path: str


@dataclass(frozen=True)
class ExecutionStats:
    """Figures of a benchmark; printing says them in words.

    Attributes:
        latency_avg_ms: of one call, in milliseconds.
        num_iters: calls of all threads together.
    """

    latency_avg_ms: float
    num_iters: int
    benchmark_config: BenchmarkConfig

    @property
    def total_time_seconds(self) -> float:
        """How long the threads were busy."""
        seconds = self.num_iters * self.latency_avg_ms / 1000
        return seconds / self.benchmark_config.num_calling_threads

    @property
    def iters_per_second(self) -> float:
        """Calls of all threads in a second."""
        return self.num_iters / self.total_time_seconds

    def __str__(self) -> str:
        latency = format_time(time_ms=self.latency_avg_ms)
        return (
            f"Average latency per example: {latency}\n"
            f"Total number of iterations: {self.num_iters}\n"
            "Total number of iterations per second (across all threads): "
            f"{self.iters_per_second:.2f}\n"
            f"Total time: {format_time(time_s=self.total_time_seconds)}"
        )


class ThroughputBenchmark:
    """Calls a module, from several threads, with inputs taken at random."""

    def __init__(self, module) -> None:
        self._module = module
        self._inputs: list[tuple] = []

    def add_input(self, *args, **kwargs) -> None:
        """Arguments that threads may call the module with."""
        self._inputs.append((args, kwargs))

    def run_once(self, *args, **kwargs):
        """The module's result for these arguments."""
        return self._module(*args, **kwargs)

    def benchmark(
        self,
        num_calling_threads: int = 1,
        num_warmup_iters: int = 10,
        num_iters: int = 100,
        profiler_output_path: str = "",
    ) -> ExecutionStats:
        """Measures `num_iters` calls, shared by the threads.

        Each thread makes `num_warmup_iters` calls of its own before. With a
        path, the calls that are measured are profiled and their trace goes
        there. What a call raises is raised here. Raises RuntimeError without
        inputs.
        """
        if not self._inputs:
            raise RuntimeError(
                "Please provide benchmark inputs.Did you forget to call add_input()? "
            )
        config = BenchmarkConfig(
            num_calling_threads, num_warmup_iters, num_iters, profiler_output_path
        )
        run = _Run(self._module, self._inputs, config)
        with _profile(profiler_output_path):
            seconds, calls = run.measure()
        latency = 1000 * seconds * num_calling_threads / calls
        return ExecutionStats(latency, calls, config)


@contextlib.contextmanager
def _profile(path: str):
    if not path:
        yield
        return
    from ..autograd.profiler import profile

    with profile() as found:
        yield
    found.export_chrome_trace(path)


class _Run:
    """Threads that warm up, start together and share the calls."""

    def __init__(self, module, inputs: list, config: BenchmarkConfig) -> None:
        self._module, self._inputs, self._config = module, inputs, config
        self._start = threading.Barrier(config.num_calling_threads + 1)
        self._lock = threading.Lock()
        self._done = 0
        self._errors: list[BaseException] = []

    def measure(self) -> tuple[float, int]:
        """Seconds, and the number of calls."""
        count = self._config.num_calling_threads
        threads = [threading.Thread(target=self._work) for _ in range(count)]
        for thread in threads:
            thread.start()
        with contextlib.suppress(threading.BrokenBarrierError):
            self._start.wait()
        began = time.perf_counter()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        if self._errors:
            raise self._errors[0]
        return seconds, self._done

    def _work(self) -> None:
        draw = random.Random(threading.get_ident())
        try:
            for _ in range(self._config.num_warmup_iters):
                self._call(draw)
            self._start.wait()
            while self._next():
                self._call(draw)
        except threading.BrokenBarrierError:
            pass  # another thread's error ended it
        except BaseException as error:
            self._errors.append(error)
            self._start.abort()

    def _next(self) -> bool:
        with self._lock:
            if self._errors or self._done >= self._config.num_iters:
                return False
            self._done += 1
            return True

    def _call(self, draw: random.Random) -> None:
        args, kwargs = draw.choice(self._inputs)
        self._module(*args, **kwargs)
