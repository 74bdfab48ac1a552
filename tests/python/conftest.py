"""Fixtures of the Python tests.

`HOTARU_OVER_TORCH=1` runs the Python part of the package over PyTorch's
operators (see torch_shim.py) instead of the native extension.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

if os.environ.get("HOTARU_OVER_TORCH") == "1":
    import torch_shim

    torch_shim.install()


@pytest.fixture(scope="session")
def hotaru():
    """The package under test."""
    import hotaru

    return hotaru


@pytest.fixture(scope="session")
def oracle():
    """PyTorch, for tests that compare with it; skips where it is missing."""
    return pytest.importorskip(
        "torch",
        reason="PyTorch, the oracle of this test, is not installed here",
    )
