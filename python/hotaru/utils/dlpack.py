"""DLPack by the names that it had before it was a protocol."""

from __future__ import annotations

import enum

from .. import Tensor, from_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


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
