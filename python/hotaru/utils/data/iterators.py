"""The iterators of `DataLoader`."""

from __future__ import annotations

import multiprocessing
import os
import warnings
import weakref
from collections import deque
from itertools import cycle
from typing import Any

from ... import cuda
from ..._extension.profiled import named_range
from ..._utils import ExceptionWrapper
from ._utils import pipes
from ._utils.fetch import make_fetcher
from ._utils.pin_memory import pin_memory
from ._utils.pool import Pool
from ._utils.worker import EndOfIteration, Job, Resume
from .sampler import fresh_seed


class LoaderIterator:
    """Base class: one pass over a loader's batches."""

    _name = ""  # of a batch in profiles

    def __init__(self, loader) -> None:
        self._dataset = loader.dataset
        self._iterable = loader._iterable
        self._expected = loader._reported_length
        self._sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin = loader.pin_memory and _can_pin(loader)
        self._indices = iter(self._sampler)
        self._pipe_seed = self._seed_pipe(loader)
        # Drawn, whether used or not: later draws are then those of PyTorch.
        self._base_seed = fresh_seed(loader.generator)
        self._yielded = 0

    def _seed_pipe(self, loader) -> int | None:
        """Seeds a data pipe that is iterated for this pass; returns how."""
        if not (self._iterable and pipes.is_pipe(self._dataset)):
            return None
        number = fresh_seed(loader.generator)
        pipes.seed(self._dataset, number)
        return number

    def __iter__(self) -> LoaderIterator:
        return self

    def __next__(self) -> Any:
        with named_range(self._name):
            batch = self._next()
        self._yielded += 1
        if (
            self._iterable
            and self._expected is not None
            and self._yielded > self._expected
        ):
            self._warn_of_length()
        return pin_memory(batch) if self._pin else batch

    def __len__(self) -> int:
        return len(self._sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", self.__class__.__name__)

    def _warn_of_length(self) -> None:
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be "
            f"{self._expected}(when accessing len(dataloader)), but "
            f"{self._yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            text += (
                "For multiprocessing data-loading, this could be caused by "
                "not properly configuring the IterableDataset replica at each "
                "worker. Please see https://pytorch.org/docs/stable/data.html"
                "#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(text, stacklevel=3)


def _can_pin(loader) -> bool:
    if loader.pin_memory_device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be "
            "used as the device,ignore pin_memory_device="
            f"'{loader.pin_memory_device}'.",
            stacklevel=5,
        )
    if cuda.is_available():
        return True
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, "
        "then device pinned memory won't be used.",
        stacklevel=5,
    )
    return False


class SingleProcessIterator(LoaderIterator):
    """Makes each batch when it is asked for."""

    _name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

    def __init__(self, loader) -> None:
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._fetcher = make_fetcher(*loader.fetcher_arguments)

    def _next(self):
        return self._fetcher.fetch(next(self._indices))


class WorkerIterator(LoaderIterator):
    """Lets worker processes make batches in advance.

    Tasks are numbered and go to the workers in turn. With `in_order` batches
    come in the order of their numbers, so that every run gives the same ones.
    """

    _name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

    def __init__(self, loader) -> None:
        super().__init__(loader)
        if loader.prefetch_factor <= 0:
            raise AssertionError(
                "prefetch_factor must be greater than 0 for "
                "MultiProcessingDataLoaderIter"
            )
        self._persistent = loader.persistent_workers
        self._in_order = loader.in_order
        self._limit = loader.prefetch_factor * self._num_workers
        init = loader.worker_init_fn
        if pipes.is_pipe(self._dataset):
            init = pipes.Dealt(self._dataset, self._num_workers, init)
        job = Job(
            *loader.fetcher_arguments,
            base_seed=self._base_seed,
            init=init,
            num_workers=self._num_workers,
            parent=os.getpid(),
        )
        context = loader.multiprocessing_context
        if context is None:
            context = multiprocessing.get_context()
        self._pool = Pool(context, job, loader.timeout)
        self._end = weakref.finalize(self, self._pool.shutdown)
        self._failure: str | None = None  # the text of what ended it
        self._start()

    @property
    def _workers(self) -> list:
        """The processes, for whoever wants their ids."""
        return self._pool.processes

    def _start(self) -> None:
        self._indices = iter(self._sampler)
        self._yielded = 0
        self._next_task = 0
        self._tasks: deque[tuple[int, int]] = deque()  # number and worker
        self._active = [True] * self._num_workers
        self._load = [0] * self._num_workers
        self._turn = cycle(range(self._num_workers))
        for _ in range(self._limit):
            self._hand_out()

    def restart(self, loader) -> None:
        """Begins another pass with the same workers."""
        self._expected = loader._reported_length
        self._pipe_seed = self._seed_pipe(loader)
        self._guard(self._resume)
        self._guard(self._start)

    def _resume(self) -> None:
        for worker in range(self._num_workers):
            self._pool.send(worker, Resume(self._pipe_seed))
        waiting = set(range(self._num_workers))
        while waiting:
            worker, message = self._pool.receive(sorted(waiting))
            if isinstance(message, Resume):
                waiting.discard(worker)

    def _guard(self, action):
        """Runs what fails for good when a worker is dead."""
        if self._failure is not None:
            raise RuntimeError(self._failure)
        try:
            return action()
        except RuntimeError as error:
            if not self._pool.failed:
                raise
            self._failure = str(error)
            self._end()
            raise

    def _hand_out(self) -> None:
        """Gives the next task to the worker whose turn it is."""
        try:
            index = next(self._indices)
        except StopIteration:
            return
        for _ in range(self._num_workers):
            worker = next(self._turn)
            share = self._limit // max(1, sum(self._active))
            if self._active[worker] and (self._in_order or self._load[worker] < share):
                break
        else:
            return
        self._pool.send(worker, (self._next_task, index))
        self._tasks.append((self._next_task, worker))
        self._load[worker] += 1
        self._next_task += 1

    def _next(self):
        return self._guard(self._next_batch)

    def _next_batch(self):
        while True:
            # Tasks of a worker whose dataset has ended are void.
            while self._tasks and not self._active[self._tasks[0][1]]:
                self._tasks.popleft()
            if not self._tasks:
                if not self._persistent:
                    self._end()
                raise StopIteration
            batch, worker = self._receive()
            self._load[worker] -= 1
            if isinstance(batch, EndOfIteration):
                self._active[worker] = False
                self._hand_out()
                continue
            self._hand_out()
            if isinstance(batch, ExceptionWrapper):
                batch.reraise()
            return batch

    def _receive(self):
        """The batch that comes next, and its worker."""
        if self._in_order:
            workers = [self._tasks[0][1]]
        else:
            workers = {w for _, w in self._tasks if self._active[w]}
        worker, (number, batch) = self._pool.receive(list(workers))
        self._tasks.remove((number, worker))
        return batch, worker
