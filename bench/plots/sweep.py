"""Draws what bench/sweep.py measured.

    .venv/bin/python bench/plots/sweep.py bench-out/sweep.json OUT.png

A point for each operator and size, a row for each family, above calls and below
calls with their gradients: PyTorch's time over hotaru's. Left of the line is
slower than PyTorch. A column a thread count.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLORS = {"tiny": "#b0a8b9", "cache": "#5b84b1", "beyond": "#c0504d"}
LABELS = {"tiny": "512 bytes", "cache": "256 KB, in cache", "beyond": "16 MB, beyond"}
LEAST, MOST = 0.25, 16  # what is outside stands at the edge


def panel(axes, rows: list[dict], families: list[str], title: str) -> None:
    """Points of one mode; sizes beside each other within a family's row."""
    for k, (size, color) in enumerate(COLORS.items()):
        found = [row for row in rows if row["size"] == size and "ratio" in row]
        ratios = [min(max(row["ratio"], LEAST), MOST) for row in found]
        places = [families.index(row["family"]) + (k - 1) / 4 for row in found]
        axes.scatter(
            ratios,
            places,
            s=9,
            color=color,
            alpha=0.6,
            linewidths=0,
            label=LABELS[size],
        )
    axes.axvline(1, color="#222222", linewidth=1)
    axes.set_xscale("log")
    ticks = [0.25, 0.5, 1, 2, 4, 8, 16]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(families)), families, fontsize=7)
    axes.invert_yaxis()
    axes.grid(axis="x", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    slow = sum(row.get("ratio", 1) < 0.9 for row in rows)
    counted = sum("ratio" in row for row in rows)
    axes.set_title(f"{title}: {slow} of {counted} below 0.9", fontsize=9)


def draw(report: dict, target: str | Path) -> None:
    """Writes the picture; `report` is what bench-out/sweep.json holds."""
    reports = report["reports"]
    figure, grid = plt.subplots(
        2, len(reports), figsize=(5.2 * len(reports), 8), squeeze=False
    )
    for column, one in enumerate(reports):
        families = list(dict.fromkeys(row["family"] for row in one["rows"]))
        for line, gradient in enumerate((False, True)):
            panel(
                grid[line][column],
                [row for row in one["rows"] if row["gradient"] is gradient],
                families,
                ("with gradients" if gradient else "calls")
                + f", {one['threads']} thread(s)",
            )
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(
        handles, labels, fontsize=8, frameon=False, ncols=3, loc="lower center"
    )
    figure.suptitle(f"PyTorch's time over hotaru's, {report['processor']}", fontsize=10)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(target)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])
