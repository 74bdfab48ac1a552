"""Collectives by MPI, through mpi4py, on the memory of tensors.

Every collective is one of MPI's non-blocking ones, on the tensors' memory: what
MPI has no datatype for travels as bytes, and is reduced as float32. It goes on
while somebody waits for it, or calls MPI. Unlike those of "gloo", tensors do
not wait by themselves for an asynchronous collective: `Work.wait` does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import timedelta

from ... import (
    Tensor,
    bfloat16,
    complex64,
    complex128,
    empty,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    no_grad,
    uint8,
)
from ... import bool as _bool
from ..._C import DistBackendError
from ..._C import _CollectiveKind as Kind
from ..._C import _ReduceKind as Reduction
from ..polled import Polled
from ..process_group import ProcessGroup, default_pg_timeout

_NAMES = {
    float32: "FLOAT",
    float64: "DOUBLE",
    int8: "INT8_T",
    int16: "INT16_T",
    int32: "INT32_T",
    int64: "INT64_T",
    uint8: "UINT8_T",
    _bool: "C_BOOL",
    complex64: "C_FLOAT_COMPLEX",
    complex128: "C_DOUBLE_COMPLEX",
}
_OPS = {
    Reduction.SUM: "SUM",
    Reduction.AVG: "SUM",
    Reduction.PREMUL_SUM: "SUM",
    Reduction.PRODUCT: "PROD",
    Reduction.MIN: "MIN",
    Reduction.MAX: "MAX",
    Reduction.BAND: "BAND",
    Reduction.BOR: "BOR",
    Reduction.BXOR: "BXOR",
}
_OF_BOOLS = {
    "SUM": "LOR",
    "PROD": "LAND",
    "MIN": "LAND",
    "MAX": "LOR",
    "BAND": "LAND",
    "BOR": "LOR",
    "BXOR": "LXOR",
}


# Variables that a launcher of MPI sets for its processes.
_SIGNS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK")


def is_installed() -> bool:
    """True if mpi4py is installed."""
    from importlib.util import find_spec

    return find_spec("mpi4py") is not None


def is_available() -> bool:
    """True if mpi4py is installed, and a launcher of MPI started this process.

    Libraries ask that to choose a backend; under torchrun each process would be
    a world of its own.
    """
    return any(sign in os.environ for sign in _SIGNS) and is_installed()


def _check_world(size: int) -> None:
    """RuntimeError where another launcher started more processes."""
    told = os.environ.get("WORLD_SIZE", "")
    if size == 1 and told.isdigit() and int(told) > 1:
        raise RuntimeError(
            "the backend 'mpi' has one process here, and WORLD_SIZE is "
            f"{told}: its processes are started by mpirun; under torchrun use "
            "'gloo'"
        )


def _mpi():
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise RuntimeError(
            f"the backend 'mpi' needs the package mpi4py and an MPI: {error}"
        ) from error
    return MPI


class _Handle(Polled):
    """A collective that was begun; `end` comes after MPI's part of it."""

    def __init__(
        self, requests: Sequence, end: Callable[[], None], kept: tuple
    ) -> None:
        self._requests, self._end, self._kept = list(requests), end, kept
        self._source = -1

    def wait(self) -> None:
        """Returns when it is done."""
        MPI = _mpi()
        status = MPI.Status()
        requests, self._requests = self._requests, []
        try:
            for request in requests:
                request.Wait(status)
                self._source = status.Get_source()
        except MPI.Exception as error:
            raise DistBackendError(f"MPI: {error}") from error
        self._finish()

    def _finish(self) -> None:
        end, self._end = self._end, None
        if end is not None:
            end()
        self._kept = ()

    def done(self) -> bool:
        """True if it is done."""
        if self._requests and all(r.Test() for r in self._requests):
            self._requests = []
            self._finish()
        return not self._requests

    def source(self) -> int:
        """The rank that a message came from."""
        return self._source


class _Communicator:
    """Communicator by which `ProcessGroup` begins collectives."""

    def __init__(self, comm, ranks: Sequence[int], timeout) -> None:
        self._comm, self.ranks, self.timeout = comm, list(ranks), timeout

    def shut(self, aborts: bool = False) -> None:
        """Gives the communicator up, if it is not the world's."""
        if self._comm != _mpi().COMM_WORLD:
            self._comm.Free()

    def synchronize(self) -> None:
        """Nothing is queued."""

    @no_grad()
    def issue(
        self, kind, inputs, outputs, reduction, factor, root, tag, timeout, async_op
    ) -> _Handle:
        """One collective, begun; it is over unless `async_op`."""
        call = _Call(self._comm, reduction, factor, root, tag)
        begin = getattr(call, _METHODS[kind])
        requests = begin(list(inputs), list(outputs))
        handle = _Handle(requests, call.end, (call, inputs, outputs))
        if not async_op:
            handle.wait()
        return handle


