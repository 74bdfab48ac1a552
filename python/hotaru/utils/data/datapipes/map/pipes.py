"""The pipes of this folder; their names are said without "MapDataPipe"."""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable, Sized

from .._decorator import functional_datapipe
from ..datapipe import DataChunk, IterDataPipe, MapDataPipe
from ..iter.combinatorics import random_seed
from ..iter.grouping import batches
from ..utils.common import check_batch_size, check_function, check_pipes


class SequenceWrapperMapDataPipe(MapDataPipe):
    """Gives the items of a sequence or a mapping, of a deep copy unless told
    otherwise.
    """

    def __init__(self, sequence, deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn(
                    "The input sequence can not be deepcopied, please be aware "
                    "of in-place modification would affect source data",
                    stacklevel=2,
                )

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


def _itself(data):
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """Applies a function to each item (functional name: ``map``).

    Args:
        datapipe: has the items.
        fn: the function.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> dp.map.SequenceWrapper(range(3)).map(lambda x: x * 10)[2]
        20
    """

    def __init__(self, datapipe: MapDataPipe, fn: Callable = _itself) -> None:
        check_function(fn)
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index):
        return self.fn(self.datapipe[index])

    def __len__(self) -> int:
        return len(self.datapipe)


def _checked(datapipes: tuple) -> tuple:
    check_pipes(datapipes, MapDataPipe)
    if not all(isinstance(pipe, Sized) for pipe in datapipes):
        raise TypeError("Expected all inputs to be `Sized`")
    return datapipes


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """One pipe behind the other (functional name: ``concat``).

    The second's items have indices from the first's length on.

    Args:
        datapipes: at least one pipe.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> first = dp.map.SequenceWrapper(range(3))
        >>> first.concat(dp.map.SequenceWrapper("ab"))[3]
        'a'
    """

    def __init__(self, *datapipes: MapDataPipe) -> None:
        self.datapipes = _checked(datapipes)

    def __getitem__(self, index):
        rest = index
        for pipe in self.datapipes:
            if rest < len(pipe):
                return pipe[rest]
            rest -= len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe):
    """Tuples of an item of each pipe (functional name: ``zip``).

    Args:
        datapipes: at least one pipe.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> first = dp.map.SequenceWrapper(range(3))
        >>> first.zip(dp.map.SequenceWrapper("ab"))[1]
        (1, 'b')
    """

    def __init__(self, *datapipes: MapDataPipe) -> None:
        self.datapipes = _checked(datapipes)

    def __getitem__(self, index) -> tuple:
        found = []
        for pipe in self.datapipes:
            try:
                found.append(pipe[index])
            except IndexError as error:
                raise IndexError(
                    f"Index {index} is out of range for one of the input "
                    f"MapDataPipes {pipe}."
                ) from error
        return tuple(found)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Batches of items (functional name: ``batch``).

    Args:
        datapipe: has the items.
        batch_size: how many items a batch has.
        drop_last: leaves out a last batch that is smaller.
        wrapper_class: what a batch is made of, from a list.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> dp.map.SequenceWrapper(range(5)).batch(2)[1]
        [2, 3]
    """

    def __init__(
        self,
        datapipe: MapDataPipe,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class=DataChunk,
    ) -> None:
        check_batch_size(batch_size)
        self.datapipe, self.batch_size = datapipe, batch_size
        self.drop_last, self.wrapper_class = drop_last, wrapper_class

    def __getitem__(self, index):
        batch, first = [], index * self.batch_size
        try:
            for i in range(first, first + self.batch_size):
                batch.append(self.datapipe[i])
        except IndexError as error:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(batch)

    def __len__(self) -> int:
        if isinstance(self.datapipe, Sized):
            return batches(len(self.datapipe), self.batch_size, self.drop_last)
        raise self._no_length()


class ShufflerIterDataPipe(IterDataPipe):
    """The items in a random order (functional name: ``shuffle``).

    It is a pipe that is iterated. The seed of an iteration is that of
    `set_seed`, once, or a random one.

    Args:
        datapipe: has the items.
        indices: those of the items, 0 and up by default.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> pipe = dp.map.SequenceWrapper("abc").shuffle(indices=[0, 2])
        >>> sorted(pipe)
        ['a', 'c']
    """

    def __init__(self, datapipe: MapDataPipe, *, indices: list | None = None) -> None:
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe)) if indices is None else indices)
        self._enabled, self._seed = True, None
        self._rng = random.Random()
        self._left: list = list(self.indices)

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
            for index in self.indices:
                yield self.datapipe[index]
            return
        while self._left:
            yield self.datapipe[self._left.pop()]

    def reset(self) -> None:
        if self._enabled and self._seed is None:
            self._seed = random_seed()
        self._rng.seed(self._seed)
        self._seed = None
        self._left = self._rng.sample(self.indices, len(self.indices))

    def __len__(self) -> int:
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
