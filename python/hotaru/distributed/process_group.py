"""Processes that work together: PyTorch's ProcessGroup.

What is asynchronous runs beside the caller, and whoever uses the tensors
meanwhile waits. Tensors on GPUs go by NCCL where that is the group's backend
for them, else by the host's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from enum import Enum

from .. import _C
from .._C import _CollectiveKind as Kind
from .._C import _ReduceKind
from .backends import nccl
from .backends.foreign import ForeignHandle
from .list_methods import ListMethods
from .options import milliseconds
from .parts import copy_back
from .reduce_op import ReduceOp, kind_of
from .work import Work

default_pg_timeout = timedelta(minutes=30)

# Called with the kind of each collective that is begun.
watchers: list = []

_KINDS = {kind: _ReduceKind(kind.value) for kind in ReduceOp.RedOpType}


class BackendType(Enum):
    """Kinds of what carries collectives."""

    UNDEFINED = 0
    GLOO = 1
    NCCL = 2
    UCC = 3
    MPI = 4
    XCCL = 5
    CUSTOM = 6


class ProcessGroup(ListMethods):
    """Some ranks of a world, this process's among them.

    Every process of it calls the same methods in the same order. A process
    that dies, hangs longer than the timeout or calls something else makes the
    others' calls raise DistBackendError, which names it; the group is of no
    use afterwards. Thread-safe.
    """

    BackendType = BackendType
    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, CUSTOM = BackendType

    def __init__(
        self, handle, rank: int, store=None, name: str = "", desc: str = ""
    ) -> None:
        """Takes rank and size from a class that has the collectives itself."""
        if isinstance(handle, int):
            size = rank
            rank = handle
            handle = ForeignHandle(self, ProcessGroup, size, default_pg_timeout)
        self._handle = handle
        self._rank = rank
        self._size = len(handle.ranks)
        self._store = store
        self._sequence = 0
        # Carriers of tensors, by type of device; see BackendConfig.
        self._carriers: dict[str, str] = {}
        for attribute, value in (("group_name", name), ("group_desc", desc)):
            # A program's class may have properties in their place.
            if not isinstance(getattr(type(self), attribute, None), property):
                setattr(self, attribute, value)

    def rank(self) -> int:
        """This process's number in the group."""
        return self._rank

    def size(self) -> int:
        """How many processes there are."""
        return self._size

    def name(self) -> str:
        """The backend's name."""
        own = getattr(self, "getBackendName", None)
        if own is not None:
            return own().lower()
        if self._carriers.get("cpu") == "nccl":
            return "nccl"
        return "gloo"

    def get_group_store(self):
        """Returns the store through which the group found itself."""
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

    _bound_device = None

    @property
    def bound_device_id(self):
        """The GPU that `init_process_group` was told, or None."""
        return self._bound_device

    @property
    def _device_types(self) -> list:
        from .. import device

        if self.name() == "nccl":
            return [device("cuda")]
        return [device("cpu")]

    def _carrier_of(self, kind: str) -> str:
        """The backend that carries tensors of a type of device."""
        found = self._carriers.get(kind)
        if found is None and kind == "cuda" and "cpu" in self._carriers:
            raise RuntimeError(f"No backend type associated with device type {kind}")
        return found or ("nccl" if nccl.is_available() else "gloo")

    def _by_host(self, tensors) -> bool:
        """True if tensors travel by copies in the host's memory."""
        if not tensors or not tensors[0].is_cuda:
            return False
        if isinstance(self._handle, ForeignHandle):
            return False
        return self._carrier_of("cuda") != "nccl"

    def _get_sequence_number_for_group(self) -> int:
        return self._sequence

    def _set_sequence_number_for_group(self) -> None:
        """Ranks count alike from the beginning."""

    def set_timeout(self, timeout: timedelta) -> None:
        """How long collectives that say nothing else take at most."""
        if milliseconds(timeout) > 0:
            self._handle.timeout = timeout

    _set_default_timeout = set_timeout

    @property
    def _timeout(self) -> timedelta:
        return self._handle.timeout

    @property
    def options(self):
        """The timeout, as ProcessGroupGloo's options have it."""
        options = ProcessGroupGloo._Options()
        options._timeout = self._timeout
        return options

    def shutdown(self) -> None:
        """Ends the group; what is under way fails."""
        self._handle.shut()

    def abort(self) -> None:
        """The same, without waiting for GPUs."""
        self._handle.shut(True)

    def _issue(
        self,
        kind,
        inputs=(),
        outputs=(),
        op=ReduceOp.SUM,
        root=0,
        tag=0,
        timeout=None,
        async_op=False,
        result=None,
        peers=None,
    ) -> Work | None:
        """One collective; a Work, or None where it is done already."""
        if kind not in (Kind.SEND, Kind.RECEIVE, Kind.EXCHANGE):
            self._sequence += 1
        for watcher in watchers:
            watcher(kind)
        reduction, factor = kind_of(op)
        by_host = self._by_host([*inputs, *outputs])
        places = [_row_of(t, by_host) for t in outputs]
        more = {} if peers is None else {"peers": peers}
        handle = self._handle.issue(
            kind,
            [_row_of(t, by_host) for t in inputs],
            places,
            _KINDS[reduction],
            factor,
            root,
            tag,
            milliseconds(timeout),
            async_op,
            **more,
        )
        after = ()
        if any(t is not place for t, place in zip(outputs, places)):
            after = copy_back(outputs, places, async_op)
        if not async_op and kind is not Kind.RECEIVE:
            return None
        return Work(handle, outputs if result is None else result, after)


