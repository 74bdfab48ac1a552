"""Processes that work together: PyTorch's ProcessGroup.

Tensors are the CPU's. What is asynchronous runs beside the caller, and whoever
uses the tensors meanwhile waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from enum import Enum

from .. import _C, no_grad
from .._C import Tensor, _ReduceKind
from .._C import _CollectiveKind as Kind
from .options import (
    AllgatherOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
    milliseconds,
)
from .reduce_op import ReduceOp, kind_of

default_pg_timeout = timedelta(minutes=30)

_KINDS = {kind: _ReduceKind(kind.value) for kind in ReduceOp.RedOpType}


class Work:
    """A collective that was begun.

    `wait` and every use of the tensors return when it is done.
    """

    def __init__(self, handle=None, result=(), after=()) -> None:
        self._handle = handle if handle is not None else _C._CollectiveWork()
        self._result = list(result)
        self._after = after  # events

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True when it is done; its error, or RuntimeError after `timeout`."""
        count = milliseconds(timeout)
        if count < 0:
            self._handle.wait()
        elif not self._handle.wait_for(timeout):
            raise RuntimeError("Operation timed out!")
        for event in self._after:
            event.synchronize()
        return True

    def synchronize(self) -> None:
        """The same as `wait`."""
        self.wait()

    def is_completed(self) -> bool:
        """Whether it is done, or has failed."""
        return self._handle.done() and all(e.query() for e in self._after)

    def exception(self) -> BaseException | None:
        """Its error, once it is done."""
        if self.is_completed():
            try:
                self.wait()
            except Exception as error:
                return error
        return None

    def is_success(self) -> bool:
        """Whether it is done and has not failed."""
        return self.is_completed() and self.exception() is None

    def result(self) -> list[Tensor]:
        """The tensors that are written."""
        return self._result

    def source_rank(self) -> int:
        """The rank of the group that a message came from."""
        return self._handle.source()

    def _source_rank(self) -> int:
        return self.source_rank()

    def get_future(self):
        """A Future of the tensors that are written."""
        if self._after:
            self.wait()
        return self._handle.future(self._result)


class BackendType(Enum):
    """What carries collectives."""

    UNDEFINED = 0
    GLOO = 1
    NCCL = 2
    UCC = 3
    MPI = 4
    XCCL = 5
    CUSTOM = 6


