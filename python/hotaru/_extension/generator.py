"""Pickling and copying of generators, and their other names."""

from __future__ import annotations

from .._C import Generator


def __setstate__(self, state: tuple) -> None:
    """Goes on from (seed, offset, state); the offset is that of GPUs."""
    seed, _, numbers = state
    self.manual_seed(seed)
    self.set_state(numbers)


def _rebuilt(device, state, seed: int) -> Generator:
    generator = Generator(device=device)
    generator.manual_seed(seed)
    generator.set_state(state)
    return generator


def __reduce__(self):
    state = self.initial_seed(), None, self.get_state()
    return Generator, (self.device,), state


def clone_state(self) -> Generator:
    """Another generator that goes on from here."""
    return _rebuilt(self.device, self.get_state(), self.initial_seed())


def _no_offset(self, *args):
    """RuntimeError: only the generators of GPUs count what they drew."""
    raise RuntimeError("CPU Generator does not use offset")


def graphsafe_get_state(self) -> Generator:
    """NotImplementedError: graphs of the CPU draw from the generator itself,
    whose state is `get_state`.
    """
    raise NotImplementedError("graphsafe_get_state is not supported in this Generator")


def graphsafe_set_state(self, state: Generator) -> None:
    """NotImplementedError: see `graphsafe_get_state`; use `set_state`."""
    raise NotImplementedError("graphsafe_set_state is not supported in this Generator")


get_offset = set_offset = _no_offset
