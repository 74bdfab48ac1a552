"""Every family of operators beside PyTorch, at three sizes, with gradients.

    .venv/bin/python bench/sweep.py --peer .venv-peers/bin/python
        [--threads 1,2] [--rounds 3] [--only TEXT] [--sizes tiny,cache,beyond]
        [--family NAME] [--below 0.9]

The same lines run in both libraries, in turns. A ratio is PyTorch's time over
hotaru's, the median of the rounds' ratios; `grad` is a call together with the
gradients of all its inputs. Prints the means by family and what is below a
limit, and writes bench-out/sweep.json, which bench/plots/sweep.py draws.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))

import compare  # noqa: E402
from networks import mean, table  # noqa: E402


def listed(options) -> list[tuple[str, str]]:
    """Family and statement of what is asked for; hotaru is imported for it."""
    sys.path.insert(0, str(BENCH.parent / "python"))
    import hotaru

    sys.modules["torch"] = hotaru
    import sweep_list

    return [
        (family, statement)
        for family, statements in sweep_list.families().items()
        for statement in statements
        if options.family in family
        and any(text in statement for text in options.only.split("|"))
    ]


def ratio(workers: dict, request: dict, rounds: int) -> dict:
    """PyTorch's time over hotaru's and both, or why there are none."""
    samples: dict = {name: [] for name in workers}
    for number in range(rounds):
        for name in list(workers)[:: 1 if number % 2 else -1]:
            found = workers[name].ask(request)
            if "seconds" not in found:
                return {"library": name, **found}
            samples[name].append(found["seconds"])
    own, other = samples.values()
    return {
        "ratio": statistics.median(b / a for a, b in zip(own, other)),
        "seconds": statistics.median(own),
    }


def sweep(options, threads: int) -> list[dict]:
    """A row for each statement, size and mode."""
    workers = {
        name: compare.Worker(command, threads, BENCH / "sweep_worker.py")
        for name, command in {
            "hotaru": [sys.executable, "-m", "hotaru"],
            "torch": [options.peer],
        }.items()
    }
    rows = []
    for family, statement in listed(options):
        if options.verbose:
            print(family, statement, file=sys.stderr, flush=True)
        for size in options.sizes.split(","):
            for gradient in (False, True):
                request = {
                    "statement": statement,
                    "size": size,
                    "gradient": gradient,
                    "seconds": options.seconds,
                }
                found = ratio(workers, request, options.rounds)
                # Gradients that PyTorch does not have are not compared.
                lacks = gradient and found.get("library") == "torch"
                if not lacks and "none" not in found:
                    rows.append({"family": family, **request, **found})
    for worker in workers.values():
        worker.close()
    return rows


def show(rows: list[dict], options, threads: int) -> None:
    """Means by family, then what is slower than the limit."""
    print(f"\n{compare.processor()}, {threads} thread(s)\n")
    kinds = [(s, g) for s in options.sizes.split(",") for g in (False, True)]
    titles = [size + (" grad" if gradient else "") for size, gradient in kinds]
    lines = [["family", *titles]]
    families = dict.fromkeys(row["family"] for row in rows)
    for family in (*families, "all"):
        cells = []
        for size, gradient in kinds:
            found = [
                row["ratio"]
                for row in rows
                if family in (row["family"], "all")
                and (row["size"], row["gradient"]) == (size, gradient)
                and "ratio" in row
            ]
            cells.append(mean(found))
        lines.append([family, *cells])
    print(table(lines))
    slow = [row for row in rows if row.get("ratio", 9) < options.below]
    counted = sum("ratio" in row for row in rows)
    print(f"\n{len(slow)} of {counted} below {options.below}:\n")
    for row in sorted(slow, key=lambda row: row["ratio"]):
        grad = " grad" if row["gradient"] else ""
        print(
            f"{row['ratio']:.2f} {row['size']}{grad}: {row['statement']} "
            f"({compare.show_time(row['seconds'])})"
        )
    for row in rows:
        if "error" in row:
            grad = " grad" if row["gradient"] else ""
            print(
                f"{row['library']} {row['size']}{grad}, {row['statement']}: "
                f"{row['error']}"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", required=True, help="python with torch")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.004, help="a turn's")
    parser.add_argument("--sizes", default="tiny,cache,beyond")
    parser.add_argument("--only", default="", help="with TEXT|TEXT in them")
    parser.add_argument("--family", default="")
    parser.add_argument("--verbose", action="store_true", help="say where")
    parser.add_argument("--below", type=float, default=0.9)
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    options = parser.parse_args()
    reports = []
    for threads in map(int, options.threads.split(",")):
        rows = sweep(options, threads)
        show(rows, options, threads)
        reports.append({"threads": threads, "rows": rows})
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / "sweep.json"
    report = {"processor": compare.processor(), "reports": reports}
    target.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nwritten to {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