class ProcessGroup:
    """Some ranks of a world, this process's among them.

    Every process of it calls the same methods in the same order. A process
    that dies, hangs longer than the timeout or calls something else makes the
    others' calls raise DistBackendError, which names it; the group is of no
    use afterwards. Thread-safe.
    """

    BackendType = BackendType
    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, CUSTOM = BackendType

    def __init__(self, handle, rank: int, store, name: str, desc: str) -> None:
        self._handle = handle
        self._rank = rank
        self._size = len(handle.ranks)
        self._store = store
        self._sequence = 0
        self.group_name = name
        self.group_desc = desc

    def rank(self) -> int:
        """This process's number in the group."""
        return self._rank

    def size(self) -> int:
        """How many processes there are."""
        return self._size

    def name(self) -> str:
        """The backend's name."""
        return "gloo"

    def get_group_store(self):
        """What the group found itself through."""
        return self._store

    def __repr__(self) -> str:
        """Its name and ranks."""
        return (
            f"<ProcessGroup {self.group_name!r}: rank {self._rank} of "
            f"{self._handle.ranks}>"
        )

    def _get_backend_name(self) -> str:
        return self.name()

    def _get_backend(self, device) -> ProcessGroup:
        return self

    @property
    def _device_types(self) -> list:
        from .. import device

        return [device("cpu")]

    def _get_sequence_number_for_group(self) -> int:
        return self._sequence

    def _set_sequence_number_for_group(self) -> None:
        """Ranks count alike from the beginning."""

    def set_timeout(self, timeout: timedelta) -> None:
        """How long collectives that say nothing else take at most."""
        if milliseconds(timeout) > 0:
            self._handle.timeout = timeout

    @property
    def _timeout(self) -> timedelta:
        return self._handle.timeout

    def shutdown(self) -> None:
        """Ends the group; what is under way fails."""
        self._handle.shut()

    abort = shutdown

    def _issue(
        self, kind, inputs=(), outputs=(), op=ReduceOp.SUM, root=0, tag=0,
        timeout=None, async_op=False, result=None,
    ) -> Work | None:  # fmt: skip
        """One collective; a Work, or None where it is done already."""
        if kind not in (Kind.SEND, Kind.RECEIVE):
            self._sequence += 1
        reduction, factor = kind_of(op)
        strided = [t for t in outputs if not t.is_contiguous()]
        places = [
            t if t.is_contiguous() else t.detach().contiguous() for t in outputs
        ]
        handle = self._handle.issue(
            kind,
            [
                t if t.is_contiguous() else t.detach().contiguous()
                for t in inputs
            ],
            places,
            _KINDS[reduction],
            factor,
            root,
            tag,
            milliseconds(timeout),
            async_op,
        )
        after = ()
        if strided:
            after = _copy_back(outputs, places, async_op)
        if not async_op and kind is not Kind.RECEIVE:
            return None
        return Work(handle, outputs if result is None else result, after)

    # Those of PyTorch's C++ class: lists with one tensor of this process.

    def allreduce(self, tensors, opts=None, **kwargs) -> Work:
        """Every process's tensor becomes the reduction of all."""
        opts = _options(AllreduceOptions, opts, "reduceOp", kwargs)
        return self._collective(Kind.ALL_REDUCE, (), _one(tensors), opts)

    def allreduce_coalesced(self, tensors, opts=None) -> Work:
        """The same for each of several tensors, of one dtype."""
        opts = _options(AllreduceOptions, opts, "reduceOp", {})
        works = [
            self._collective(Kind.ALL_REDUCE, (), [t], opts) for t in tensors
        ]
        return _last(works, tensors)

    def broadcast(self, tensors, opts=None, **kwargs) -> Work:
        """Every process's tensor becomes the root's."""
        opts = _options(BroadcastOptions, opts, "rootRank", kwargs)
        tensor = _one(tensors)
        mine = opts.rootRank == self._rank
        return self._collective(
            Kind.BROADCAST, tensor if mine else (), () if mine else tensor,
            opts, tensor,
        )  # fmt: skip

    def reduce(self, tensors, opts=None, **kwargs) -> Work:
        """The root's tensor becomes the reduction; others' are undefined."""
        opts = _options(ReduceOptions, opts, "rootRank", kwargs)
        return self._collective(Kind.REDUCE, (), _one(tensors), opts)

    def allgather(self, output_tensors, input_tensors, opts=None) -> Work:
        """Each process gets a list of all their tensors."""
        opts = opts or AllgatherOptions()
        outputs = output_tensors
        if outputs and not isinstance(outputs[0], Tensor):
            outputs = _only(outputs)
        inputs = input_tensors
        if isinstance(inputs, Tensor):
            inputs = [inputs]
        return self._collective(
            Kind.ALL_GATHER, _one(inputs), outputs, opts, [list(outputs)]
        )

    def allgather_coalesced(self, output_lists, input_list, opts=None) -> Work:
        """all_gather of each of several tensors."""
        opts = opts or AllgatherOptions()
        works = [
            self.allgather([outputs], [given], opts)
            for outputs, given in zip(
                zip(*output_lists, strict=True), input_list, strict=True
            )
        ]
        return _last(works, output_lists)

    def _allgather_base(self, output, input, opts=None) -> Work:
        """Their tensors one after the other, in one."""
        opts = opts or AllgatherOptions()
        if output.numel() != input.numel() * self._size:
            raise ValueError(
                "output tensor size must be equal to world_size times input "
                "tensor size"
            )
        whole, parts = _parts(output, self._size)
        work = self._collective(Kind.ALL_GATHER, [input], parts, opts, [output])
        return _written_back(work, output, whole, opts.asyncOp)

    all_gather_single = _allgather_base

    def gather(
        self, output_tensors, input_tensors, opts=None, **kwargs
    ) -> Work:
        """The root gets a list of all their tensors."""
        opts = _options(GatherOptions, opts, "rootRank", kwargs)
        outputs = ()
        if opts.rootRank == self._rank:
            outputs = _only(output_tensors)
        return self._collective(
            Kind.GATHER, _one(input_tensors), outputs, opts, [list(outputs)]
        )

    def scatter(
        self, output_tensors, input_tensors, opts=None, **kwargs
    ) -> Work:
        """Each process gets one tensor of the root's list."""
        opts = _options(ScatterOptions, opts, "rootRank", kwargs)
        inputs = ()
        if opts.rootRank == self._rank:
            inputs = _only(input_tensors)
        return self._collective(
            Kind.SCATTER, inputs, _one(output_tensors), opts
        )

    def reduce_scatter(
        self, output_tensors, input_tensors, opts=None, **kwargs
    ) -> Work:
        """Each process gets the reduction of the tensors for it."""
        opts = _options(ReduceScatterOptions, opts, "reduceOp", kwargs)
        return self._collective(
            Kind.REDUCE_SCATTER, _only(input_tensors), _one(output_tensors),
            opts,
        )  # fmt: skip

    def _reduce_scatter_base(self, output, input, opts=None) -> Work:
        """The same of parts of one tensor."""
        opts = opts or ReduceScatterOptions()
        if input.numel() != output.numel() * self._size:
            raise ValueError(
                "input tensor must be the same size as output size times world "
                "size"
            )
        _, parts = _parts(input, self._size)
        return self._collective(Kind.REDUCE_SCATTER, parts, [output], opts)

    reduce_scatter_single = _reduce_scatter_base

    def alltoall(self, output_tensors, input_tensors, opts=None) -> Work:
        """Each process sends the i-th tensor to the i-th process."""
        opts = opts or AllToAllOptions()
        return self._collective(
            Kind.ALL_TO_ALL, input_tensors, output_tensors, opts
        )

    def alltoall_base(
        self, output, input, output_split_sizes, input_split_sizes, opts=None
    ) -> Work:
        """The same of parts of one tensor, as many rows as the lists say."""
        opts = opts or AllToAllOptions()
        _, inputs = _split(input, input_split_sizes, self._size)
        whole, outputs = _split(output, output_split_sizes, self._size)
        work = self._collective(
            Kind.ALL_TO_ALL, inputs, outputs, opts, [output]
        )
        return _written_back(work, output, whole, opts.asyncOp)

    all_to_all_single = alltoall_base

    def send(self, tensors, dst: int, tag: int = 0) -> Work:
        """Sends to a rank of the group."""
        return self._issue(
            Kind.SEND, _one(tensors), (), root=dst, tag=tag, async_op=True,
            result=tensors,
        )  # fmt: skip

    def recv(self, tensors, src: int, tag: int = 0) -> Work:
        """Receives from a rank of the group."""
        return self._issue(
            Kind.RECEIVE, (), _one(tensors), root=src, tag=tag, async_op=True
        )

    def recv_anysource(self, tensors, tag: int = 0) -> Work:
        """Receives from whoever sends first."""
        return self.recv(tensors, -1, tag)

    def barrier(self, opts=None, **kwargs) -> Work:
        """Done when every process has come."""
        return self._collective(Kind.BARRIER, (), (), opts or BarrierOptions())

    def monitored_barrier(
        self, timeout: timedelta | None = None, wait_all_ranks: bool = False
    ) -> None:
        """A barrier whose error on rank 0 names who has not come."""
        from .monitored import monitored_barrier

        monitored_barrier(self, timeout or self._timeout, wait_all_ranks)

    def _collective(self, kind, inputs, outputs, opts, result=None) -> Work:
        return self._issue(
            kind,
            inputs,
            outputs,
            getattr(opts, "reduceOp", ReduceOp.SUM),
            getattr(opts, "rootRank", 0),
            0,
            opts.timeout,
            opts.asyncOp,
            result,
        ) or Work(result=outputs if result is None else result)


