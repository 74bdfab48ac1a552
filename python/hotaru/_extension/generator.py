"""What pickle and copy do with generators."""

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