def _row_of(tensor, by_host: bool):
    """The tensor as collectives take it: itself, or a copy without strides, or
    in the host's memory.
    """
    if by_host:
        return tensor.detach().cpu().contiguous()
    return tensor if tensor.is_contiguous() else tensor.detach().contiguous()


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
        self,
        store,
        rank: int,
        size: int,
        timeout=default_pg_timeout,
        name: str = "0",
        desc: str = "default_pg",
    ) -> None:
        if isinstance(timeout, ProcessGroupGloo._Options):
            timeout = timeout._timeout
        if not isinstance(timeout, timedelta):
            timeout = timedelta(seconds=timeout)
        self._mesh = _C._meet(store, rank, size, timeout)
        handle = self._mesh.open(name, list(range(size)), rank, timeout)
        super().__init__(handle, rank, store, name, desc)

    def subgroup(
        self, ranks: Sequence[int], name: str, desc: str, timeout: timedelta
    ) -> ProcessGroup:
        """Some of the ranks, this process's among them, in this order."""
        rank = ranks.index(self._rank)
        handle = self._mesh.open(name, list(ranks), rank, timeout)
        made = ProcessGroup(handle, rank, self._store, name, desc)
        made._carriers, made._bound_device = self._carriers, self._bound_device
        return made

    def connect(self, device) -> None:
        """Connects all ranks' GPUs already; every rank does it."""
        self._handle.connect(device)

    def close(self) -> None:
        """Says goodbye to all others; every group of theirs ends here."""
        self._mesh.close()

    @staticmethod
    def create_device(hostname: str = "", interface: str = "", lazy_init=None):
        """Stands for Gloo's device; $GLOO_SOCKET_IFNAME names an interface."""
        return (hostname, interface)

    create_default_device = create_device


class ProcessGroupNCCL(ProcessGroupGloo):
    """A world whose tensors are on GPUs, each rank's on one of its own.

    Those of the CPU go by sockets, as Gloo's.

    Raises:
        RuntimeError: on the first collective, NCCL is not found.
    """

    class Options(ProcessGroupGloo._Options):
        """The timeout; the priority of streams is taken and not looked at."""

        def __init__(self, is_high_priority_stream: bool = False) -> None:
            super().__init__()
            self._timeout = nccl.DEFAULT_TIMEOUT
            self.is_high_priority_stream = is_high_priority_stream

    def __init__(
        self,
        store,
        rank: int,
        size: int,
        timeout=nccl.DEFAULT_TIMEOUT,
        name: str = "0",
        desc: str = "default_pg",
    ) -> None:
        super().__init__(store, rank, size, timeout, name, desc)
        self._carriers = {"cpu": "nccl", "cuda": "nccl"}
