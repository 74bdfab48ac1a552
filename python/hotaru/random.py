"""Random state of the CPU generator."""

from __future__ import annotations

import contextlib

from ._C import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed",
    "manual_seed", "seed", "set_rng_state",
]  # fmt: skip


@contextlib.contextmanager
def fork_rng(devices=None, enabled: bool = True):
    """Restores the generator's state at the end."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)
