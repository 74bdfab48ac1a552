"""Pipes that make several of one.

The pipes made, children, share what reads the source and the buffer of what
some of them have yet to read. Iterators of all children belong together:
making a second one of any child begins anew for all.
"""

from __future__ import annotations

import copy as copying
import warnings
from collections import deque
from collections.abc import Callable

from .._decorator import functional_datapipe
from .._iteration import described, refuse
from ..datapipe import IterDataPipe
from ..utils.common import StreamWrapper, check_function

__all__ = ["DemultiplexerIterDataPipe", "ForkerIterDataPipe"]


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe):
    """Several pipes of the same items (functional name: ``fork``).

    What is made is a list of pipes.

    Args:
        datapipe: gives the items.
        num_instances: how many pipes.
        buffer_size: how many items the fastest may be ahead of the slowest;
            -1 has no limit.
        copy: None, "shallow" or "deep": how each gets its items.

    Raises:
        BufferError: from a pipe that is too far ahead.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> first, second = dp.iter.IterableWrapper(range(3)).fork(2)
        >>> list(first), list(second)
        ([0, 1, 2], [0, 1, 2])
    """

    def __new__(
        cls,
        datapipe: IterDataPipe,
        num_instances: int,
        buffer_size: int = 1000,
        copy: str | None = None,
    ):
        _check_count(num_instances)
        if num_instances == 1:
            return datapipe
        shared = _ForkerIterDataPipe(datapipe, num_instances, buffer_size, copy)
        return [_ChildDataPipe(shared, i) for i in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe):
    """Deals the items to several pipes (functional name: ``demux``).

    What is made is a list of pipes.

    Args:
        datapipe: gives the items.
        num_instances: how many pipes.
        classifier_fn: says of an item which one it goes to.
        drop_none: None is an answer, too: to none of them.
        buffer_size: how many items may wait; -1 has no limit.

    Raises:
        ValueError: another answer. BufferError: more items have to wait.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> source = dp.iter.IterableWrapper(range(5))
        >>> even, odd = source.demux(2, lambda x: x % 2)
        >>> list(even), list(odd)
        ([0, 2, 4], [1, 3])
    """

    def __new__(
        cls,
        datapipe: IterDataPipe,
        num_instances: int,
        classifier_fn: Callable,
        drop_none: bool = False,
        buffer_size: int = 1000,
    ):
        _check_count(num_instances)
        check_function(classifier_fn)
        shared = _DemultiplexerIterDataPipe(
            datapipe, num_instances, classifier_fn, drop_none, buffer_size
        )
        return [_ChildDataPipe(shared, i) for i in range(num_instances)]


def _check_count(num_instances: int) -> None:
    if num_instances < 1:
        raise ValueError(
            f"Expected `num_instances` larger than 0, but {num_instances} is found"
        )


class _ChildDataPipe(IterDataPipe):
    """One of the pipes; `main_datapipe` is what they share."""

    def __init__(self, main_datapipe: _Shared, instance_id: int) -> None:
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self):
        return self.main_datapipe.read(self.instance_id)

    def __len__(self) -> int:
        return self.main_datapipe.length()

    def _begin(self) -> int:
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif main._valid_iterator_id == self._valid_iterator_id:
            # This child's turn was taken: a new one begins, for all.
            main._valid_iterator_id += 1
            if not main.is_every_instance_exhausted():
                warnings.warn(
                    "Some child DataPipes are not exhausted when __iter__ is "
                    "called. We are resetting the buffer and each child "
                    "DataPipe will read from the start again.",
                    UserWarning,
                    stacklevel=3,
                )
            main.reset()
        self._valid_iterator_id = main._valid_iterator_id
        self._number_of_samples_yielded = 0
        return self._valid_iterator_id

    def _check(self, turn: int) -> None:
        if (turn, turn) != (
            self._valid_iterator_id,
            self.main_datapipe._valid_iterator_id,
        ):
            refuse(
                "This iterator has been invalidated, because a new iterator "
                "has been created from one of the ChildDataPipes of "
                f"{described(self.main_datapipe)}."
            )


