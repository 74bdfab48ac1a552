"""Functions called with a state of the random numbers that was kept."""

from __future__ import annotations

from .. import get_rng_state, set_rng_state


def run_and_save_rng_state(op, *args, **kwargs) -> tuple:
    """The state before, and what the function gives."""
    state = get_rng_state()
    return state, op(*args, **kwargs)


def run_with_rng_state(rng_state, op, *args, **kwargs):
    """Gives what the function gives from that state on; the state after it is
    the one before.
    """
    before = get_rng_state()
    set_rng_state(rng_state)
    try:
        return op(*args, **kwargs)
    finally:
        set_rng_state(before)
