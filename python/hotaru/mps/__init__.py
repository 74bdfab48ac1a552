"""Apple's devices, of which there are none: questions are answered, and
whatever needs a device raises RuntimeError, as a PyTorch for the CPU does.
"""

from __future__ import annotations

from . import profiler
from ._absent import needs_device
from .event import Event

__all__ = [
    "Event",
    "compile_shader",
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "get_rng_state",
    "is_available",
    "load_metallib",
    "manual_seed",
    "profiler",
    "recommended_max_memory",
    "seed",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "synchronize",
]


def is_available() -> bool:
    """Tells whether there is such a device: never."""
    return False


def device_count() -> int:
    """How many there are: none."""
    return 0


def manual_seed(seed: int) -> None:
    """Seeds nothing: a program may say it where there is no device."""
    int(seed)


def seed() -> None:
    """Raises: there is no such device."""
    needs_device("getDefaultGenerator")


def get_rng_state(device="mps"):
    """Raises: there is no such device."""
    needs_device("getDefaultGenerator")


def set_rng_state(new_state, device="mps") -> None:
    """Raises: there is no such device."""
    needs_device("getDefaultGenerator")


def synchronize() -> None:
    """Raises: there is no such device."""
    needs_device("deviceSynchronize")


def empty_cache() -> None:
    """Raises: there is no such device."""
    needs_device("emptyCache")


def set_per_process_memory_fraction(fraction) -> None:
    """Raises: there is no such device."""
    needs_device("setMemoryFraction")


def current_allocated_memory() -> int:
    """Raises: there is no such device."""
    needs_device("getCurrentAllocatedMemory")


def driver_allocated_memory() -> int:
    """Raises: there is no such device."""
    needs_device("getDriverAllocatedMemory")


def recommended_max_memory() -> int:
    """Raises: there is no such device."""
    needs_device("getRecommendedMaxMemory")


def compile_shader(source: str):
    """Raises: shaders are such devices'."""
    _no_shaders()


def load_metallib(source):
    """Raises: shaders are such devices'."""
    _no_shaders()


def _no_shaders():
    raise RuntimeError("MPS is not available (hotaru has no such devices)")


def _is_in_bad_fork() -> bool:
    return False
