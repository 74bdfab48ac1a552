"""Comparisons with PyTorch's results, once more on queued streams."""

import os
import subprocess
import sys
from pathlib import Path


def test_operators_and_layers_on_queued_streams():
    here = Path(__file__).parents[1]
    files = [
        "ops/cases/test_ops_golden.py",
        "nn/test_nn_golden.py",
        "core/dtypes/test_numeric.py",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", "-x"]
        + ["-p", "no:cacheprovider"]
        + [str(here / file) for file in files],
        env={**os.environ, "HOTARU_TEST_QUEUED": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
