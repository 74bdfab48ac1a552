"""Training steps beside PyTorch: the same lines, in turns, in one run.

    .venv/bin/python bench/training.py --peer .venv-peers/bin/python
        [--networks NAME,NAME] [--threads 1,2] [--bfloat16] [--rounds 5]
    ... --losses 200     how far losses are apart after so many steps
    ... --memory         what a step takes at most, each in a fresh process

A step is zero_grad, forward, loss, backward and the optimizer's step. Of
hotaru it runs as eager code and as one graph; of PyTorch as eager code and with
torch.compile(model). A figure is the median of the rounds, a ratio the median
of the rounds' ratios, over hotaru's of the same kind. Prints tables and writes
bench-out/training.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))

import compare  # noqa: E402
from networks import mean, table  # noqa: E402

OWN = ("hotaru eager", "hotaru graph")
EAGER, GRAPH = OWN
PEERS = ("PyTorch", "torch.compile")
WAYS = {EAGER: "eager", GRAPH: "graph", "PyTorch": "eager", "torch.compile": "compile"}


def start(name: str, threads: int, options, **variables) -> compare.Worker:
    """A process that trains in one way."""
    os.environ["TRAINING_WAY"] = WAYS[name]
    os.environ["TRAINING_BFLOAT16"] = "1" if options.bfloat16 else "0"
    os.environ["TRAINING_OPTIONS"] = json.dumps(variables)
    own = [sys.executable, "-m", "hotaru"]
    command = own if name in OWN else [options.peer]
    return compare.Worker(command, threads, BENCH / "training_worker.py")


def measure(workers: dict, network: str, options) -> dict:
    """Seconds of a step in each way, by round."""
    samples: dict = {}
    for name, worker in workers.items():
        answer = worker.ask({"task": network, "seconds": 1e-3})
        if "error" in answer:
            print(f"  without {name}: {answer['error']}", file=sys.stderr)
        else:
            samples[name] = []
    for number in range(options.rounds):
        # Who goes first changes from round to round.
        for name in list(samples)[:: 1 if number % 2 else -1]:
            request = {"task": network, "seconds": options.seconds}
            samples[name].append(workers[name].ask(request)["seconds"])
    for worker in workers.values():
        worker.ask({"drop": network})
    return samples


def ratio(samples: dict, peer: str, own: str) -> float | None:
    if peer not in samples or own not in samples:
        return None
    pairs = zip(samples[peer], samples[own])
    return statistics.median(a / b for a, b in pairs)


def cells(rows: list[dict], what) -> str:
    """One figure for each number of threads."""
    found = [what(row) for row in rows]
    return " / ".join("-" if f is None else f for f in found)


def shown(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def seconds(samples: dict, name: str) -> str | None:
    taken = samples.get(name)
    return taken and compare.show_time(statistics.median(taken))


PAIRS = (
    ("PyTorch", EAGER),
    ("PyTorch", GRAPH),
    ("torch.compile", EAGER),
    ("torch.compile", GRAPH),
)


def show(report: dict) -> str:
    """The table of times."""
    head = [
        f"step, {report['precision']}",
        "hotaru, eager",
        "as a graph",
        "PyTorch over eager",
        "over graph",
        "torch.compile over eager",
        "over graph",
    ]
    lines = [head]
    for network, rows in report["networks"].items():
        line = [network]
        line += [cells(rows, lambda r, n=n: seconds(r, n)) for n in OWN]
        line += [cells(rows, lambda r, p=p: shown(ratio(r, *p))) for p in PAIRS]
        lines.append(line)
    means = ["geometric mean", "", ""]
    for pair in PAIRS:
        columns = zip(*report["networks"].values())
        found = []
        for rows in columns:
            ratios = [ratio(row, *pair) for row in rows]
            found.append(mean([r for r in ratios if r is not None]))
        means.append(" / ".join(found))
    return table([*lines, means])


def losses(options) -> str:
    """How far losses after the steps are from those of eager code."""
    ways = {
        EAGER: (EAGER, {}),
        "graph": (GRAPH, {}),
        "bitwise": (GRAPH, {"bitwise": True}),
        "PyTorch": ("PyTorch", {}),
    }
    ways = {t: way for t, way in ways.items() if way[0] in options.ways}
    lines = [["largest difference of a loss", "first", "last", *list(ways)[1:]]]
    for network in options.networks:
        made = {}
        for title, (name, settings) in ways.items():
            worker = start(name, options.threads[0], options, **settings)
            request = {"losses": network, "steps": options.losses}
            made[title] = worker.ask(request).get("losses")
            worker.close()
        plain = made[EAGER]
        line = [network, f"{plain[0]:.4g}", f"{plain[-1]:.4g}"]
        for title in list(ways)[1:]:
            other = made[title]
            apart = other and max(abs(a - b) for a, b in zip(plain, other))
            line.append("-" if apart is None else f"{apart:.1e}")
        lines.append(line)
        print(" ".join(line), file=sys.stderr)
    return table(lines)


def memory(options) -> str:
    """Memory that a step takes at most."""
    ways = (EAGER, GRAPH, *PEERS)
    lines = [["memory of a step, MB", *ways, "graph over PyTorch"]]
    ratios = []
    for network in options.networks:
        line, made = [network], {}
        for name in ways:
            worker = start(name, options.threads[0], options)
            made[name] = worker.ask({"peak": network}).get("bytes")
            worker.close()
            line.append("-" if made[name] is None else f"{made[name] / 1e6:.0f}")
        share = made[GRAPH] / made["PyTorch"]
        ratios.append(share)
        lines.append([*line, f"{share:.2f}"])
        print(" ".join(lines[-1]), file=sys.stderr)
    most = math.exp(statistics.fmean(map(math.log, ratios)))
    return table([*lines, ["geometric mean", *[""] * len(ways), f"{most:.2f}"]])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True, help="a Python with PyTorch")
    parser.add_argument("--networks", type=lambda t: t.split(","))
    parser.add_argument(
        "--threads", default=[1], type=lambda t: list(map(int, t.split(",")))
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--bfloat16", action="store_true", help="autocast")
    parser.add_argument(
        "--ways", type=lambda t: t.split(","), default=[*WAYS], help=", ".join(WAYS)
    )
    parser.add_argument("--losses", type=int, metavar="STEPS")
    parser.add_argument("--memory", action="store_true")
    return parser.parse_args()


def names(options) -> list[str]:
    """All networks."""
    worker = start(EAGER, 1, options)
    worker.close()
    return worker.tasks


def main() -> int:
    options = parse()
    options.networks = options.networks or names(options)
    if options.losses:
        print(losses(options))
        return 0
    if options.memory:
        print(memory(options))
        return 0
    report: dict = {
        "precision": "bfloat16" if options.bfloat16 else "float32",
        "threads": options.threads,
        "networks": {name: [] for name in options.networks},
    }
    for threads in options.threads:
        workers = {n: start(n, threads, options) for n in options.ways}
        report["versions"] = {n: w.version for n, w in workers.items()}
        for network in options.networks:
            print(f"{threads} thread(s): {network}", file=sys.stderr)
            row = measure(workers, network, options)
            report["networks"][network].append(row)
        for worker in workers.values():
            worker.close()
    print(show(report))
    out = compare.ROOT / "bench-out"
    out.mkdir(exist_ok=True)
    (out / "training.json").write_text(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
