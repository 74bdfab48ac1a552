"""Measures captured graphs beside eager code and other runtimes, in one run.

    .venv/bin/python bench/graphs.py --peer .venv-peers/bin/python [--threads 2]

Every runtime has a process of its own; they take short turns. A figure is the
median of the rounds' medians, a ratio the median of the rounds' ratios to
hotaru's graph. Prints a table and writes bench-out/graphs.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
from pathlib import Path

import compare

SCRIPT = Path(__file__).resolve().parent / "graph_worker.py"
HOTARU = {"hotaru graph": "graph", "hotaru eager": "eager"}
PEERS = {
    "PyTorch eager": "eager",
    "TorchScript": "script",
    "torch.compile": "compile",
    "ONNX Runtime": "onnx",
}


def start(command: list[str], runtime: str, threads: int) -> compare.Worker:
    os.environ["GRAPH_RUNTIME"] = runtime
    return compare.Worker(command, threads, SCRIPT)


def row(task: str, rounds: dict, base: str) -> dict:
    """Medians of a task, and each runtime's time over the base's."""
    out: dict = {"task": task}
    for name, values in rounds.items():
        if isinstance(values, str) or not values:
            out[name] = {"error": values or "not measured"}
            continue
        cell = {"seconds": statistics.median(values)}
        if not isinstance(rounds[base], str):
            pairs = zip(rounds[base], values)
            cell["ratio"] = statistics.median(b / a for a, b in pairs)
        out[name] = cell
    return out


def geometric_mean(rows: list[dict], name: str) -> float | None:
    ratios = [r[name]["ratio"] for r in rows if "ratio" in r.get(name, {})]
    if not ratios:
        return None
    return math.exp(statistics.mean(map(math.log, ratios)))


def show(rows: list[dict], names: list[str], base: str) -> None:
    lines = [["", *names], ["-"] * (1 + len(names))]
    for one in rows:
        cells = [one["task"]]
        for name in names:
            cell = one.get(name, {})
            if "seconds" not in cell:
                cells.append("error" if "error" in cell else "")
                continue
            text = compare.show_time(cell["seconds"])
            if name != base and "ratio" in cell:
                text += f" ({cell['ratio']:.2f})"
            cells.append(text)
        lines.append(cells)
    means = [geometric_mean(rows, name) for name in names]
    lines.append(["geometric mean", *(f"{m:.2f}" if m else "" for m in means)])
    for line in lines:
        print("| " + " | ".join(line) + " |")
    for one in rows:
        for name in names:
            if "error" in one.get(name, {}):
                print(f"{one['task']}, {name}: {one[name]['error']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="python with torch and onnxruntime")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.02, help="a turn's")
    parser.add_argument("--only", help="models whose name contains this")
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    options = parser.parse_args()
    cache = compare.ROOT / ".cache"
    os.environ.setdefault("HOTARU_SILERO", str(cache / "silero_vad.jit"))
    os.environ.setdefault("SILERO_ONNX", str(cache / "silero_vad.onnx"))

    own = [sys.executable, "-m", "hotaru"]
    workers = {n: start(own, r, options.threads) for n, r in HOTARU.items()}
    if options.peer:
        peer = [options.peer]
        workers |= {n: start(peer, r, options.threads) for n, r in PEERS.items()}
    base = next(iter(HOTARU))
    tasks = [
        task for task in workers[base].tasks if not options.only or options.only in task
    ]
    results = compare.measure(workers, tasks, options)
    for worker in workers.values():
        worker.close()
    rows = [row(task, results[task], base) for task in tasks]
    print(
        f"{compare.processor()}, {options.threads} thread(s), "
        f"{options.rounds} rounds; in brackets: times of {base}\n"
    )
    show(rows, list(workers), base)
    options.out.mkdir(parents=True, exist_ok=True)
    report = {"threads": options.threads, "rows": rows, "rounds": results}
    target = options.out / "graphs.json"
    target.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nwritten to {target}")
    return 1 if any("error" in one.get(base, {}) for one in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
