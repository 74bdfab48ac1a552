"""No arguments, however wrong, bring the process down."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent / "fuzz_calls.py"
SECONDS = 300


def run(log: Path, seed: int, calls: int) -> None:
    process = subprocess.run(
        [sys.executable, str(SCRIPT), str(seed), str(calls)],
        env={**os.environ, "HOTARU_FUZZ_LOG": str(log)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if process.returncode:
        pytest.fail(
            f"exit {process.returncode} in {log.read_text()}\n{process.stderr[-2000:]}"
        )


def test_random_arguments(tmp_path):
    run(tmp_path / "call", seed=1, calls=8)


@pytest.mark.ci
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_more_random_arguments(tmp_path, seed):
    run(tmp_path / "call", seed, calls=25)
