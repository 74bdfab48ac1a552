"""bench/gpu/graphs.py runs whole, with tiny sizes and hotaru alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[4] / "bench/gpu/graphs.py"


def measured(file, *options):
    """Runs it: the text that it printed, and its rows by label."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--json", file, *options],
        # Nothing is compiled.
        env={**os.environ, "HOTARU_CUDA_LIBRARIES": "none"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    groups = json.loads(file.read_text())["rows"].values()
    return done.stdout, {row["label"]: row for rows in groups for row in rows}


def test_every_case_gives_its_figures(tmp_path):
    printed, rows = measured(tmp_path / "graphs.json")
    found = {label: row["hotaru"] for label, row in rows.items()}
    assert [label for label, value in found.items() if value is None] == []
    for label in (
        "replay beyond the launch, ns",
        "decoder step: compile",
        "CNN, Adam: graph",
        "host, more because it moved, ns",
    ):
        assert label in found
        assert label in printed
    assert found["kernels of a replay"] == 12
    assert found["memory of the largest alone, MiB"] > 0
    assert found["captures"] == 20
    assert found["failures"] == 0
    assert found["batches pinned meanwhile"] > 0


def test_a_library_that_cannot_run_leaves_the_other_its_figures(tmp_path):
    printed, rows = measured(
        tmp_path / "graphs.json", "--only", "chain", "--peer", "false"
    )
    assert "chain: the rest, PyTorch: the process ended: 1" in printed
    row = rows["chain / copy"]
    assert row["hotaru"] > 0
    assert row["pytorch"] is None
