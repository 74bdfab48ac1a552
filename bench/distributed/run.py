r"""Collectives and data-parallel steps beside PyTorch over Gloo, in turns.

    .venv/bin/python bench/distributed/run.py --peer .venv-peers/bin/python \
        [--sizes 2,4] [--rounds 3] [--seconds 0.5] [--mpi]

With --mpi there is a third column: Open MPI's collectives on hotaru's tensors,
under the mpirun that is installed. A round starts a world of each library, one
after the other; a figure is the median of the rounds' medians, a ratio that of
the rounds' ratios.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")


def launched(command: list[str], size: int, args: list[str]) -> list[str]:
    """By torchrun."""
    return [
        *command,
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc-per-node={size}",
        str(WORKER),
        *args,
    ]


def under_mpirun(command: list[str], size: int, args: list[str]) -> list[str]:
    """By mpirun, for its own collectives."""
    return [
        "mpirun",
        "--allow-run-as-root",
        "--oversubscribe",
        "-np",
        str(size),
        *command,
        str(WORKER),
        *args,
        "mpi",
    ]


def measured(command: list[str]) -> dict:
    """Figures that rank 0 of a world printed, in microseconds."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    raise RuntimeError(f"{command}: {done.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", required=True, help="a Python with PyTorch")
    parser.add_argument("--sizes", default="2,4", help="worlds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", default="0.5", help="for each figure")
    parser.add_argument("--mpi", action="store_true", help="Open MPI, too")
    options = parser.parse_args()
    own = [sys.executable, "-m", "hotaru"]
    for size in map(int, options.sizes.split(",")):
        args = [options.seconds, *(["steps"] if size == 2 else [])]
        commands = {
            "hotaru": launched(own, size, args),
            "PyTorch": launched([options.peer], size, args),
        }
        if options.mpi:
            commands["Open MPI"] = under_mpirun(own, size, args[:1])
        rounds = [
            {name: measured(command) for name, command in commands.items()}
            for _ in range(options.rounds)
        ]
        print_table(size, rounds)


def print_table(size: int, rounds: list[dict]) -> None:
    """Medians in microseconds, and each peer's ratio to ours."""
    peers = list(rounds[0])[1:]
    heads = "".join(f" {peer}, us | ratio |" for peer in peers)
    print(f"\n| {size} processes | hotaru, us |{heads}")
    print("| --- | --- |" + " --- | --- |" * len(peers))
    for name in rounds[0]["hotaru"]:
        ours = statistics.median(r["hotaru"][name] for r in rounds)
        cells = ""
        for peer in peers:
            if name not in rounds[0][peer]:
                cells += " | |"
                continue
            theirs = statistics.median(r[peer][name] for r in rounds)
            ratio = statistics.median(r[peer][name] / r["hotaru"][name] for r in rounds)
            cells += f" {theirs:,.0f} | {ratio:.2f} |"
        print(f"| {name} | {ours:,.0f} |{cells}")
    print_overlap(rounds)


def print_overlap(rounds: list[dict]) -> None:
    """Prints computing and summing, one after the other, over the step."""
    for net in ("resnet18", "gpt"):
        step, summed = f"step of {net}", f"all_reduce of {net}"
        for library in ("hotaru", "PyTorch"):
            if step not in rounds[0][library]:
                return
            share = statistics.median(
                (r[library][f"{step} alone"] + r[library][summed]) / r[library][step]
                for r in rounds
            )
            print(f"overlap of {net}, {library}: {share:.2f}")


if __name__ == "__main__":
    main()
