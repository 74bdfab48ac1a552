"""What pickle and copy do with generators, and their other names."""

from __future__ import annotations

from .._C import Generator


def _rebuilt(device, state, seed: int) -> Generator:
    generator = Generator(device=device)
    generator.manual_seed(seed)
    generator.set_state(state)
    return generator


def __reduce__(self):
    return _rebuilt, (self.device, self.get_state(), self.initial_seed())


Generator.__reduce__ = __reduce__


def clone_state(self) -> Generator:
    """Another generator that goes on from here."""
    return _rebuilt(self.device, self.get_state(), self.initial_seed())


def _no_offset(self, *args):
    """RuntimeError: only the generators of GPUs count what they drew."""
    raise RuntimeError("CPU Generator does not use offset")


Generator.clone_state = clone_state
Generator.get_offset = _no_offset
Generator.set_offset = _no_offset
