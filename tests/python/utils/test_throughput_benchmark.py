"""Calls of a module from several threads."""

from __future__ import annotations

import json
import threading

import pytest
from hotaru.utils.throughput_benchmark import format_time

import hotaru as torch


def test_every_thread_warms_up_and_the_calls_are_shared():
    lock, calls = threading.Lock(), []

    def module(x, *, scale):
        with lock:
            calls.append((threading.get_ident(), float(x * scale)))

    bench = torch.utils.ThroughputBenchmark(module)
    bench.add_input(torch.tensor(2.0), scale=3)
    bench.add_input(torch.tensor(5.0), scale=1)
    stats = bench.benchmark(num_calling_threads=3, num_warmup_iters=4, num_iters=7)
    assert stats.num_iters == 7
    assert len(calls) == 3 * 4 + 7
    assert len({thread for thread, _ in calls}) == 3
    assert {value for _, value in calls} <= {6.0, 5.0}
    assert stats.iters_per_second == pytest.approx(7 / stats.total_time_seconds)
    assert str(stats).splitlines()[1] == "Total number of iterations: 7"


def test_an_error_of_a_call_is_raised_and_ends_all_threads():
    def module(x):
        raise KeyError(x)

    bench = torch.utils.ThroughputBenchmark(module)
    bench.add_input("x")
    with pytest.raises(KeyError):
        bench.benchmark(num_calling_threads=3, num_iters=10)
    with pytest.raises(KeyError):
        bench.benchmark(2, num_warmup_iters=0, num_iters=10)


def test_without_inputs_there_is_nothing_to_measure():
    with pytest.raises(RuntimeError, match="Did you forget to call add_input"):
        torch.utils.ThroughputBenchmark(print).benchmark()


def test_the_trace_has_the_operators(tmp_path):
    bench = torch.utils.ThroughputBenchmark(torch.nn.Linear(2, 2))
    bench.add_input(torch.ones(1, 2))
    path = tmp_path / "trace.json"
    bench.benchmark(num_iters=3, profiler_output_path=str(path))
    assert json.loads(path.read_text())["traceEvents"]


def test_times_come_in_the_unit_that_suits_them():
    assert format_time(time_us=12.5) == "12.500us"
    assert format_time(time_ms=12.5) == "12.500ms"
    assert format_time(time_ms=2500) == "2.500s"
    assert format_time(time_s=0.0001) == "100.000us"
    with pytest.raises(AssertionError, match="Expected only one of"):
        format_time(1, 2)
