"""Programs that hotaru exports, on both sides: hotaru writes and runs them,
PyTorch loads and runs the same and compares.

    own_run.py --oracle PYTHON [--folder DIR] [--only PART]
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
    parser.add_argument("--folder", default=".cache/conformance/export_own")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    chosen = [options.folder, "--only", options.only]
    status = 0
    for python, script in (
        (sys.executable, "own_subject.py"),
        (options.oracle, "own_oracle.py"),
    ):
        run = subprocess.run([python, str(HERE / script), *chosen], env=env)
        status = status or run.returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
