"""Pipes that change the order."""

from __future__ import annotations

import random
from collections.abc import Sized

from ..... import empty, int64
from ...sampler import Sampler, SequentialSampler
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


def random_seed() -> int:
    """A seed from the package's own generator."""
    return int(empty((), dtype=int64).random_().item())


class SamplerIterDataPipe(IterDataPipe):
    """Gives what a sampler over the pipe gives.

    Raises AssertionError for a pipe without a length.
    """

    def __init__(
        self,
        datapipe: IterDataPipe,
        sampler: type[Sampler] = SequentialSampler,
        sampler_args: tuple | None = None,
        sampler_kwargs: dict | None = None,
    ) -> None:
        if not isinstance(datapipe, Sized):
            raise AssertionError(
                "Sampler class requires input datapipe implemented `__len__`"
            )
        self.datapipe = datapipe
        self.sampler_args = sampler_args or ()
        self.sampler_kwargs = {**(sampler_kwargs or {}), "data_source": datapipe}
        self.sampler = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self) -> int:
        if isinstance(self.sampler, Sized):
            return len(self.sampler)
        raise self._no_length()


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe):
    """Draws items from a buffer that it fills (functional name: ``shuffle``).

    A buffer of all items gives each order with one probability, one of a single
    item none but the given. The seed of an iteration is that of `set_seed`,
    once, or a random one.

    Args:
        datapipe: gives the items.
        buffer_size: how many items the buffer holds.
        unbatch_level: takes batches apart before.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> pipe = dp.iter.IterableWrapper(range(4)).shuffle()
        >>> sorted(pipe)
        [0, 1, 2, 3]
    """

    def __init__(
        self,
        datapipe: IterDataPipe,
        *,
        buffer_size: int = 10000,
        unbatch_level: int = 0,
    ) -> None:
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        if unbatch_level:
            datapipe = datapipe.unbatch(unbatch_level=unbatch_level)
        self.datapipe, self.buffer_size = datapipe, buffer_size
        self._buffer: list = []
        self._enabled, self._seed = True, None
        self._rng = random.Random()

    def set_shuffle(self, shuffle: bool = True):
        """Sets whether it shuffles at all; returns the pipe."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int):
        """The seed of the next iteration; returns the pipe."""
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        for item in self.datapipe:
            if len(self._buffer) < self.buffer_size:
                self._buffer.append(item)
                continue
            at = self._rng.randint(0, len(self._buffer) - 1)
            drawn, self._buffer[at] = self._buffer[at], item
            yield drawn
        while self._buffer:
            at = self._rng.randint(0, len(self._buffer) - 1)
            yield self._buffer.pop(at)

    def __len__(self) -> int:
        if isinstance(self.datapipe, Sized):
            return len(self.datapipe)
        raise self._no_length()

    def reset(self) -> None:
        self._buffer = []
        if self._enabled:
            self._rng.seed(random_seed() if self._seed is None else self._seed)
            self._seed = None
