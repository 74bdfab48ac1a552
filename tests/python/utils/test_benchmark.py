"""`utils.benchmark`: times, their spread, and tables as PyTorch prints them."""

from __future__ import annotations

import pytest
from hotaru.utils import benchmark as bench

import hotaru as torch


def spec(sub="s", description="d", threads=2):
    return bench.TaskSpec(
        "x+y",
        "pass",
        label="L",
        sub_label=sub,
        description=description,
        num_threads=threads,
    )


FIRST = bench.Measurement(10, [1e-4, 1.2e-4, 1.1e-4, 9e-5], spec())
SECOND = bench.Measurement(10, [2e-4] * 3 + [1e-2], spec("t", "d2"))
THIRD = bench.Measurement(10, [2e-4] * 3, spec("s", "d2", 1))


def test_statistics():
    assert FIRST.times == pytest.approx([1e-5, 1.2e-5, 1.1e-5, 9e-6])
    assert FIRST.median == pytest.approx(1.05e-5)
    assert FIRST.iqr == pytest.approx(1.5e-6)
    assert FIRST.significant_figures == 1
    assert THIRD.significant_figures == 5
    assert (FIRST.has_warnings, FIRST.meets_confidence()) == (True, False)
    assert (FIRST.title, FIRST.as_row_name, FIRST.label) == ("L: s", "s", "L")


# PyTorch 2.13's texts.
def test_text():
    assert repr(FIRST).splitlines()[1:] == [
        "L: s",
        "d",
        "  Median: 10.50 us",
        "  IQR:    1.50 us (9.75 to 11.25)",
        "  4 measurements, 10 runs per measurement, 2 threads",
        "  WARNING: Interquartile range is 14.3% of the median measurement.",
        "           This could indicate system fluctuation.",
    ]


def test_table():
    table = bench.Compare([FIRST, SECOND, THIRD])
    assert str(table) == (
        "[---------- L ----------]\n"
        "         |   d    |   d2 \n"
        "1 threads: --------------\n"
        "      s  |        |  20.0\n"
        "2 threads: --------------\n"
        "      s  |  10.5  |      \n"
        "      t  |        |  20.0\n"
        "\n"
        "Times are in microseconds (us).\n"
    )
    table.trim_significant_figures()
    table.colorize()
    best = "\x1b[92m\x1b[1m{}\x1b[0m\x1b[0m"
    assert f"      s  |      |  {best.format(20)}" in str(table).splitlines()
    assert f"      s  |  {best.format(10)}  |    " in str(table).splitlines()


def test_merging_joins_times_of_a_task():
    made = bench.Measurement.merge([FIRST, SECOND, FIRST])
    assert [len(m.raw_times) for m in made] == [8, 4]
    assert made[0].median == pytest.approx(FIRST.median)


class Clock:
    """Each look at it is a second later."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_timers():
    before = torch.get_num_threads()
    seen = []
    timer = bench.Timer(
        "seen.append(torch.get_num_threads())",
        timer=Clock(),
        globals={"seen": seen},
        num_threads=1,
    )
    found = timer.timeit(4)
    assert (found.number_per_run, found.raw_times) == (4, [1.0])
    assert set(seen) == {1}
    assert torch.get_num_threads() == before


def test_blocks_run_until_the_time_is_spent():
    told = []
    found = bench.Timer("pass", timer=Clock()).blocked_autorange(
        callback=lambda number, time: told.append((number, time)), min_run_time=5
    )
    assert len(found.raw_times) == 5
    assert told == [(found.number_per_run, 1.0)] * 5


def test_adaptive_stops_when_times_agree():
    found = bench.Timer("pass", timer=Clock()).adaptive_autorange(
        min_run_time=0.5, max_run_time=100
    )
    assert len(found.raw_times) == 4


def test_what_it_does_not_measure():
    with pytest.raises(NotImplementedError, match="compiler"):
        bench.Timer("f();", language=bench.Language.CPP)
    with pytest.raises(NotImplementedError, match="valgrind"):
        bench.Timer().collect_callgrind()


def test_units():
    assert bench.select_unit(3e-5) == ("us", 1e-6)
    assert bench.select_unit(5.0) == ("s", 1)
    assert bench.trim_sigfig(12345.678, 3) == 12300.0
