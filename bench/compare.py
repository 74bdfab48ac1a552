"""Measures hotaru beside PyTorch: the same code, in turns, in one run.

    ./dev bench --peers [--threads 2] [--rounds 30]
    .venv/bin/python bench/compare.py --worker bench/operators.py --peer PYTHON

Each library runs a worker, bench/worker.py, in a process of its own. They take
short turns, so that a noisy machine is noisy for both; a figure is the median
of the rounds' medians, and a ratio the median of the rounds' ratios. Prints a
table and writes bench-out/compare.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORKER = ROOT / "bench/worker.py"
IMPORT = "import"


class Worker:
    """A library in a process of its own that measures one task at a time.

    Between its turns the process is stopped: pools that look for work for a
    while after a call would take the others' cores.
    """

    def __init__(self, command: list[str], threads: int, script: Path = WORKER):
        variables = {
            "OMP_NUM_THREADS": str(threads),
            "MKL_NUM_THREADS": str(threads),
            "PYTHONWARNINGS": "ignore",
        }
        self.process = subprocess.Popen(
            [*command, str(script), str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **variables},
        )
        hello = self._read()
        self.process.send_signal(signal.SIGSTOP)
        self.version, self.tasks = hello["version"], hello["tasks"]

    def _read(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker ended: {self.process.args}")
        return json.loads(line)

    def measure(self, task: str, seconds: float) -> dict:
        """{"seconds": median of a call} or {"error": text}."""
        return self.ask({"task": task, "seconds": seconds})

    def ask(self, request: dict) -> dict:
        """The answer to a request, in the format that the worker has."""
        self.process.send_signal(signal.SIGCONT)
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self._read()
        self.process.send_signal(signal.SIGSTOP)
        return answer

    def close(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def start_time(python: str, statement: str) -> float:
    """Seconds that an interpreter needs to run the statement and end."""
    begin = time.perf_counter()
    subprocess.run([python, "-c", statement], check=True)
    return time.perf_counter() - begin


def import_times(libraries: dict, rounds: int) -> dict[str, float]:
    """Median seconds of each library's import beyond bare Python's start."""
    samples = {name: [] for name in libraries}
    for _ in range(rounds):
        for name, python in libraries.items():
            bare = start_time(python, "pass")
            samples[name].append(start_time(python, f"import {name}") - bare)
    return {name: statistics.median(one) for name, one in samples.items()}


def measure(workers: dict[str, Worker], tasks: list[str], options) -> dict:
    """Per task and library the rounds' medians, or an error's text."""
    results = {task: {name: [] for name in workers} for task in tasks}
    for number in range(options.rounds):
        if sys.stderr.isatty():
            print(f"\rround {number + 1}/{options.rounds}", end="", file=sys.stderr)
        # Who goes first changes from round to round.
        order = list(workers)[:: 1 if number % 2 else -1]
        for task in tasks:
            for name in order:
                if isinstance(results[task][name], str):
                    continue
                answer = workers[name].measure(task, options.seconds)
                if "error" in answer:
                    results[task][name] = answer["error"]
                else:
                    results[task][name].append(answer["seconds"])
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return results


def gflops(task: str, seconds: float) -> float | None:
    """GFLOP/s of a matmul task, None of any other."""
    name, _, size = task.partition(" ")
    return 2e-9 * int(size) ** 3 / seconds if name == "matmul" else None


def summary(task: str, rounds: dict) -> dict:
    """One row of the table: medians, and torch's time over hotaru's."""
    row: dict = {"task": task}
    for name, values in rounds.items():
        if isinstance(values, str):
            row[name] = {"error": values}
            continue
        row[name] = {"seconds": statistics.median(values)}
        rate = gflops(task, row[name]["seconds"])
        if rate:
            row[name]["gflops"] = rate
    lists = [v for v in rounds.values() if not isinstance(v, str)]
    if len(lists) == 2:
        row["ratio"] = statistics.median(b / a for a, b in zip(*lists))
    return row


def peak_gflops(threads: int) -> float | None:
    """The machine's FMA peak as gemm_bench measures it; None if not built."""
    program = ROOT / "build/bench/cpp/gemm_bench"
    if not program.exists():
        return None
    done = subprocess.run(
        [
            program,
            "--benchmark_filter=square<float>/256/1/0/",
            "--benchmark_format=json",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    product = json.loads(done.stdout)["benchmarks"][0]
    return threads * product["peak GFLOP/s"]


def show_time(seconds: float) -> str:
    """Three digits and a unit: ns, µs, ms or s."""
    units = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
    unit = next((u for u, size in units.items() if seconds >= size), "ns")
    value = seconds / units[unit]
    return f"{value:.{max(0, 2 - (value >= 10) - (value >= 100))}f} {unit}"


def show_cell(cell: dict | None, peak: float | None) -> str:
    if cell is None:
        return ""
    if "error" in cell:
        return "error"
    text = show_time(cell["seconds"])
    if "gflops" in cell:
        text += f" ({cell['gflops']:.0f} GFLOP/s"
        text += f", {cell['gflops'] / peak:.0%})" if peak else ")"
    return text


def show(report: dict) -> None:
    """Prints the report as a Markdown table."""
    names = list(report["versions"])
    peak = report["peak_gflops"]
    titles = [f"{name} {report['versions'][name]}" for name in names]
    lines = [["", *titles, "ratio"]]
    for row in report["rows"]:
        cells = [show_cell(row.get(name), peak) for name in names]
        ratio = f"{row['ratio']:.2f}" if "ratio" in row else ""
        lines.append([row["task"], *cells, ratio])
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths))
        print("| " + " | ".join(cells) + " |")
    for row in report["rows"]:
        for name in names:
            if "error" in row.get(name, {}):
                print(f"{row['task']}, {name}: {row[name]['error']}")


