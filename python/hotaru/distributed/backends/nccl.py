"""Lookup of NCCL, which carries tensors of GPUs."""

from __future__ import annotations

import functools
from datetime import timedelta

from ... import _C

DEFAULT_TIMEOUT = timedelta(minutes=10)


@functools.cache
def why_not() -> str:
    """Empty if there is a GPU, and the library."""
    if _C._device_count("cuda") == 0:
        return "there is no CUDA device"
    [library] = _C._cuda_libraries("NCCL")
    return library["why_not"]


def is_available() -> bool:
    """Tells whether tensors of GPUs can go by it; opens the library."""
    return not why_not()
