"""What optional libraries offer; none is used on the CPU."""

from __future__ import annotations

from .. import _C


class _Backend:
    def __init__(self, **flags) -> None:
        self.__dict__.update(flags)

    def is_available(self) -> bool:
        return False


class _Cuda(_Backend):
    """hotaru's CUDA back end. Flags of `matmul` change nothing: products are
    computed in full precision.
    """

    def is_built(self) -> bool:
        """Whether this build can use CUDA devices, if there are any."""
        try:
            _C._cuda_driver_version()
        except AssertionError:
            return False
        return True

    def is_available(self) -> bool:
        from .. import cuda

        return cuda.is_available()


class _Cudnn(_Backend):
    """CuDNN, which is not used."""

    def version(self) -> None:
        """None: there is none."""


cudnn = _Cudnn(enabled=False, benchmark=False, deterministic=True)
mkldnn = _Backend()
mkl = _Backend()
openmp = _Backend()
mps = _Backend()
cuda = _Cuda(matmul=_Backend(allow_tf32=False))
