"""Exported programs on both sides: PyTorch writes and runs them, hotaru runs
the same and compares.

    export_run.py --oracle PYTHON [--folder DIR] [--only PART]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--folder", default=".cache/conformance/export")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    chosen = [options.folder, "--only", options.only]
    for python, script in (
        (options.oracle, "export_oracle.py"),
        (sys.executable, "export_subject.py"),
    ):
        status = subprocess.run([python, str(HERE / script), *chosen], env=env)
        if status.returncode != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
