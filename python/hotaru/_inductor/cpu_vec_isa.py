"""Vector instructions of the processor, by PyTorch's names for them."""

from __future__ import annotations

from ..__config__ import cpu_capability

__all__ = [
    "InvalidVecISA",
    "VecAVX2",
    "VecAVX512",
    "VecISA",
    "VecNEON",
    "invalid_vec_isa",
    "pick_vec_isa",
    "supported_vec_isa_list",
    "valid_vec_isa_list",
]


class VecISA:
    """A set of vector instructions; true if there is one."""

    _name = ""
    _bit_width = 0

    def bit_width(self) -> int:
        """Bits of a vector."""
        return self._bit_width

    def nelements(self, dtype=None) -> int:
        """Elements of a vector: float32, if no dtype is named."""
        size = 4 if dtype is None else dtype.itemsize
        return self._bit_width // 8 // size

    def __str__(self) -> str:
        return self._name

    def __bool__(self) -> bool:
        return self._bit_width > 0

    def __eq__(self, other) -> bool:
        return isinstance(other, VecISA) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class VecAVX512(VecISA):
    """Vectors of x86 of 512 bits."""

    _name, _bit_width = "avx512", 512


class VecAVX2(VecISA):
    """Vectors of x86 of 256 bits."""

    _name, _bit_width = "avx2", 256


class VecNEON(VecISA):
    """Vectors of ARM of 128 bits."""

    _name, _bit_width = "asimd", 128


class InvalidVecISA(VecISA):
    """No vectors."""

    _name = "INVALID_VEC_ISA"


invalid_vec_isa = InvalidVecISA()
supported_vec_isa_list = [VecAVX512(), VecAVX2(), VecNEON()]
# By the names that `__config__` has, the widest first.
_OF_CAPABILITY = {
    "AVX512": [VecAVX512(), VecAVX2()],
    "AVX2": [VecAVX2()],
    "NEON": [VecNEON()],
}


def valid_vec_isa_list() -> list[VecISA]:
    """Sets that the kernels of this process use, the widest first."""
    return list(_OF_CAPABILITY.get(cpu_capability().upper(), []))


def pick_vec_isa() -> VecISA:
    """The widest one; `invalid_vec_isa` where there is none."""
    return next(iter(valid_vec_isa_list()), invalid_vec_isa)
