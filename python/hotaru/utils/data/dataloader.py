"""`DataLoader`: iterates over a dataset in batches."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Iterable
from typing import Any, Callable

from ... import Generator
from ._utils import pipes
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import make_fetcher
from ._utils.worker import get_worker_info
from .dataset import Dataset as Dataset
from .dataset import IterableDataset, _Subscriptable, _T_co
from .iterators import LoaderIterator, SingleProcessIterator, WorkerIterator
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

# PyTorch's names of the iterators, which libraries check against.
_BaseDataLoaderIter = LoaderIterator
_SingleProcessDataLoaderIter = SingleProcessIterator
_MultiProcessingDataLoaderIter = WorkerIterator

_collate_fn_t = Callable[[list[Any]], Any]

__all__ = ["DataLoader", "get_worker_info"]


class _DatasetKind:
    """Numbers of the two kinds of datasets, as libraries compare them."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
        """An object whose `fetch` makes a batch, or one sample."""
        iterable = kind == _DatasetKind.Iterable
        return make_fetcher(iterable, dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler):
    """The sampler of an iterable dataset: it goes on until that ends."""

    def __iter__(self):
        while True:
            yield None


class DataLoader(_Subscriptable[_T_co]):
    """Batches of a dataset's samples.

    Args:
        dataset: of map style (`__getitem__`), an IterableDataset or a data
            pipe, which shuffles itself and of which each worker gives a part.
        batch_size: samples a batch; None gives the samples themselves.
        shuffle: new random order at every iteration.
        sampler: indices in the order wanted. batch_sampler: lists of them.
        num_workers: processes that make batches; 0 makes them in this one.
        collate_fn: makes a batch of a list of samples.
        pin_memory: batches in page-locked memory, where there is a GPU.
        drop_last: leave out an incomplete last batch.
        timeout: seconds to wait for a worker's batch; 0 has no limit.
        worker_init_fn: called with the worker's id in each worker first.
        multiprocessing_context: how workers start ("fork", "spawn",
            "forkserver" or a context); None for Python's default.
        generator: source of the random order and of the workers' seeds.
        prefetch_factor: batches each worker makes in advance; 2.
        persistent_workers: workers live as long as the loader.
        pin_memory_device: deprecated, not used.
        in_order: batches come in the sampler's order, whoever is faster.

    A worker runs on one thread; its generators (`random`, this package's, and
    numpy's if that is imported when the worker starts) are seeded with the
    iteration's base seed plus its id. Tensors of a batch come in shared
    memory that is used again when nobody looks at it any more.

    Raises:
        ValueError, TypeError: options that contradict each other.
        RuntimeError: from the iterator, when a worker died or timed out.
        Whatever a worker raised: the same type, its text with the worker's
            traceback.
    """

    _fixed = False

    def __init__(
        self,
        dataset: Dataset[_T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler | Iterable | None = None,
        batch_sampler: Sampler[list] | Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context=None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor = prefetch_factor
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self.generator = generator

        self._iterable = isinstance(dataset, IterableDataset)
        self._reported_length: int | None = None  # by the iterable dataset
        if self._iterable:
            if pipes.is_pipe(dataset):
                dataset = self.dataset = pipes.shuffled(dataset, shuffle)
                shuffle = None  # the pipe does
            _check_iterable(shuffle, sampler, batch_sampler)
        shuffle = bool(shuffle)
        _check_sampler(sampler, shuffle, batch_size, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
        if sampler is None:
            if self._iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            batched = batch_sampler is not None
            collate_fn = default_collate if batched else default_convert
        self.collate_fn = collate_fn
        self._iterator: WorkerIterator | None = None  # if workers persist
        self._fixed = True
        self.check_worker_number_rationality()

    @property
    def _dataset_kind(self) -> int:
        return _DatasetKind.Iterable if self._iterable else _DatasetKind.Map

    _FIXED_NAMES = (
        "batch_size",
        "batch_sampler",
        "sampler",
        "drop_last",
        "dataset",
        "persistent_workers",
    )

    def __setattr__(self, name: str, value) -> None:
        if self._fixed and name in self._FIXED_NAMES:
            raise ValueError(
                f"{name} attribute should not be set after "
                f"{type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self):
        """How workers start, None for Python's default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context) -> None:
        self._context = _checked_context(context, self.num_workers)

    @property
    def _index_sampler(self):
        """Where the tasks come from: lists of indices, or single ones."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    @property
    def _auto_collation(self) -> bool:
        """True if tasks are lists of indices, of which batches are made."""
        return self.batch_sampler is not None

    @property
    def fetcher_arguments(self) -> tuple:
        """Arguments that make_fetcher takes."""
        return (
            self._iterable,
            self.dataset,
            self._auto_collation,
            self.collate_fn,
            self.drop_last,
        )

    def __len__(self) -> int:
        if not self._iterable:
            return len(self._index_sampler)
        count = self._reported_length = len(self.dataset)
        if self.batch_size is None:
            return count
        if self.drop_last:
            return count // self.batch_size
        return -(-count // self.batch_size)

    def __iter__(self) -> LoaderIterator:
        if self.num_workers == 0:
            return SingleProcessIterator(self)
        if not self.persistent_workers:
            self.check_worker_number_rationality()
            return WorkerIterator(self)
        if self._iterator is None:
            self.check_worker_number_rationality()
            self._iterator = WorkerIterator(self)
        else:
            self._iterator.restart(self)
        return self._iterator

    def check_worker_number_rationality(self) -> None:
        """Warns of more workers than this process may use processors."""
        checked = hasattr(os, "sched_getaffinity")
        most = len(os.sched_getaffinity(0)) if checked else os.cpu_count()
        if self.num_workers == 0 or (most and self.num_workers <= most):
            return
        advice = (
            f"Our suggested max number of worker in current system is {most}"
            f"{'' if checked else ' (`cpuset` is not taken into account)'}, "
            "which is smaller than what this DataLoader is going to create."
            if most
            else "DataLoader is not able to compute a suggested max number of "
            "worker in current system."
        )
        warnings.warn(
            f"This DataLoader will create {self.num_workers} worker processes "
            f"in total. {advice} Please be aware that excessive worker "
            "creation might get DataLoader running slow or even freeze, lower "
            "the worker number to avoid potential slowness/freeze if "
            "necessary.",
            stacklevel=3,
        )


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to "
            "disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in "
            "multiprocessing.let num_workers > 0 to enable multiprocessing, "
            "otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_sampler(
    sampler, shuffle: bool, batch_size: int | None, batch_sampler, drop_last: bool
) -> None:
    """ValueError for options of the order that contradict each other."""
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with "
                "batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually "
            "exclusive with drop_last"
        )


def _check_iterable(shuffle, sampler, batch_sampler) -> None:
    if shuffle not in (False, None):
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified shuffle "
            f"option, but got shuffle={shuffle}"
        )
    for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} "
                f"option, but got {name}={value}"
            )


def _checked_context(context, num_workers: int):
    """A context of multiprocessing, or None."""
    if context is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process "
            f"loading (num_workers > 0), but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        known = multiprocessing.get_all_start_methods()
        if context not in known:
            raise ValueError(
                "multiprocessing_context option should specify a valid start "
                f"method in {known!r}, but got "
                f"multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object "
            "or a string specifying the start method, but got "
            f"multiprocessing_context={context}"
        )
    return context
