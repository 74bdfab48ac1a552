"""Draws a data-parallel step: what each rank computes, and what travels.

    .venv/bin/python bench/distributed/plot_overlap.py OUT.svg [--ranks 2]

Two lanes a rank, from the profiles of one step (traced_step.py): kernels in the
rank's own thread, and all_reduce beside them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STEP = Path(__file__).with_name("traced_step.py")
COMPUTES, TRAVELS = "#5b84b1", "#d9a441"


def traces(ranks: int) -> list[list[dict]]:
    """The kernels of each rank."""
    launch = [sys.executable, "-m", "hotaru", "-m", "torch.distributed.run"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [*launch, "--standalone", f"--nproc-per-node={ranks}", str(STEP), folder],
            check=True,
        )
        found = []
        for rank in range(ranks):
            text = Path(folder, f"{rank}.json").read_text()
            events = json.loads(text)["traceEvents"]
            found.append([e for e in events if e.get("cat") == "kernel" and e["pid"]])
        return found


def draw(ranks: list[list[dict]], out: str) -> None:
    begin = min(e["ts"] for events in ranks for e in events)
    figure, axes = plt.subplots(figsize=(9, 0.9 + 0.75 * len(ranks)))
    labels, places = [], []
    for rank, events in enumerate(ranks):
        for lane, (name, color) in enumerate(
            (("computes", COMPUTES), ("all_reduce", TRAVELS))
        ):
            bars = [
                ((e["ts"] - begin) / 1000, e["dur"] / 1000)
                for e in events
                if ("all_reduce" in e["name"]) == bool(lane)
            ]
            y = -2.4 * rank - lane
            axes.broken_barh(
                bars, (y - 0.4, 0.8), facecolors=color, edgecolor="white", linewidth=0.4
            )
            labels.append(f"rank {rank} {name}")
            places.append(y)
    axes.set_yticks(places, labels)
    axes.set_xlabel("milliseconds")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    figure.tight_layout()
    figure.savefig(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    draw(traces(options.ranks), options.out)


if __name__ == "__main__":
    main()