class _Shared(IterDataPipe):
    """State that children share: the source, and who has read how far.

    Subclasses say how an item is found for a child (`_next`, StopIteration
    where there is none left), and forget what waits (`_forget`).
    """

    def __init__(
        self, datapipe: IterDataPipe, count: int, buffer_size: int, name: str
    ) -> None:
        self.main_datapipe, self.num_instances = datapipe, count
        self.buffer_size = buffer_size
        if buffer_size < 0:
            warnings.warn(
                f"Unlimited buffer size is set for `{name}`, please be aware "
                "of OOM at random places",
                UserWarning,
                stacklevel=4,
            )
        self.reset()

    def reset(self) -> None:
        self._source = None
        self._ended = False
        self._stopped = [True] * self.num_instances
        self._forget()

    def is_every_instance_exhausted(self) -> bool:
        """Tells whether all children have read all."""
        return self._ended and all(self._stopped)

    def read(self, child: int):
        """The items of a child."""
        if self._source is None and self._stopped[child]:
            self._source = iter(self.main_datapipe)
            self._ended = False
            self._stopped = [False] * self.num_instances
        try:
            while not self._stopped[child]:
                try:
                    item = self._next(child)
                except StopIteration:
                    return
                yield item
        finally:
            self._stopped[child] = True
            self._left(child)

    def _left(self, child: int) -> None:
        if all(self._stopped):
            self._source = None

    def _from_source(self):
        """The source's next item; StopIteration from the end on."""
        if self._ended:
            raise StopIteration
        try:
            return next(self._source)
        except StopIteration:
            self._ended, self._source = True, None
            raise

    def __getstate__(self) -> dict:
        kept = self.__dict__.copy()
        for name in self._NOT_KEPT:
            del kept[name]
        return kept

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self.reset()

    _NOT_KEPT = ("_source", "_ended", "_stopped", "_waiting")


def _same(item):
    return item


_COPIES = {None: _same, "shallow": copying.copy, "deep": copying.deepcopy}


class _ForkerIterDataPipe(_Shared):
    def __init__(self, datapipe, num_instances, buffer_size, copy) -> None:
        if copy not in _COPIES:
            raise ValueError(
                f"Unknown copy method `{copy}` requested, choose one of None, "
                "`shallow` or `deep`."
            )
        self.copy_fn = _COPIES[copy]
        super().__init__(datapipe, num_instances, buffer_size, "fork")

    _NOT_KEPT = (*_Shared._NOT_KEPT, "_read", "_dropped")

    def _forget(self) -> None:
        self._waiting: deque = deque()
        self._dropped = 0  # how many items were before the first that waits
        self._read = [0] * self.num_instances

    def _next(self, child: int):
        at = self._read[child] - self._dropped
        if at == len(self._waiting):
            self._waiting.append(self._from_source())
        item = self._waiting[at]
        self._read[child] += 1
        if min(self._read) > self._dropped:
            self._waiting.popleft()
            self._dropped += 1
        if 0 <= self.buffer_size < len(self._waiting):
            raise BufferError(
                "ForkerIterDataPipe buffer overflow,buffer size "
                f"{self.buffer_size} is insufficient."
            )
        return self.copy_fn(item)

    def _left(self, child: int) -> None:
        super()._left(child)
        if all(self._stopped):
            StreamWrapper.close_streams(list(self._waiting))
            self._waiting.clear()
            self._dropped = max(self._read)

    def length(self) -> int:
        return len(self.main_datapipe)


class _DemultiplexerIterDataPipe(_Shared):
    def __init__(
        self, datapipe, num_instances, classifier_fn, drop_none, buffer_size
    ) -> None:
        self.classifier_fn, self.drop_none = classifier_fn, drop_none
        super().__init__(datapipe, num_instances, buffer_size, "demux")

    def _forget(self) -> None:
        self._waiting = [deque() for _ in range(self.num_instances)]

    def _next(self, child: int):
        if self._waiting[child]:
            return self._waiting[child].popleft()
        while True:
            item = self._from_source()
            place = self.classifier_fn(item)
            if place is None and self.drop_none:
                StreamWrapper.close_streams(item)
                continue
            if place is None or not 0 <= place < self.num_instances:
                raise ValueError(
                    "Output of the classification fn should be between 0 and "
                    f"{self.num_instances - 1}. {place} is returned."
                )
            if place == child:
                return item
            self._waiting[place].append(item)
            if 0 <= self.buffer_size < sum(map(len, self._waiting)):
                raise BufferError(
                    "DemultiplexerIterDataPipe buffer overflow, buffer size "
                    f"{self.buffer_size} is insufficient."
                )

    def _left(self, child: int) -> None:
        super()._left(child)
        StreamWrapper.close_streams(list(self._waiting[child]))
        self._waiting[child].clear()

    def length(self) -> int:
        raise self._no_length()
