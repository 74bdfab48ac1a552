"""Prints what worker.py measured of both libraries; writes results.json.

python table.py FOLDER
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path


def medians(file: Path) -> dict:
    """Each figure's median over the lines; nothing if there is no file."""
    lines = file.read_text().splitlines() if file.exists() else []
    runs = [json.loads(line) for line in lines]
    return {
        name: statistics.median(run[name] for run in runs)
        for name in (runs[0] if runs else {})
    }


def main() -> None:
    folder = Path(sys.argv[1])
    ours, theirs = (
        medians(folder / f"bench-{name}.jsonl") for name in ("hotaru", "torch")
    )
    raw = folder / "raw.json"
    found = {"hotaru": ours, "torch": theirs}
    found["raw"] = json.loads(raw.read_text()) if raw.exists() else {}
    (folder / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    print(f"{'':28}{'hotaru':>12}{'PyTorch':>12}{'ratio':>8}")
    for name, value in ours.items():
        other = theirs.get(name)
        right = f"{other:12.3f}{value / other:8.2f}" if other else ""
        print(f"{name:28}{value:12.3f}{right}")
    for name, value in found["raw"].items():
        print(f"{'raw ' + name:28}{value:12.3f}")


if __name__ == "__main__":
    main()
