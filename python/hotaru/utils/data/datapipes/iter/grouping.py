"""Pipes that make batches, and take them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sized

from .._decorator import functional_datapipe
from ..datapipe import DataChunk, IterDataPipe
from ..utils.common import check_batch_size, check_function

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


def batches(length: int, size: int, drop_last: bool) -> int:
    """How many batches there are of so many items."""
    return length // size if drop_last else -(-length // size)


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Makes batches of items (functional name: ``batch``).

    Args:
        datapipe: gives the items.
        batch_size: how many items a batch has.
        drop_last: leaves out a last batch that is smaller.
        wrapper_class: what a batch is made of, from a list.

    Raises:
        AssertionError: a size below 1.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> list(dp.iter.IterableWrapper(range(5)).batch(2))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        datapipe: IterDataPipe,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class=DataChunk,
    ) -> None:
        check_batch_size(batch_size)
        self.datapipe, self.batch_size = datapipe, batch_size
        self.drop_last, self.wrapper_class = drop_last, wrapper_class

    def __iter__(self):
        batch: list = []
        for item in self.datapipe:
            batch.append(item)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        if isinstance(self.datapipe, Sized):
            return batches(len(self.datapipe), self.batch_size, self.drop_last)
        raise self._no_length()


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """Takes batches apart (functional name: ``unbatch``).

    Args:
        datapipe: gives the batches.
        unbatch_level: so many levels of lists, or all of them with -1.

    Raises:
        ValueError: other negative levels. IndexError: there are fewer.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> nested = dp.iter.IterableWrapper([[0, [1]], [[2]]])
        >>> list(nested.unbatch())
        [0, [1], [2]]
        >>> list(nested.unbatch(-1))
        [0, 1, 2]
    """

    def __init__(self, datapipe: IterDataPipe, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self):
        for item in self.datapipe:
            yield from self._apart(item, self.unbatch_level)

    def _apart(self, item, level: int):
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        if level == 0 or (level == -1 and not isinstance(item, list)):
            yield item
        elif isinstance(item, list):
            for inner in item:
                yield from self._apart(inner, max(level - 1, -1))
        else:
            raise IndexError(
                f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe"
            )


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe):
    """Makes batches of items with one key (functional name: ``groupby``).

    A group is given when it has `group_size` items; when `buffer_size` items
    wait, the largest is, if it has `guaranteed_group_size`, else it is dropped
    with `drop_remaining`, or RuntimeError raised. At the end all are given.
    With `keep_key` as pairs of key and batch.
    """

    def __init__(
        self,
        datapipe: IterDataPipe,
        group_key_fn: Callable,
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        check_function(group_key_fn)
        if group_size is not None and not 0 < group_size <= buffer_size:
            raise AssertionError("group_size must be > 0 and <= buffer_size")
        least = guaranteed_group_size
        if least is not None and (group_size is None or not 0 < least <= group_size):
            raise AssertionError(
                "guaranteed_group_size must be > 0 and <= group_size and "
                "group_size must be set"
            )
        self.datapipe, self.group_key_fn = datapipe, group_key_fn
        self.keep_key, self.max_buffer_size = keep_key, buffer_size
        self.group_size, self.drop_remaining = group_size, drop_remaining
        self.guaranteed_group_size = group_size if least is None else least
        self.wrapper_class = DataChunk
        self.reset()

    def reset(self) -> None:
        self.curr_buffer_size = 0
        self.buffer_elements: dict = defaultdict(list)

    def __iter__(self):
        for item in self.datapipe:
            key = self.group_key_fn(item)
            self.buffer_elements[key].append(item)
            self.curr_buffer_size += 1
            if len(self.buffer_elements[key]) == self.group_size:
                yield self._given(key)
            if self.curr_buffer_size == self.max_buffer_size:
                key = max(
                    self.buffer_elements, key=lambda k: len(self.buffer_elements[k])
                )
                if self._large_enough(key):
                    yield self._given(key)
                else:
                    self._taken(key)
        for key in list(self.buffer_elements):
            yield self._given(key)

    def _taken(self, key) -> list:
        group = self.buffer_elements.pop(key)
        self.curr_buffer_size -= len(group)
        return group

    def _given(self, key):
        group = self.wrapper_class(self._taken(key))
        return (key, group) if self.keep_key else group

    def _large_enough(self, key) -> bool:
        """Tells whether the group may be given; False drops it."""
        group, least = self.buffer_elements[key], self.guaranteed_group_size
        if least is None or len(group) >= least:
            return True
        if not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(group))
        return False
