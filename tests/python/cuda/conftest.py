"""Tests of CUDA devices; without one they are skipped, and say so."""

from __future__ import annotations

import pytest


@pytest.fixture
def cuda(hotaru):
    """A CUDA device: of a GPU, or in software."""
    if not hotaru.cuda.is_available():
        pytest.skip("no CUDA device (HOTARU_CUDA_DRIVER=soft makes one)")
    return hotaru.device("cuda:0")
