"""Prints what worker.py measured of both libraries; writes results.json.

python table.py FOLDER
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path


def medians(file: Path) -> dict:
    """Each figure's median over the lines, or the text that says why there is
    none; nothing if there is no file.
    """
    lines = file.read_text().splitlines() if file.exists() else []
    runs = [json.loads(line) for line in lines]
    out = {}
    for name in runs[0] if runs else {}:
        values = [run[name] for run in runs if name in run]
        texts = [value for value in values if isinstance(value, str)]
        out[name] = texts[0] if texts else statistics.median(values)
    return out


def shown(value) -> str:
    if value is None:
        return f"{'':12}"
    return f"{value:12.3f}" if not isinstance(value, str) else f"{'failed':>12}"


def better(name: str, ours, theirs) -> str:
    """How much better than PyTorch: above 1 is faster."""
    if any(x is None or isinstance(x, str) for x in (ours, theirs)):
        return f"{'':8}"
    rate = name.endswith("/s")
    return f"{ours / theirs if rate else theirs / ours:8.2f}"


def main() -> None:
    folder = Path(sys.argv[1])
    ours, own, theirs = (
        medians(folder / f"bench-{name}.jsonl") for name in ("hotaru", "own", "torch")
    )
    raw = folder / "raw.json"
    found = {"hotaru": ours, "own": own, "torch": theirs}
    found["raw"] = json.loads(raw.read_text()) if raw.exists() else {}
    (folder / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    print("own: without NVIDIA's libraries; the ratios are speed over PyTorch's")
    print(f"{'':40}{'PyTorch':>12}{'hotaru':>12}{'':8}{'own':>12}")
    for name, value in ours.items():
        other, alone = theirs.get(name), own.get(name)
        print(
            f"{name:40}{shown(other)}{shown(value)}{better(name, value, other)}"
            f"{shown(alone)}{better(name, alone, other)}"
        )
        for text in {x for x in (value, other, alone) if isinstance(x, str)}:
            print(f"    {text}")
    for name, value in found["raw"].items():
        print(f"{'raw ' + name:40}{value:12.3f}")


if __name__ == "__main__":
    main()
