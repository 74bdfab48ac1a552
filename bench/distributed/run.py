r"""Collectives and data-parallel steps beside PyTorch over Gloo, in turns.

    .venv/bin/python bench/distributed/run.py --peer .venv-peers/bin/python \
        [--sizes 2,4] [--rounds 3] [--seconds 0.5]

A round starts a world of each library, one after the other; a figure is the
median of the rounds' medians, a ratio that of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")


def measured(command: list[str], size: int, args: list[str]) -> dict:
    """What rank 0 of a world printed, in microseconds."""
    done = subprocess.run(
        [
            *command, "-m", "torch.distributed.run", "--standalone",
            f"--nproc-per-node={size}", str(WORKER), *args,
        ],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    raise RuntimeError(f"{command}: {done.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--peer", required=True, help="a Python with PyTorch")
    parser.add_argument("--sizes", default="2,4", help="worlds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", default="0.5", help="for each figure")
    options = parser.parse_args()
    own = [sys.executable, "-m", "hotaru"]
    for size in map(int, options.sizes.split(",")):
        args = [options.seconds, *(["steps"] if size == 2 else [])]
        rounds = [
            (measured(own, size, args), measured([options.peer], size, args))
            for _ in range(options.rounds)
        ]
        print(f"\n| {size} processes | hotaru, us | PyTorch, us | ratio |")
        print("| --- | --- | --- | --- |")
        for name in rounds[0][0]:
            ours = statistics.median(own[name] for own, _ in rounds)
            theirs = statistics.median(peer[name] for _, peer in rounds)
            ratio = statistics.median(p[name] / o[name] for o, p in rounds)
            print(f"| {name} | {ours:,.0f} | {theirs:,.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
