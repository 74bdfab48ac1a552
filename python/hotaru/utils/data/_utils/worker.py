"""A worker process: takes indices from its channel, sends batches back."""

from __future__ import annotations

import contextlib
import math
import os
import random
import select
import signal
import sys
from dataclasses import dataclass
from typing import Any

from .... import _C, Tensor, manual_seed, set_num_threads
from ...._utils import ExceptionWrapper
from . import pipes
from .arena import SMALL_BYTES, Arena
from .channel import Channel
from .fetch import make_fetcher


@dataclass(frozen=True)
class WorkerInfo:
    """Facts about the worker process that asks.

    Attributes:
        id: from 0 to num_workers - 1.
        num_workers: of this iterator.
        seed: of this worker's generators: the iterator's base seed + id.
        dataset: this process's copy.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None
_arena: Arena | None = None


def get_worker_info() -> WorkerInfo | None:
    """Facts about this worker process; None in any other process."""
    return _worker_info


def shared_stack(tensors):
    """The tensors stacked in memory that the parent will see, or None.

    None outside of workers, for small tensors, which travel by value, and
    where `stack` has to decide (gradients, dtypes that differ, classes of the
    program's own, errors).
    """
    first = tensors[0]
    if _arena is None or first.device.type != "cpu":
        return None
    shape = (len(tensors), *first.shape)
    if math.prod(shape) * first.dtype.itemsize <= SMALL_BYTES:
        return None
    for tensor in tensors:
        same = tensor.dtype == first.dtype and tensor.shape == first.shape
        if not same or tensor.requires_grad or type(tensor) is not Tensor:
            return None
    out = _arena.empty(shape, first.dtype)
    if out is not None:
        _C._stack_into(out, list(tensors))
    return out


class EndOfIteration:
    """Sent in place of a batch: the worker's iterable dataset has ended."""


@dataclass
class Resume:
    """Sent to a persistent worker before an epoch; it sends it back.

    Attributes:
        seed: for the data pipe that the dataset is, else None.
    """

    seed: int | None = None


@dataclass
class Job:
    """Instructions that a worker has to know.

    Attributes:
        iterable, dataset, batched, collate, drop_last: as make_fetcher takes.
        base_seed: the iterator's; a worker adds its id.
        init: called with the worker's id first, or None.
        num_workers: of the iterator.
        parent: the process that waits for the batches.
    """

    iterable: bool
    dataset: Any
    batched: bool
    collate: Any
    drop_last: bool
    base_seed: int
    init: Any
    num_workers: int
    parent: int


def main(job: Job, worker: int, connection, inherited) -> None:
    """The body of the worker process number `worker`.

    Args:
        job: what to do.
        worker: its number.
        connection: the socket to the parent.
        inherited: channels of the parent that a fork has left open here.
    """
    for channel in list(inherited):
        channel.close()
    global _arena
    _arena = Arena()
    channel = Channel(connection, _arena)
    # The parent raises a KeyboardInterrupt of its own; a closed channel means
    # that nobody waits for batches any more.
    with contextlib.suppress(KeyboardInterrupt, EOFError, ConnectionError):
        try:
            # The parent has blocked it until here.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            _seed(job.base_seed, worker)
            _serve(job, worker, channel)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _seed(base_seed: int, worker: int) -> None:
    set_num_threads(1)
    random.seed(base_seed + worker)
    manual_seed(base_seed + worker)
    # A dataset that uses numpy has imported it by now.
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(_generate_state(base_seed, worker))


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four numbers of 32 bits that seed a worker's numpy, which makes them."""
    from numpy.random import SeedSequence

    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return [int(word) for word in SeedSequence(entropy).generate_state(4)]


def _serve(job: Job, worker: int, channel: Channel) -> None:
    global _worker_info
    _worker_info = WorkerInfo(
        worker, job.num_workers, job.base_seed + worker, job.dataset
    )
    where = f"in DataLoader worker process {worker}"

    def start():
        return make_fetcher(
            job.iterable, job.dataset, job.batched, job.collate, job.drop_last
        )

    messages = _messages(channel, job.parent)
    fetcher = failure = None
    ended = False
    try:
        if job.init is not None:
            job.init(worker)
        fetcher = start()
    except Exception:
        failure = ExceptionWrapper(where=where)
    for message in messages:
        if isinstance(message, Resume):
            channel.send(message)
            ended = False
            try:
                if message.seed is not None:
                    pipes.seed(job.dataset, message.seed)
                fetcher = fetcher and start()
            except Exception:
                failure = ExceptionWrapper(where=where)
            continue
        if ended:
            continue
        task, index = message
        batch = failure
        if failure is None:
            try:
                batch = fetcher.fetch(index)
            except StopIteration:
                if job.iterable:
                    batch, ended = EndOfIteration(), True
                else:
                    batch = ExceptionWrapper(where=where)
            except Exception:
                batch = ExceptionWrapper(where=where)
        _send(channel, task, batch, where)
        del batch, message, index  # their memory may be used again


def _send(channel: Channel, task: int, batch, where: str) -> None:
    """Sends a batch, or why it cannot be sent."""
    try:
        channel.send((task, batch))
        return
    except ConnectionError:
        raise
    except Exception:
        failure = ExceptionWrapper(where=where)
    if isinstance(batch, ExceptionWrapper):
        failure = batch
        failure.exc_type = RuntimeError  # its own does not travel
    channel.send((task, failure))


def _messages(channel: Channel, parent: int):
    """The parent's messages, until the channel is closed or the parent dead.

    Both are watched: another process that the parent has forked may hold the
    channel's other end.
    """
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    timeout = None
    try:
        poll.register(os.pidfd_open(parent), select.POLLIN)
    except (AttributeError, OSError):
        timeout = 5000  # no such call on this system: look now and then
    first = os.getppid()
    while os.getppid() == first:
        ready = dict(poll.poll(timeout))
        if channel.fileno() in ready:
            yield channel.receive()
        elif ready:
            return
