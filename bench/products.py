"""Sixty products of matrices beside PyTorch and the machine's peak.

    .venv/bin/python bench/products.py --peer PYTHON [--threads 1,2]
        [--rounds 25] [--plot docs/images/products.svg]

hotaru, PyTorch and a loop of multiply-adds on registers take short turns, shape
by shape (compare.py says how). Prints a table for each number of threads and
writes bench-out/products.json: PyTorch's time over hotaru's, and hotaru's share
of the peak. Each is of the best turns, which others on the machine disturb
least; a turn's figure is the median of its calls.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import compare

WORKER = compare.ROOT / "bench/products_worker.py"
PEAK = compare.ROOT / "build/bench/cpp/peak_worker"


def flops(task: str) -> int:
    """Operations of the product that a task's name describes."""
    rows, _, inner, _, columns = task.split()[:5]
    return 2 * int(rows) * int(inner) * int(columns)


def row_of(task: str, rounds: list[dict]) -> dict:
    """The best of the rounds of one shape."""
    row = {"task": task, "rounds": rounds}
    for name in rounds[0]:
        best = max if name == "peak" else min
        row[name] = best(one[name] for one in rounds)
    if "torch" in row:
        row["ratio"] = row["torch"] / row["hotaru"]
    if "peak" in row:
        row["share"] = flops(task) / row["hotaru"] / row["peak"]
    return row


def measure(options, threads: int) -> dict:
    """All shapes, by so many threads."""
    workers = {
        "hotaru": compare.Worker([sys.executable, "-m", "hotaru"], threads, WORKER)
    }
    if options.peer:
        workers["torch"] = compare.Worker([options.peer], threads, WORKER)
    # The second argument of a program without a script is not looked at.
    if PEAK.exists():
        workers["peak"] = compare.Worker([str(PEAK)], threads, WORKER)
    rows = []
    for task in workers["hotaru"].tasks:
        if options.only and options.only not in task:
            continue
        rounds = []
        for number in range(options.rounds):
            order = list(workers)[:: 1 if number % 2 else -1]
            rounds.append(
                {
                    name: workers[name].measure(task, options.seconds)[
                        "flops" if name == "peak" else "seconds"
                    ]
                    for name in order
                }
            )
        rows.append(row_of(task, rounds))
    for worker in workers.values():
        worker.close()
    return {"threads": threads, "rows": rows}


def show(report: dict) -> None:
    print(f"\n{report['threads']} thread(s)\n")
    print("| rows x inner x columns | hotaru | ratio | of the peak |")
    print("| --- | ---: | ---: | ---: |")
    for row in report["rows"]:
        ratio = f"{row['ratio']:.2f}" if "ratio" in row else ""
        share = f"{row['share']:.0%}" if "share" in row else ""
        time = compare.show_time(row["hotaru"])
        print(f"| {row['task']} | {time} | {ratio} | {share} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="python with torch installed")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--seconds", type=float, default=0.008, help="a turn's")
    parser.add_argument("--only", help="shapes whose name contains this")
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    parser.add_argument("--plot", type=Path, help="a picture to write")
    options = parser.parse_args()
    print(compare.processor())
    reports = []
    for threads in map(int, options.threads.split(",")):
        reports.append(measure(options, threads))
        show(reports[-1])
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / "products.json"
    target.write_text(json.dumps(reports, indent=1) + "\n")
    print(f"\nwritten to {target}")
    if options.plot:
        from plots import products as plot

        plot.draw(reports, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
