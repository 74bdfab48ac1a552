"""Duties of a DataLoader to data pipes: it seeds them and deals their parts.

Pipes are imported by whoever makes one, not here.
"""

from __future__ import annotations

from .... import Generator


def is_pipe(dataset) -> bool:
    """Tells whether the dataset is a data pipe."""
    return getattr(type(dataset), "_is_pipe", False)


def shuffled(pipe, shuffle: bool | None):
    """The pipe, told whether to shuffle; perhaps with a shuffler behind it."""
    from ..graph_settings import apply_shuffle_settings

    return apply_shuffle_settings(pipe, shuffle)


def seed(pipe, number: int) -> None:
    """Gives the pipes of the graph seeds that depend on `number` alone.

    So all workers shuffle alike, and their parts do not overlap.
    """
    from ..graph_settings import apply_random_seed

    apply_random_seed(pipe, Generator().manual_seed(number))


class Dealt:
    """A worker's initialisation: it gets its part of the pipe's items."""

    def __init__(self, pipe, num_workers: int, then) -> None:
        self.pipe, self.num_workers, self.then = pipe, num_workers, then

    def __call__(self, worker: int) -> None:
        from ..graph_settings import apply_sharding

        apply_sharding(self.pipe, self.num_workers, worker)
        if self.then is not None:
            self.then(worker)
