"""The examples do what their texts promise."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[3]
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?")


def test_networks_print_what_pytorch_prints():
    """Up to the last digits: sums are taken in another order.

    tests/golden/networks.txt is the output of `python examples/networks.py`
    with PyTorch 2.13.0.
    """
    golden = (ROOT / "tests/golden/networks.txt").read_text()
    done = subprocess.run(
        [sys.executable, "-m", "hotaru", str(ROOT / "examples/networks.py")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr

    def words(text):
        return NUMBER.sub("#", text).split()

    def numbers(text):
        return np.array([float(n) for n in NUMBER.findall(text)])

    assert words(done.stdout) == words(golden)
    np.testing.assert_allclose(
        numbers(done.stdout), numbers(golden), rtol=0, atol=1.01e-4
    )


def test_streams_overlap_and_agree(tmp_path):
    picture = tmp_path / "overlap.png"
    example = str(ROOT / "examples/streams/overlap.py")
    done = subprocess.run(
        [sys.executable, example, "--picture", str(picture)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "equal to the bit" in done.stdout
    assert re.search(r"matmul .* 600\n", done.stdout)
    assert picture.read_bytes().startswith(b"\x89PNG")
