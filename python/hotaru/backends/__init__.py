"""What optional libraries offer; none is used."""

from __future__ import annotations


class _Backend:
    def __init__(self, **flags) -> None:
        self.__dict__.update(flags)

    def is_available(self) -> bool:
        return False


cudnn = _Backend(enabled=False, benchmark=False, deterministic=True)
mkldnn = _Backend()
mkl = _Backend()
openmp = _Backend()
mps = _Backend()
cuda = _Backend(matmul=_Backend(allow_tf32=False))
