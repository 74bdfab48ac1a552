"""Which of HOTARU_SIMD's values a build can take."""

from __future__ import annotations

import pytest

from hotaru import _C

_FROM_THE_LEAST = ("baseline", "avx2", "avx512")
_NAMES = {"AVX2": "avx2", "AVX3": "avx512"}  # Highway's; others are a baseline


def needs_simd(simd: str) -> None:
    """Skips a test whose HOTARU_SIMD leaves out what the library is built for.

    Such a library (`./dev build` without --every-target) ends the process.
    """
    if not _C._simd_is_built_alone() or simd not in _FROM_THE_LEAST:
        return
    name = _C._simd_target_name()
    only = _FROM_THE_LEAST.index(_NAMES.get(name, "baseline"))
    if _FROM_THE_LEAST.index(simd) < only:
        pytest.skip(f"this build is for {name} alone, without {simd}")