_METHODS = {
    Kind.ALL_REDUCE: "all_reduce",
    Kind.REDUCE: "reduce",
    Kind.BROADCAST: "broadcast",
    Kind.ALL_GATHER: "all_gather",
    Kind.GATHER: "gather",
    Kind.SCATTER: "scatter",
    Kind.REDUCE_SCATTER: "reduce_scatter",
    Kind.ALL_TO_ALL: "all_to_all",
    Kind.BARRIER: "barrier",
    Kind.SEND: "send",
    Kind.RECEIVE: "receive",
}


class _Call:
    """The MPI calls of one collective, and what is to do after them."""

    def __init__(self, comm, reduction, factor, root: int, tag: int) -> None:
        self._comm, self._root, self._tag = comm, root, tag
        self._reduction, self._factor = reduction, factor
        self._size, self._rank = comm.Get_size(), comm.Get_rank()
        self._after: list[Callable[[], None]] = []
        self._kept: list[Tensor] = []  # whose memory MPI has

    def end(self) -> None:
        """After MPI's part."""
        for step in self._after:
            step()

    # Memory as MPI takes it.

    def _memory(self, tensor: Tensor) -> list:
        MPI = _mpi()
        self._kept.append(tensor)
        name = _NAMES.get(tensor.dtype)
        size = tensor.numel() * tensor.element_size()
        memory = MPI.memory.fromaddress(tensor.data_ptr(), size)
        # Without a count, which would be that of each rank.
        return [memory, MPI.BYTE if name is None else getattr(MPI, name)]

    def _numbers(self, tensor: Tensor) -> Tensor:
        """Returns what is reduced in its place: itself, or in float32."""
        if tensor.dtype in _NAMES:
            return tensor
        if tensor.dtype not in (float16, bfloat16):
            raise ValueError(f"MPI: {tensor.dtype} is not reduced")
        return tensor.float()

    def _op(self, tensor: Tensor):
        name = _OPS[self._reduction]
        if tensor.dtype == _bool:
            name = _OF_BOOLS[name]
        return getattr(_mpi(), name)

    def _scaled(self, tensor: Tensor) -> None:
        if self._reduction == Reduction.PREMUL_SUM:
            tensor.mul_(self._factor)

    def _averaged(self, target: Tensor, numbers: Tensor) -> None:
        if self._reduction == Reduction.AVG:
            if numbers.is_floating_point() or numbers.is_complex():
                numbers.div_(self._size)
            else:
                numbers.div_(self._size, rounding_mode="trunc")
        if numbers is not target:
            target.copy_(numbers)

    def _row(self, tensors: Sequence[Tensor], filled: bool) -> Tensor:
        """Tensors of one size one behind the other: where they lie, if they do
        so there; else a copy, which becomes them at the end unless `filled`.
        """
        first, size = tensors[0], tensors[0].numel()
        step = size * first.element_size()
        if any(t.numel() != size for t in tensors):
            raise ValueError("MPI: tensors of one size are wanted")
        begin = first.data_ptr()
        if first.untyped_storage().nbytes() >= step * len(tensors) and all(
            t.data_ptr() == begin + i * step for i, t in enumerate(tensors)
        ):
            return first.as_strided(
                (len(tensors), size), (size, 1), first.storage_offset()
            )
        row = empty((len(tensors), size), dtype=first.dtype)
        for part, tensor in zip(row, tensors):
            if filled:
                part.copy_(tensor.reshape(-1))
            else:
                self._after.append(
                    lambda part=part, t=tensor: t.copy_(part.view(t.shape))
                )
        return row

    # Collectives.

    def all_reduce(self, inputs, outputs) -> list:
        """In place, one after the other."""
        MPI, requests = _mpi(), []
        for tensor in outputs:
            numbers = self._numbers(tensor)
            self._scaled(numbers)
            requests.append(
                self._comm.Iallreduce(
                    MPI.IN_PLACE, self._memory(numbers), self._op(numbers)
                )
            )
            self._after.append(lambda t=tensor, n=numbers: self._averaged(t, n))
        return requests

    def reduce(self, inputs, outputs) -> list:
        """In place on the root."""
        MPI, tensor = _mpi(), outputs[0]
        numbers = self._numbers(tensor)
        if self._rank != self._root:
            numbers = numbers.clone() if numbers is tensor else numbers
            self._scaled(numbers)
            return [
                self._comm.Ireduce(
                    self._memory(numbers), None, self._op(numbers), self._root
                )
            ]
        self._scaled(numbers)
        self._after.append(lambda: self._averaged(tensor, numbers))
        return [
            self._comm.Ireduce(
                MPI.IN_PLACE, self._memory(numbers), self._op(numbers), self._root
            )
        ]

    def broadcast(self, inputs, outputs) -> list:
        """Sends the root's tensor to all."""
        tensor = (inputs or outputs)[0]
        return [self._comm.Ibcast(self._memory(tensor), self._root)]

    def all_gather(self, inputs, outputs) -> list:
        """All to all, one behind the other."""
        row = self._row(outputs, False)
        return [self._comm.Iallgather(self._memory(inputs[0]), self._memory(row))]

    def gather(self, inputs, outputs) -> list:
        """To the root."""
        there = None
        if self._rank == self._root:
            there = self._memory(self._row(outputs, False))
        return [self._comm.Igather(self._memory(inputs[0]), there, self._root)]

    def scatter(self, inputs, outputs) -> list:
        """From the root."""
        here = None
        if self._rank == self._root:
            here = self._memory(self._row(inputs, True))
        return [self._comm.Iscatter(here, self._memory(outputs[0]), self._root)]

    def reduce_scatter(self, inputs, outputs) -> list:
        """Reduces each part, and gives it to its rank."""
        row = self._numbers(self._row(inputs, True))
        if self._reduction == Reduction.PREMUL_SUM:
            row = row * self._factor
        target = outputs[0]
        numbers = self._numbers(target)
        self._after.append(lambda: self._averaged(target, numbers))
        return [
            self._comm.Ireduce_scatter_block(
                self._memory(row), self._memory(numbers), self._op(numbers)
            )
        ]

    def all_to_all(self, inputs, outputs) -> list:
        """Messages between every two."""
        requests = [
            self._comm.Irecv(self._memory(t), source, _EXCHANGE)
            for source, t in enumerate(outputs)
        ]
        return requests + [
            self._comm.Isend(self._memory(t), target, _EXCHANGE)
            for target, t in enumerate(inputs)
        ]

    def barrier(self, inputs, outputs) -> list:
        """Nothing but that all have come."""
        return [self._comm.Ibarrier()]

    def send(self, inputs, outputs) -> list:
        """To the rank `root`."""
        return [self._comm.Isend(self._memory(inputs[0]), self._root, self._tag)]

    def receive(self, inputs, outputs) -> list:
        """From the rank `root`, or any if it is negative."""
        source = self._root if self._root >= 0 else _mpi().ANY_SOURCE
        return [self._comm.Irecv(self._memory(outputs[0]), source, self._tag)]


