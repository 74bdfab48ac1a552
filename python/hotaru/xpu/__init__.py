"""XPU devices, of which there are none: questions are answered, and whatever
needs a device raises AssertionError, as a PyTorch for the CPU does.
"""

from __future__ import annotations

from . import graphs, memory, random, streams
from ._absent import needs_device
from .graphs import *
from .memory import *
from .random import *
from .streams import *

default_generators: tuple = ()

__all__ = [
    *graphs.__all__,
    *memory.__all__,
    *random.__all__,
    *streams.__all__,
    "default_generators",
    "streams",
    "StreamContext",
    "can_device_access_peer",
    "clock_rate",
    "current_device",
    "current_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_stream_from_external",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "memory_usage",
    "power_draw",
    "set_device",
    "set_stream",
    "stream",
    "synchronize",
    "temperature",
    "utilization",
]


def is_available() -> bool:
    """Tells whether there is such a device: never."""
    return False


def device_count() -> int:
    """How many there are: none."""
    return 0


def is_initialized() -> bool:
    """Tells whether a device is in use: never."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Tells whether a device computes with bfloat16: there is none."""
    return False


def is_tf32_supported() -> bool:
    """Tells whether a device computes with TF32: there is none."""
    return False


def get_arch_list() -> list[str]:
    """Devices that this build has code for: none."""
    return []


def get_gencode_flags() -> str:
    """Flags of the compiler of such code: none."""
    return ""


def init() -> None:
    """Raises: there is no such device."""
    needs_device()


def current_device() -> int:
    """Raises: there is no such device."""
    needs_device()


def current_stream(device=None):
    """Raises: there is no such device."""
    needs_device()


def can_device_access_peer(device, peer) -> bool:
    """Raises: there is no such device."""
    needs_device()


def get_device_capability(device=None) -> dict:
    """Raises: there is no such device."""
    needs_device()


def get_device_name(device=None) -> str:
    """Raises: there is no such device."""
    needs_device()


def get_device_properties(device=None):
    """Raises: there is no such device."""
    needs_device()


def get_stream_from_external(data_ptr: int, device=None):
    """Raises: there is no such device."""
    needs_device()


def synchronize(device=None) -> None:
    """Raises: there is no such device."""
    needs_device()


def set_device(device) -> None:
    """Raises, but for a negative index, which means none."""
    if not _is_none(device):
        needs_device()


def set_stream(stream) -> None:
    """Makes a stream the current one; None changes nothing."""
    if stream is not None:
        needs_device()


def _is_none(device) -> bool:
    return device is None or (isinstance(device, int) and device < 0)


class device:  # noqa: N801
    """A block with another current device.

    Args:
        device: may be negative or None, which changes nothing.
    """

    def __init__(self, device) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if not _is_none(self.idx):
            needs_device()

    def __exit__(self, *failure) -> None:
        pass


class device_of(device):  # noqa: N801
    """A block with a tensor's device: tensors of others change nothing."""

    def __init__(self, obj) -> None:
        super().__init__(-1)


class StreamContext:
    """A block with another current stream; None changes nothing."""

    def __init__(self, stream) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            needs_device()

    def __exit__(self, *failure) -> None:
        pass


def stream(stream) -> StreamContext:
    """A block with that stream."""
    return StreamContext(stream)


def _needs_pyzes():
    raise ImportError(
        "pyzes is required; install it with 'pip install pyzes'. "
        "(hotaru has no XPU devices that it could tell of)"
    )


def clock_rate(device=None) -> float:
    """Raises: a device and its driver's library would say."""
    _needs_pyzes()


def device_memory_used(device=None) -> int:
    """Raises: a device and its driver's library would say."""
    _needs_pyzes()


def memory_usage(device=None) -> float:
    """Raises: a device and its driver's library would say."""
    _needs_pyzes()


def power_draw(device=None) -> float:
    """Raises: a device and its driver's library would say."""
    _needs_pyzes()


def temperature(device=None) -> float:
    """Raises: a device and its driver's library would say."""
    _needs_pyzes()


def utilization(device=None) -> float:
    """Raises: a device and its driver's library would say."""
    _needs_pyzes()


def _is_in_bad_fork() -> bool:
    return False