def processor() -> str:
    """The processor's name as Linux gives it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="python with torch installed")
    parser.add_argument("--worker", type=Path, default=WORKER, help="tasks")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.02, help="a turn's")
    parser.add_argument("--only", help="tasks whose name contains this")
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    options = parser.parse_args()
    os.environ.setdefault("HOTARU_SILERO", str(ROOT / ".cache/silero_vad.jit"))

    commands = {"hotaru": [sys.executable, "-m", "hotaru"]}
    if options.peer:
        commands["torch"] = [options.peer]
    workers = {
        name: Worker(command, options.threads, options.worker)
        for name, command in commands.items()
    }
    tasks = [
        task
        for task in workers["hotaru"].tasks
        if not options.only or options.only in task
    ]
    results = measure(workers, tasks, options)
    rows = [summary(task, results[task]) for task in tasks]
    for worker in workers.values():
        worker.close()
    plain = options.worker == WORKER
    if plain and (not options.only or options.only in IMPORT):
        pythons = {name: command[0] for name, command in commands.items()}
        taken = import_times(pythons, rounds=min(options.rounds, 15))
        row = {"task": IMPORT}
        row |= {name: {"seconds": value} for name, value in taken.items()}
        if len(taken) == 2:
            row["ratio"] = taken["torch"] / taken["hotaru"]
        rows.append(row)
    report = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": options.threads,
        "rounds": options.rounds,
        "versions": {name: w.version for name, w in workers.items()},
        "peak_gflops": peak_gflops(options.threads),
        "rows": rows,
        "round_seconds": results,
    }
    print(
        f"{report['processor']}, {options.threads} thread(s), {options.rounds} rounds"
    )
    if report["peak_gflops"]:
        print(f"FMA peak {report['peak_gflops']:.0f} GFLOP/s")
    print()
    show(report)
    options.out.mkdir(parents=True, exist_ok=True)
    stem = "compare" if plain else options.worker.stem
    target = options.out / f"{stem}.json"
    target.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nwritten to {target}")
    return 1 if any("error" in row.get("hotaru", {}) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
