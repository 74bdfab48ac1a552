"""Times of programs (`.pt2`) beside those of the same models as TorchScript.

    latency_run.py --oracle PYTHON [--folder DIR] [--rounds N]

PyTorch writes both; hotaru loads both and calls them in turn. Printed are the
processor time from loading to the end of the first call, and that of a later
call, of one thread, so that other work on the machine matters little: the
median of the rounds, and of their ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import hotaru as torch

HERE = Path(__file__).resolve().parent
CALLS = 20


def first_call(path: Path, args) -> tuple[float, object]:
    """Milliseconds until a file has given its first result, and its module."""
    begin = time.process_time()
    if path.suffix == ".pt2":
        module = torch.export.load(path).module()
    else:
        module = torch.jit.load(path)
    module(*args)
    return (time.process_time() - begin) * 1e3, module


def microseconds(module, args) -> float:
    begin = time.process_time()
    for _ in range(CALLS):
        module(*args)
    return (time.process_time() - begin) / CALLS * 1e6


def row(name: str, folder: Path, rounds: int) -> str:
    args = torch.load(folder / f"{name}.args")
    paths = [folder / f"{name}.pt2", folder / f"{name}.jit.pt"]
    firsts: list[list] = [[], []]
    for _ in range(max(rounds // 20, 3)):
        found = [first_call(path, args) for path in paths]
        for times, (spent, _) in zip(firsts, found):
            times.append(spent)
    modules = [module for _, module in found]
    for module in modules:  # what later calls compile
        for _ in range(10):
            module(*args)
    later: list[list] = [[], []]
    for i in range(rounds):
        for k in (0, 1) if i % 2 else (1, 0):
            later[k].append(microseconds(modules[k], args))
    cells = []
    for ours, other in (firsts, later):
        ratio = statistics.median(a / b for a, b in zip(ours, other))
        cells += [statistics.median(ours), statistics.median(other), ratio]
    return (
        f"| {name} | {cells[0]:.1f} | {cells[1]:.1f} | {cells[2]:.2f} | "
        f"{cells[3]:.0f} | {cells[4]:.0f} | {cells[5]:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--folder", default=".cache/conformance/latency")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    folder = Path(options.folder)
    if not folder.exists():
        script = str(HERE / "latency_oracle.py")
        subprocess.run(
            [options.oracle, script, options.folder],
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    torch.set_num_threads(1)
    print("| | .pt2 first, ms | TorchScript | ratio | call, µs | | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with torch.no_grad():
        for path in sorted(folder.glob("*.pt2")):
            if options.only in path.stem:
                print(row(path.stem, folder, options.rounds), flush=True)


if __name__ == "__main__":
    sys.exit(main())
