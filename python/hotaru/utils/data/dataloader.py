"""`DataLoader`: iterates over a dataset in batches, in this process."""

from __future__ import annotations

import hotaru

from ... import Tensor
from .collate import default_collate, default_convert
from .dataset import IterableDataset, _Subscriptable
from .sampler import BatchSampler, RandomSampler, SequentialSampler, fresh_seed


def get_worker_info() -> None:
    """None: there are no worker processes."""
    return


class _Endless:
    """The sampler of an iterable dataset: it goes on until that ends."""

    def __iter__(self):
        while True:
            yield None


class DataLoader(_Subscriptable):
    """Batches of a dataset's samples.

    Args:
        batch_size: samples a batch; None gives the samples themselves.
        shuffle: new random order at every iteration.
        sampler: indices in the order wanted. batch_sampler: lists of them.
        collate_fn: makes a batch of a list of samples.
        pin_memory: batches in page-locked memory, where there is a GPU.
        drop_last: leave out an incomplete last batch.
        generator: source of the random order.

    Raises:
        ValueError: options that contradict each other.
        NotImplementedError: `num_workers` greater than 0.
    """

    _fixed = False

    def __init__(
        self,
        dataset,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler=None,
        batch_sampler=None,
        num_workers: int = 0,
        collate_fn=None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(
            num_workers, timeout, prefetch_factor, persistent_workers
        )
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
        if self._iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError(
                "sampler option is mutually exclusive with shuffle"
            )
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with "
                    "batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually "
                "exclusive with drop_last"
            )
        if sampler is None:
            if self._iterable:
                sampler = _Endless()
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
        self._fixed = True

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

    def __len__(self) -> int:
        if not self._iterable:
            sampler = (
                self.sampler
                if self.batch_sampler is None
                else self.batch_sampler
            )
            return len(sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        if self.drop_last:
            return count // self.batch_size
        return -(-count // self.batch_size)

    def __iter__(self):
        # Not used, but drawn: later draws are then those of PyTorch.
        fresh_seed(self.generator)
        batches = self._iterate() if self._iterable else self._look_up()
        if self.pin_memory and hotaru.cuda.is_available():
            return (_pinned(batch) for batch in batches)
        return batches

    def _look_up(self):
        dataset, collate = self.dataset, self.collate_fn
        if self.batch_sampler is None:
            for index in self.sampler:
                yield collate(dataset[index])
            return
        many = getattr(dataset, "__getitems__", None)
        for indices in self.batch_sampler:
            if many:
                yield collate(many(indices))
            else:
                yield collate([dataset[index] for index in indices])

    def _iterate(self):
        samples = iter(self.dataset)
        if self.batch_sampler is None:
            for sample in samples:
                yield self.collate_fn(sample)
            return
        batch = []
        for sample in samples:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)


def _check_workers(
    num_workers, timeout, prefetch_factor, persistent_workers
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to "
            "disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers > 0:
        raise NotImplementedError(
            "DataLoader: worker processes are not supported yet; pass "
            f"num_workers=0 instead of {num_workers}"
        )
    if prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in "
            "multiprocessing.let num_workers > 0 to enable multiprocessing, "
            "otherwise set prefetch_factor to None."
        )
    if persistent_workers:
        raise ValueError("persistent_workers option needs num_workers > 0")


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


def _pinned(batch):
    if isinstance(batch, Tensor):
        return batch.pin_memory()
    if isinstance(batch, dict):
        return {name: _pinned(value) for name, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_pinned(value) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(_pinned(value) for value in batch)
    return batch
