"""ONNX's own test models, of Debian's libonnx-testdata: which of them pass."""

import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path("/usr/share/libonnx-testdata/data")
ROOT = Path(__file__).parents[3]
FAILURES = ROOT / "tests/golden/onnx_testdata_failures.txt"


@pytest.mark.skipif(not CASES.exists(), reason="libonnx-testdata is not there")
def test_the_same_cases_pass_as_before():
    runner = ROOT / "tests/conformance/onnx/run.py"
    command = [sys.executable, runner, "--cases", CASES, "--known", FAILURES]
    run = subprocess.run(
        [*command, "--quiet"], capture_output=True, text=True, timeout=900
    )
    assert run.returncode == 0, run.stdout + run.stderr
    total = int(run.stdout.split(" of ")[1].split()[0])
    assert total == 1072
    assert len(FAILURES.read_text().splitlines()) <= 60
