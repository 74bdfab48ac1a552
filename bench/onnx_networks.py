"""Measures hotaru beside ONNX Runtime on networks that PyTorch exported.

    .venv/bin/python bench/onnx_networks.py --peer PYTHON [--exporter PYTHON]
                                            [--threads 2] [--rounds 30]

The exporter's Python has torch, onnx and onnxscript, the peer's onnxruntime.
Each runtime has a process of its own; they take short turns. A figure is the
median of the rounds' medians, a ratio the median of the rounds' ratios (ONNX
Runtime's time over hotaru's: above 1 hotaru is faster). Loading and the first
call are measured in turns, too, each time anew. Before all that: how many
kernels the file's graph runs, beside the same network built from hotaru.nn.
Prints a table and writes bench-out/onnx_networks.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import compare

BENCH = Path(__file__).resolve().parent
OWN = [sys.executable, "-m", "hotaru"]
STARTS = 5


def start(runtime: str, command: list[str], options) -> compare.Worker:
    os.environ["ONNX_RUNTIME"] = runtime
    os.environ["ONNX_FOLDER"] = str(options.folder)
    os.environ["ONNX_CLOCK"] = options.clock
    return compare.Worker(command, options.threads, BENCH / "onnx_worker.py")


def ask(worker: compare.Worker, request: dict) -> dict:
    """The answer to a request; RuntimeError where it is an error."""
    answer = worker.ask(request)
    if "error" in answer:
        raise RuntimeError(f"{request}: {answer['error']}")
    return answer


def kernels(tasks: list[str], options) -> dict[str, list[int]]:
    """Per network the calls of its graph: from the file, and natively."""
    out: dict[str, list[int]] = {task: [] for task in tasks}
    for runtime in ("hotaru", "native"):
        worker = start(runtime, OWN, options)
        for task in tasks:
            names = ask(worker, {"kernels": task})["kernels"]
            out[task].append(len(names))
        worker.close()
    return out


def starts(workers: dict, tasks: list[str]) -> dict:
    """Median seconds of loading and of the first call, per task and runtime."""
    out: dict = {}
    for task in tasks:
        samples: dict = {name: [] for name in workers}
        for _ in range(STARTS):
            for name, worker in workers.items():
                samples[name].append(ask(worker, {"start": task})["start"])
        out[task] = {
            name: [statistics.median(one) for one in zip(*taken)]
            for name, taken in samples.items()
        }
    return out


def show(report: dict) -> None:
    """Prints the report as a Markdown table."""
    lines = [
        [
            "",
            "hotaru",
            "ONNX Runtime",
            "ratio",
            "load and first call",
            "ratio",
            "kernels",
            "natively",
        ]
    ]
    for row in report["rows"]:
        own, peer = (sum(row["start"][name]) for name in ("hotaru", "peer"))
        lines.append(
            [
                row["task"],
                compare.show_cell(row["hotaru"], None),
                compare.show_cell(row["peer"], None),
                f"{row['ratio']:.2f}",
                f"{compare.show_time(own)}, {compare.show_time(peer)}",
                f"{peer / own:.2f}",
                *map(str, row["kernels"]),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths))
        print("| " + " | ".join(cells) + " |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", required=True, help="has onnxruntime")
    parser.add_argument("--exporter", help="has torch, onnx and onnxscript")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.05, help="a turn's")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--only", help="networks whose name contains this")
    parser.add_argument("--folder", type=Path, default=Path(".cache/onnx"))
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if options.exporter:
        options.folder.mkdir(parents=True, exist_ok=True)
        script = [options.exporter, BENCH / "onnx_models.py", options.folder]
        subprocess.run(script, check=True, stdout=subprocess.DEVNULL)

    workers = {
        "hotaru": start("hotaru", OWN, options),
        "peer": start("onnxruntime", [options.peer], options),
    }
    tasks = [
        task
        for task in workers["hotaru"].tasks
        if not options.only or options.only in task
    ]
    counts = kernels(tasks, options)
    begun = starts(workers, tasks)
    results = compare.measure(workers, tasks, options)
    for worker in workers.values():
        worker.close()
    rows = []
    for task in tasks:
        row = compare.summary(task, results[task])
        rows.append({**row, "start": begun[task], "kernels": counts[task]})
    report = {
        "processor": compare.processor(),
        "threads": options.threads,
        "clock": options.clock,
        "rounds": options.rounds,
        "versions": {name: w.version for name, w in workers.items()},
        "rows": rows,
        "round_seconds": results,
    }
    print(
        f"{report['processor']}, {options.threads} thread(s), "
        f"{options.clock} time, {options.rounds} rounds, "
        f"ONNX Runtime {workers['peer'].version}\n"
    )
    show(report)
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / "onnx_networks.json"
    target.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nwritten to {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
