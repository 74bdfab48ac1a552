"""Draws what bench/networks.py measured.

    .venv/bin/python bench/plots/networks.py bench-out/networks.json OUT.svg

A point for each network and engine: its time over hotaru's, right of the line
is slower than hotaru. Above float32, below bfloat16; a column a thread count.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

KINDS = {
    "float32": {
        "eager": ("PyTorch", "#c0504d"),
        "compile": ("torch.compile", "#b0a8b9"),
        "onnxruntime": ("ONNX Runtime", "#5b84b1"),
        "openvino": ("OpenVINO float32", "#4a9a62"),
    },
    "bfloat16": {"openvino own": ("OpenVINO as it comes", "#4a9a62")},
}


def panel(axes, rows: dict, engines: dict, title: str) -> None:
    """Points of all networks, the first on top."""
    for engine, (label, color) in engines.items():
        found = [
            (row[engine]["ratio"], place)
            for place, row in enumerate(rows.values())
            if "ratio" in row.get(engine, {})
        ]
        if found:
            ratios, places = zip(*found)
            axes.scatter(ratios, places, s=16, color=color, label=label)
    axes.axvline(1, color="#222222", linewidth=1)
    axes.set_xscale("log")
    ticks = [0.5, 0.7, 1, 1.5, 2, 3, 4, 6]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    axes.invert_yaxis()
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=9)


def draw(report: dict, target: str | Path) -> None:
    """Writes the picture; `report` is what bench-out/networks.json holds."""
    reports = report["reports"]
    count = len(reports[0]["rows"])
    figure, grid = plt.subplots(
        len(KINDS),
        len(reports),
        figsize=(4.6 * len(reports), 0.26 * count * len(KINDS) + 1.6),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for line, (kind, engines) in zip(grid, KINDS.items()):
        for axes, one in zip(line, reports):
            threads = one["threads"]
            title = f"{kind}, {threads} thread{'s' * (threads > 1)}"
            panel(axes, one["rows"], engines, title)
        if line[0].get_legend_handles_labels()[0]:
            line[0].legend(fontsize=7, frameon=False, loc="lower right")
    for axes in grid[-1]:
        axes.set_xlabel("times hotaru's time", fontsize=8)
    for line in grid:  # shared axes turn together, once is enough
        line[0].set_ylim(count - 0.5, -0.5)
    plt.rcParams["svg.hashsalt"] = "networks"  # equal figures, equal files
    plt.rcParams["svg.fonttype"] = "none"
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])
