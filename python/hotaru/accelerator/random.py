"""Generators of the device beside the CPU: CUDA's, where there is one."""

from __future__ import annotations

from .. import Tensor, cuda
from ._device import index_of, needs_device

__all__ = ["get_rng_state", "get_rng_state_all", "initial_seed"]


def get_rng_state(device=None, /) -> Tensor:
    """The state of a device's generator, by default the current one's."""
    needs_device()
    return cuda.random.get_rng_state(index_of(device))


def get_rng_state_all() -> list[Tensor]:
    """The states of all devices' generators; of none where there is none."""
    if not cuda.is_available():
        return []
    return cuda.random.get_rng_state_all()


def initial_seed(device=None, /) -> int:
    """The seed that a device's generator had last."""
    needs_device()
    with cuda.device(index_of(device)):
        return cuda.random.initial_seed()
