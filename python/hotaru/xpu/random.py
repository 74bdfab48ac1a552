"""Generators of XPU devices: there is none."""

from __future__ import annotations

from ._absent import needs_device

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]


def get_rng_state(device="xpu"):
    """Raises: there is no such device."""
    needs_device()


def initial_seed() -> int:
    """Raises: there is no such device."""
    needs_device()


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


def set_rng_state(new_state, device="xpu") -> None:
    """Sets nothing: there is no generator."""


def set_rng_state_all(new_states) -> None:
    """Sets nothing, as `set_rng_state`."""
