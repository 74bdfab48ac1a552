"""Draws what bench/products.py measured.

    .venv/bin/python bench/plots/products.py bench-out/products.json OUT.svg

A point for each product: above PyTorch's time over hotaru's, below hotaru's
share of the peak; a column a thread count. Hollow: second factor transposed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Most rows of a group, its label and colour.
GROUPS = [
    (1, "1 row", "#c0504d"),
    (16, "4 to 16 rows", "#d9a441"),
    (128, "32 to 128 rows", "#4a9a62"),
    (512, "197 to 512 rows", "#5b84b1"),
]


def points(rows: list[dict], most: int, least: int, key: str) -> list[tuple]:
    """Multiply-adds, value and whether transposed, of a group's products."""
    found = []
    for row in rows:
        m, _, k, _, n = row["task"].split()[:5]
        if least < int(m) <= most and key in row:
            work = int(m) * int(k) * int(n)
            found.append((work, row[key], row["task"].endswith("t")))
    return found


def panel(axes, rows: list[dict], key: str) -> None:
    least = 0
    for most, label, color in GROUPS:
        for hollow in (False, True):
            chosen = [
                point[:2]
                for point in points(rows, most, least, key)
                if point[2] == hollow
            ]
            if chosen:
                axes.scatter(
                    *zip(*chosen),
                    s=22,
                    facecolor="none" if hollow else color,
                    edgecolor=color,
                    label=None if hollow else label,
                )
        least = most
    axes.set_xscale("log")
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def draw(reports: list[dict], target: str | Path) -> None:
    """Writes the picture; `reports` is what bench-out/products.json holds."""
    figure, grid = plt.subplots(
        2,
        len(reports),
        figsize=(4.4 * len(reports), 5.6),
        layout="constrained",
        squeeze=False,
        sharex=True,
        sharey="row",
    )
    for (above, below), report in zip(zip(*grid), reports):
        panel(above, report["rows"], "ratio")
        panel(below, report["rows"], "share")
        above.axhline(1, color="#222222", linewidth=1)
        above.set_yscale("log")
        ticks = [0.5, 1, 2, 4, 8]
        above.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        above.minorticks_off()
        below.set_ylim(0, 1)
        below.set_yticks(
            [0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"]
        )
        threads = report["threads"]
        above.set_title(f"{threads} thread{'s' * (threads > 1)}", fontsize=9)
        below.set_xlabel("multiply-adds of the product", fontsize=8)
    grid[0][0].set_ylabel("PyTorch's time over hotaru's", fontsize=8)
    grid[1][0].set_ylabel("hotaru's share of the FMA peak", fontsize=8)
    grid[1][0].legend(fontsize=7, frameon=False, loc="upper left")
    plt.rcParams["svg.hashsalt"] = "products"  # equal figures, equal files
    plt.rcParams["svg.fonttype"] = "none"
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])
