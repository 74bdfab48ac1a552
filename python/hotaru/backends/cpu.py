"""What this machine's processor can."""

from __future__ import annotations

import functools

__all__ = ["get_cpu_capability"]

# What the kernels of a level are compiled for.
_LEVELS = (
    ("AVX512", {"avx512f", "avx512bw", "avx512vl", "avx512dq", "fma"}),
    ("AVX2", {"avx2", "fma"}),
)


@functools.cache
def get_cpu_capability() -> str:
    """ "AVX512", "AVX2" or "DEFAULT": the widest vectors that there are."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = (line for line in file if line.startswith("flags"))
            flags = set(next(lines, "").split())
    except OSError:
        flags = set()
    for name, needed in _LEVELS:
        if needed <= flags:
            return name
    return "DEFAULT"
