"""Many application threads call one small model at once.

    .venv/bin/python bench/callers.py [--unordered] [--modules]
                                      [--peer .venv-peers/bin/python]

The model is three convolutions of a 28x28 picture with 32 channels, scripted or
with --modules as it is, in Python; its convolutions are large enough for a
second thread. Each library runs in a process of its own; they take turns,
caller count by caller count, so that a noisy machine is noisy for both. A
figure is the median over the rounds: calls per second of all callers together,
the 50th and 99th percentile of one call's
time, and the most threads the process had beyond its callers and its main
thread. "of best" is the throughput over that of the best number of callers;
"of fair" is the 99th percentile over what a call would take if all callers had
one in line, in order of arrival: callers over throughput. --unordered
measures hotaru with calls as they come (HOTARU_ADMISSION=off), too. A
measurement waits up to --patience seconds for a quiet machine; one during which
other processes took more than 5 % of the processors is made again, up to
--tries times; it prints how many it had to keep.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CALLERS = (1, 2, 4, 8, 16, 64)


def make_model(scripted: bool):
    """The model and its input; imports `torch`, whoever that is."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    layers = []
    for _ in range(3):
        layers += [nn.Conv2d(32, 32, 3, padding=1), nn.ReLU()]
    model = nn.Sequential(*layers).eval()
    if scripted:
        model = torch.jit.script(model)
    return model, torch.randn(1, 32, 28, 28)


def count_threads() -> int:
    return len(os.listdir("/proc/self/task"))


def run_callers(model, x, callers: int, seconds: float) -> dict:
    """One measurement in this process."""
    import torch

    times: list[list[float]] = [[] for _ in range(callers)]
    clock = time.perf_counter
    end = 0.0

    def start() -> None:
        nonlocal end
        end = clock() + seconds

    ready = threading.Barrier(callers + 1, action=start)

    def call(samples: list[float]) -> None:
        with torch.no_grad():
            model(x)
            ready.wait()
            before = clock()
            while before < end:
                model(x)
                now = clock()
                samples.append(now - before)
                before = now

    threads = [threading.Thread(target=call, args=(one,)) for one in times]
    for thread in threads:
        thread.start()
    ready.wait()
    most = 0
    while clock() < end:
        most = max(most, count_threads())
        time.sleep(seconds / 20)
    for thread in threads:
        thread.join()
    samples = sorted(sample for one in times for sample in one)
    return {
        "rate": len(samples) / seconds,
        "p50": samples[len(samples) // 2],
        "p99": samples[len(samples) * 99 // 100],
        "threads": most - callers - 1,  # one waits for them
    }


def serve(scripted: bool) -> None:
    """Answers {"callers": n, "seconds": s} a line with one line each."""
    import torch

    model, x = make_model(scripted)
    with torch.no_grad():
        for _ in range(20):
            model(x)
    print(json.dumps({"version": torch.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run_callers(model, x, **json.loads(line))), flush=True)


def processor_ticks() -> tuple[int, int]:
    """Clock ticks so far in which the processors worked, and did not."""
    cpu = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, cpu)
    return user + nice + system + irq + softirq + steal, idle + iowait


def wait_for_quiet(limit: float) -> None:
    """Returns when the processors did nothing for 0.2 s, or after the limit."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        before = processor_ticks()
        time.sleep(0.2)
        busy, idle = (b - a for a, b in zip(before, processor_ticks()))
        if busy <= 0.05 * (busy + idle):
            return


class Library:
    """A library's process."""

    def __init__(self, command: list[str], serve: str, **variables: str):
        self.process = subprocess.Popen(
            [*command, str(Path(__file__).resolve()), "--serve", serve],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONWARNINGS": "ignore", **variables},
        )
        self.version = self._read()["version"]

    def _read(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process ended: {self.process.args}")
        return json.loads(line)

    def measure(self, callers: int, seconds: float) -> dict:
        """Figures that run_callers found, and "foreign", see below."""
        request = {"callers": callers, "seconds": seconds}
        before = self._ticks()
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self._read()
        busy, own, idle = (b - a for a, b in zip(before, self._ticks()))
        answer["foreign"] = max(0, busy - own) / max(1, busy + idle)
        return answer

    def _ticks(self) -> tuple[int, int, int]:
        """Clock ticks so far: all processes', this library's, nobody's."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        own = int(fields[11]) + int(fields[12])
        busy, idle = processor_ticks()
        return busy, own, idle

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def show(name: str, results: dict[int, list[dict]]) -> None:
    """Prints one library's table."""
    middle = {
        callers: {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
        for callers, rounds in results.items()
    }
    best = max(one["rate"] for one in middle.values())
    print(f"\n{name}\n")
    print("| callers | calls/s | of best | p50 | p99 | of fair | threads beyond |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for callers, one in middle.items():
        most = max(r["threads"] for r in results[callers])
        p50, p99 = one["p50"] * 1e6, one["p99"] * 1e6
        fair = one["p99"] * one["rate"] / callers
        print(
            f"| {callers} | {one['rate']:.0f} | {one['rate'] / best:.2f} "
            f"| {p50:.0f} µs | {p99:.0f} µs | {fair:.1f} | {most} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="a Python that has PyTorch")
    parser.add_argument("--unordered", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--patience", type=float, default=5, metavar="S")
    parser.add_argument("--modules", action="store_true")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve == "scripted")
        return
    kind = "modules" if options.modules else "scripted"
    own = [sys.executable, "-m", "hotaru"]
    libraries = {"hotaru": Library(own, kind)}
    if options.unordered:
        libraries["hotaru, unordered"] = Library(own, kind, HOTARU_ADMISSION="off")
    if options.peer:
        libraries["torch"] = Library([options.peer], kind)
    results = {name: {callers: [] for callers in CALLERS} for name in libraries}
    disturbed = 0
    for number in range(options.rounds):
        order = list(libraries)[:: 1 if number % 2 else -1]
        for callers in CALLERS:
            for name in order:
                for _ in range(options.tries):
                    wait_for_quiet(options.patience)
                    one = libraries[name].measure(callers, options.seconds)
                    if one["foreign"] < 0.05:
                        break
                else:
                    disturbed += 1
                results[name][callers].append(one)
    count = options.rounds * len(CALLERS) * len(libraries)
    print(f"{os.cpu_count()} processors; {disturbed} of {count} disturbed")
    for name, library in libraries.items():
        show(f"{name} {library.version}", results[name])
        library.close()


if __name__ == "__main__":
    main()
