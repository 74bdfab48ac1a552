"""Pipes that join several."""

from __future__ import annotations

from collections.abc import Sized

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import check_pipes
from .forking import DemultiplexerIterDataPipe, ForkerIterDataPipe

__all__ = [
    "ConcaterIterDataPipe",
    "DemultiplexerIterDataPipe",
    "ForkerIterDataPipe",
    "MultiplexerIterDataPipe",
    "ZipperIterDataPipe",
]


class _Joined(IterDataPipe):
    """Base of pipes that are made of several."""

    def _lengths(self) -> list[int]:
        if not all(isinstance(pipe, Sized) for pipe in self.datapipes):
            raise self._no_length()
        return [len(pipe) for pipe in self.datapipes]


@functional_datapipe("concat")
class ConcaterIterDataPipe(_Joined):
    """Gives one pipe's items after another's (functional name: ``concat``).

    Args:
        datapipes: at least one pipe.

    Raises:
        ValueError: no pipes. TypeError: anything else.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> first = dp.iter.IterableWrapper(range(2))
        >>> list(first.concat(dp.iter.IterableWrapper("ab")))
        [0, 1, 'a', 'b']
    """

    def __init__(self, *datapipes: IterDataPipe) -> None:
        check_pipes(datapipes, IterDataPipe)
        self.datapipes = datapipes

    def __iter__(self):
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self) -> int:
        return sum(self._lengths())


@functional_datapipe("zip")
class ZipperIterDataPipe(_Joined):
    """Gives tuples of an item of each pipe (functional name: ``zip``).

    As long as all have some.

    Args:
        datapipes: the pipes.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> first = dp.iter.IterableWrapper(range(3))
        >>> list(first.zip(dp.iter.IterableWrapper("ab")))
        [(0, 'a'), (1, 'b')]
    """

    def __init__(self, *datapipes: IterDataPipe) -> None:
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError(
                "All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`."
            )
        self.datapipes = datapipes

    def __iter__(self):
        yield from zip(*(iter(pipe) for pipe in self.datapipes))

    def __len__(self) -> int:
        return min(self._lengths())


@functional_datapipe("mux")
class MultiplexerIterDataPipe(_Joined):
    """Gives an item of each pipe in turn (functional name: ``mux``).

    As long as all have some.

    Args:
        datapipes: the pipes.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> first = dp.iter.IterableWrapper(range(3))
        >>> list(first.mux(dp.iter.IterableWrapper("ab")))
        [0, 'a', 1, 'b']
    """

    def __init__(self, *datapipes: IterDataPipe) -> None:
        self.datapipes = datapipes

    def __iter__(self):
        for items in zip(*(iter(pipe) for pipe in self.datapipes)):
            yield from items

    def __len__(self) -> int:
        return min(self._lengths()) * len(self.datapipes)
