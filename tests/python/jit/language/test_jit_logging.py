"""Counters that programs add numbers to."""

from __future__ import annotations

import threading

import pytest
from hotaru.jit import _logging

import hotaru as torch


@pytest.fixture
def logger():
    made = _logging.LockingLogger()
    before = _logging.set_logger(made)
    yield made
    assert _logging.set_logger(before) is made


def test_programs_count(logger):
    @torch.jit.script
    def f(x, n: int):
        for i in range(n):
            torch.jit._logging.add_stat_value("turns", i)
        if bool(x.sum() > 0):
            torch.jit._logging.add_stat_value("positive", 1)
        else:
            torch.jit._logging.add_stat_value("negative", 1)
        return x + 1

    for n in (2, 5):
        assert torch.equal(f(torch.ones(2), n), torch.full((2,), 2.0))
    f(-torch.ones(2), 0)
    assert logger.get_counter_val("turns") == 1 + 10
    assert logger.get_counter_val("positive") == 2
    assert logger.get_counter_val("negative") == 1
    assert logger.get_counter_val("none") == 0


def test_programs_measure_time(logger):
    @torch.jit.script
    def f(x):
        begin = torch.jit._logging.time_point()
        x = x + 1
        end = torch.jit._logging.time_point()
        torch.jit._logging.add_stat_value("time", end - begin)
        return x

    f(torch.ones(2))
    assert logger.get_counter_val("time") > 0


def test_counters_give_sums_or_means(logger):
    logger.set_aggregation_type("mean", _logging.AggregationType.AVG)
    for value in (-3, -4):
        _logging.add_stat_value("mean", value)
        _logging.add_stat_value("sum", value)
    assert logger.get_counter_val("mean") == -3
    assert logger.get_counter_val("sum") == -7


def test_threads_lose_no_number(logger):
    def count():
        for _ in range(1000):
            _logging.add_stat_value("all", 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert logger.get_counter_val("all") == 4000


def test_only_loggers_are_set():
    with pytest.raises(TypeError, match="logger"):
        _logging.set_logger(None)
    assert torch._C.LockingLogger is _logging.LockingLogger
