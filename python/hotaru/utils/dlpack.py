"""DLPack by the names that it had before it was a protocol."""

from __future__ import annotations

import ctypes
import enum

from .. import Tensor, from_dlpack

__all__ = ["DLDeviceType", "ReadOnlyTensorWrapper", "from_dlpack", "to_dlpack"]


DLDeviceType = enum.IntEnum(
    "DLDeviceType",
    {
        "kDLCPU": 1,
        "kDLCUDA": 2,
        "kDLCUDAHost": 3,
        "kDLOpenCL": 4,
        "kDLVulkan": 7,
        "kDLMetal": 8,
        "kDLVPI": 9,
        "kDLROCM": 10,
        "kDLROCMHost": 11,
        "kDLExtDev": 12,
        "kDLCUDAManaged": 13,
        "kDLOneAPI": 14,
        "kDLWebGPU": 15,
        "kDLHexagon": 16,
        "kDLMAIA": 17,
    },
    module=__name__,
)
"""Where memory is: the first number that `__dlpack_device__` gives."""


def to_dlpack(tensor: Tensor):
    """A capsule that `from_dlpack` of any library takes once."""
    return tensor.__dlpack__()


# DLManagedTensorVersioned: a version, a context and a deleter of 8 bytes each,
# and then the flags, of which this is the first.
_FLAGS_AT, _READ_ONLY = 24, 1


def _marked(capsule):
    """The capsule, which says that its memory is for reading."""
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = (ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p])
    start = find(capsule, b"dltensor_versioned")
    flags = ctypes.c_uint64.from_address(start + _FLAGS_AT)
    flags.value |= _READ_ONLY
    return capsule


_ALLOWED = frozenset(["__class__", "__dlpack__", "__dlpack_device__"])


class ReadOnlyTensorWrapper:
    """A tensor that other libraries may read and not write into: it can be
    handed to them by DLPack, and nothing else.

    RuntimeError: it is asked for anything else.
    """

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"ReadOnlyTensorWrapper: expected a tensor, got {type(tensor)}"
            )
        object.__setattr__(self, "_tensor", tensor)

    def __getattribute__(self, name: str):
        if name not in _ALLOWED:
            raise RuntimeError(
                "ReadOnlyTensorWrapper only supports DLPack export; "
                f"{name!r} is not allowed. Unwrap the tensor to operate on its "
                "data."
            )
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value) -> None:
        self.__getattribute__(name)

    def __dlpack__(self, *, stream=None, max_version=None, **options):
        """A capsule that says that the memory is for reading.

        BufferError: `max_version` is below 1.0, which cannot say so.
        """
        if max_version is None or tuple(max_version) < (1, 0):
            raise BufferError(
                "ReadOnlyTensorWrapper: DLPack before version 1.0 cannot say "
                "that memory is for reading; ask with max_version=(1, 0)"
            )
        tensor = object.__getattribute__(self, "_tensor")
        capsule = tensor.__dlpack__(stream=stream, max_version=max_version, **options)
        return _marked(capsule)

    def __dlpack_device__(self) -> tuple:
        """The kind and index of the device."""
        return object.__getattribute__(self, "_tensor").__dlpack_device__()