_EXCHANGE = 32000  # the tag of all_to_all's messages


class ProcessGroupMPI(ProcessGroup):
    """The processes that mpirun started.

    Raises:
        RuntimeError: mpi4py is not installed.
    """

    def __init__(
        self,
        comm=None,
        ranks: Sequence[int] | None = None,
        timeout=default_pg_timeout,
        name: str = "0",
        desc: str = "default_pg",
    ) -> None:
        if comm is None:
            comm = _mpi().COMM_WORLD
            _check_world(comm.Get_size())
        ranks = range(comm.Get_size()) if ranks is None else ranks
        handle = _Communicator(comm, ranks, timeout)
        super().__init__(handle, comm.Get_rank(), None, name, desc)
        self._comm = comm

    def name(self) -> str:
        """The backend's name."""
        return "mpi"

    def subgroup(
        self, ranks: Sequence[int], name: str, desc: str, timeout: timedelta
    ) -> ProcessGroupMPI:
        """Some of the ranks, in this order; all of those call it."""
        chosen = self._comm.Get_group().Incl(list(ranks))
        tag = int(name) % 32000 if name.isdigit() else hash_of(name)
        comm = self._comm.Create_group(chosen, tag)
        return ProcessGroupMPI(comm, ranks, timeout, name, desc)

    def close(self) -> None:
        """MPI itself ends with the process."""


def hash_of(name: str) -> int:
    """The same number in every process."""
    import zlib

    return zlib.crc32(name.encode()) % 32000