class ProcessGroupGloo(ProcessGroup):
    """A world: connects with all others that have the same store.

    Raises:
        DistBackendError: not all have come before the timeout, and who.
    """

    class _Options:
        """The timeout; devices are taken and not looked at."""

        def __init__(self) -> None:
            self._timeout = default_pg_timeout
            self._devices = []
            self._threads = 2
            self.global_ranks_in_group = []
            self.group_name = ""

    Options = _Options

    def __init__(
        self, store, rank: int, size: int, timeout=default_pg_timeout,
        name: str = "0", desc: str = "default_pg",
    ) -> None:  # fmt: skip
        if isinstance(timeout, ProcessGroupGloo._Options):
            timeout = timeout._timeout
        self._mesh = _C._meet(store, rank, size, timeout)
        handle = self._mesh.open(name, list(range(size)), rank, timeout)
        super().__init__(handle, rank, store, name, desc)

    def subgroup(
        self, ranks: Sequence[int], name: str, desc: str, timeout: timedelta
    ) -> ProcessGroup:
        """Some of the ranks, this process's among them, in this order."""
        rank = ranks.index(self._rank)
        handle = self._mesh.open(name, list(ranks), rank, timeout)
        return ProcessGroup(handle, rank, self._store, name, desc)

    def close(self) -> None:
        """Says goodbye to all others; every group of theirs ends here."""
        self._mesh.close()

    @staticmethod
    def create_device(hostname: str = "", interface: str = "", lazy_init=None):
        """Stands for Gloo's device; $GLOO_SOCKET_IFNAME names an interface."""
        return (hostname, interface)

    create_default_device = create_device


