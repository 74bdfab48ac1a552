"""MTIA devices, of which there are none: questions are answered, and whatever
needs a device raises an error, as a PyTorch for the CPU does.
"""

from __future__ import annotations

from . import memory, mtia_graph
from ._absent import begin, needs_device
from .memory import *
from .mtia_graph import *

__all__ = [
    *memory.__all__,
    *mtia_graph.__all__,
    "attach_out_of_memory_observer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "record_memory_history",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "snapshot",
    "stream",
    "synchronize",
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
    """Tells whether such devices compute with bfloat16: they do."""
    return True


def init() -> None:
    """Raises: there is no such device."""
    begin()


def current_stream(device=None):
    """Raises: there is no such device."""
    needs_device("getCurrentDevice")


def default_stream(device=None):
    """Raises: there is no such device."""
    needs_device("getCurrentDevice")


def get_device_capability(device=None) -> tuple[int, int]:
    """Raises: there is no such device."""
    needs_device("getCurrentDevice")


def get_device_properties(device=None) -> dict:
    """Raises: there is no such device."""
    needs_device("getCurrentDevice")


def synchronize(device=None) -> None:
    """Raises: there is no such device."""
    needs_device("getCurrentDevice")


def current_device() -> int:
    """Raises: there is no such device."""
    needs_device("getCurrentDevice")


def empty_cache() -> None:
    """Raises: there is no such device."""
    needs_device("emptyCache")


def set_device(device) -> None:
    """Raises: there is no such device."""
    needs_device("setCurrentDevice")


def snapshot() -> dict:
    """Raises: there is no such device."""
    needs_device("memorySnapshot")


def attach_out_of_memory_observer(observer) -> None:
    """Raises: there is no such device."""
    needs_device("attachOutOfMemoryObserver")


def record_memory_history(
    enabled="all", stacks: str = "python", max_entries: int = 0
) -> None:
    """Records nothing: there is no memory."""


def get_rng_state(device="mtia"):
    """Raises: there is no such device."""
    begin()


def initial_seed() -> int:
    """Raises: there is no such device."""
    begin()


def get_rng_state_all() -> list:
    """States of all devices: none."""
    return []


def manual_seed(seed: int) -> None:
    """Seeds nothing: a program may say it where there is no device."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seeds nothing, as `manual_seed`."""
    int(seed)


def seed() -> None:
    """Seeds nothing, as `manual_seed`."""


def seed_all() -> None:
    """Seeds nothing, as `manual_seed`."""


def set_rng_state(new_state, device="mtia") -> None:
    """Raises: there is no such device."""
    needs_device("getCurrentDevice")


def set_rng_state_all(new_states) -> None:
    """Sets the state of each device."""
    for state in new_states:
        set_rng_state(state)


def set_stream(stream) -> None:
    """Makes a stream the current one; None changes nothing."""
    if stream is not None:
        needs_device("setCurrentStream")


def stream(stream):
    """A block with that stream; raises: there is none."""
    needs_device("getCurrentDevice")


class device:  # noqa: N801
    """A block with another current device; a negative index changes nothing."""

    def __init__(self, device) -> None:
        self.idx = device

    def __enter__(self) -> None:
        none = self.idx is None
        if not none and not (isinstance(self.idx, int) and self.idx < 0):
            needs_device("exchangeDevice")

    def __exit__(self, *failure) -> None:
        pass
