"""Draws what bench/graphs.py measured.

    .venv/bin/python bench/plots/graphs.py bench-out/graphs.json OUT.png

A group of bars a model: how many times the graph's time each runtime takes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLORS = {
    "PyTorch eager": "#c0504d",
    "TorchScript": "#e0a070",
    "torch.compile": "#b0a8b9",
    "ONNX Runtime": "#5b84b1",
}


def main(source: str, target: str) -> None:
    report = json.loads(Path(source).read_text())
    rows = report["rows"]
    figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
    width = 0.8 / len(COLORS)
    for i, (name, color) in enumerate(COLORS.items()):
        ratios = [row.get(name, {}).get("ratio", 0) for row in rows]
        places = [n + (i - 1.5) * width for n in range(len(rows))]
        bars = axes.bar(places, ratios, width, color=color, label=name)
        labels = [f"{r:.1f}" if r else "" for r in ratios]
        axes.bar_label(bars, labels, fontsize=6, padding=1)
    axes.axhline(1, color="#222222", linewidth=1)
    axes.text(-0.62, 0.85, "hotaru's graph", fontsize=7)
    axes.set_yscale("log")
    axes.set_ylim(0.7, 90)
    axes.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    axes.set_xticks(
        range(len(rows)),
        [row["task"].replace(", ", "\n").replace(" VAD", "") for row in rows],
        fontsize=8,
    )
    axes.set_xlim(-0.65, len(rows) - 0.4)
    axes.set_ylabel("times as long, batch 1")
    axes.legend(ncols=4, fontsize=8, frameon=False, loc="upper right")
    axes.spines[["top", "right"]].set_visible(False)
    threads = report["threads"]
    axes.set_title(f"{threads} thread{'s' * (threads > 1)}", fontsize=9)
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
