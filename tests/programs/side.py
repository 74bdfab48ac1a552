"""Runs one script of this folder: `python side.py SCRIPT [ARGS]`.

The same seeds for both sides, one thread, no network.
"""

from __future__ import annotations

import os
import random
import runpy
import sys
import warnings
from pathlib import Path

from table import path_of

HERE = Path(__file__).parent


def main() -> None:
    """Seeds both sides alike and runs the script."""
    warnings.filterwarnings("ignore")
    import numpy
    import torch

    torch.set_num_threads(1)
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    script = path_of(sys.argv[1])
    sys.path.insert(0, str(HERE))
    sys.argv = [str(script), *sys.argv[2:]]
    os.environ.setdefault("MPLBACKEND", "Agg")
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