def _options(cls, given, what: str, kwargs: dict):
    """Options; a bare value is the one that the method is mostly asked for."""
    if isinstance(given, cls):
        return given
    options = cls()
    if given is not None:
        setattr(options, what, given)
    for name, value in kwargs.items():
        setattr(
            options,
            {"root": "rootRank", "op": "reduceOp"}.get(name, name),
            value,
        )
    return options


def _one(tensors) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        return [tensors]
    if len(tensors) != 1:
        raise ValueError(
            f"a process gives one tensor to a collective, not {len(tensors)}"
        )
    return list(tensors)


def _only(lists) -> list[Tensor]:
    if len(lists) == 1 and not isinstance(lists[0], Tensor):
        return list(lists[0])
    if lists and isinstance(lists[0], Tensor):
        return list(lists)
    raise ValueError(f"expected one list of tensors, not {len(lists)}")


def _last(works: list[Work], result) -> Work:
    return Work(
        works[-1]._handle if works else None,
        result,
        [event for work in works for event in work._after],
    )


def _parts(tensor: Tensor, count: int) -> tuple[Tensor, list[Tensor]]:
    """The tensor, contiguous, and its equal parts."""
    whole = tensor.detach().contiguous()
    flat, size = whole.view(-1), whole.numel() // count
    return whole, [flat[i * size : (i + 1) * size] for i in range(count)]


def _split(
    tensor: Tensor, sizes: Sequence[int] | None, count: int
) -> tuple[Tensor, list[Tensor]]:
    """The tensor, contiguous, and as many of its rows for each process."""
    whole = tensor.detach().contiguous()
    rows = whole.size(0) if whole.dim() else 1
    if not sizes:
        if rows % count:
            raise ValueError(
                "Tensor's dim 0 does not divide equally across group size"
            )
        sizes = [rows // count] * count
    if len(sizes) != count:
        raise ValueError("Number of tensor splits not equal to group size")
    if sum(sizes) != rows:
        raise ValueError("Split sizes doesn't match total dim 0 size")
    return whole, list(whole.split(list(sizes)))


@no_grad()
def _copy_back(targets, places, async_op: bool) -> tuple:
    """Into tensors with strides, when their contents have come."""
    if not async_op:
        for target, place in zip(targets, places, strict=True):
            if target is not place:
                target.detach().copy_(place)
        return ()
    from .. import cpu

    with cpu.stream(cpu.Stream()):
        for target, place in zip(targets, places, strict=True):
            if target is not place:
                target.detach().copy_(place)
        return (cpu.current_stream().record_event(),)


def _written_back(work: Work, output, whole, async_op: bool) -> Work:
    """The same, of one tensor that was given in parts."""
    if not output.is_contiguous():
        work._after = _copy_back([output], [whole], async_op)
    return work
