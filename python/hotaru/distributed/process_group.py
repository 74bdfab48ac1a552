"""Processes that work together: PyTorch's ProcessGroup.

Tensors are the CPU's. What is asynchronous runs beside the caller, and whoever
uses the tensors meanwhile waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from enum import Enum

from .. import _C
from .._C import _CollectiveKind as Kind
from .._C import _ReduceKind
from .foreign import ForeignHandle
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
    """What carries collectives."""

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
        """Of a class that has the collectives itself: its rank and its size."""
        if isinstance(handle, int):
            size = rank
            rank = handle
            handle = ForeignHandle(self, ProcessGroup, size, default_pg_timeout)
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
        own = getattr(self, "getBackendName", None)
        return own().lower() if own is not None else "gloo"

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
    def bound_device_id(self):
        """None: a group is bound to no device."""
        return None

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

    abort = shutdown

    def _issue(
        self, kind, inputs=(), outputs=(), op=ReduceOp.SUM, root=0, tag=0,
        timeout=None, async_op=False, result=None,
    ) -> Work | None:  # fmt: skip
        """One collective; a Work, or None where it is done already."""
        if kind not in (Kind.SEND, Kind.RECEIVE):
            self._sequence += 1
        for watcher in watchers:
            watcher(kind)
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
            after = copy_back(outputs, places, async_op)
        if not async_op and kind is not Kind.RECEIVE:
            return None
        return Work(handle, outputs if result is None else result, after)


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
        return ProcessGroup(handle, rank, self._store, name, desc)

    def close(self) -> None:
        """Says goodbye to all others; every group of theirs ends here."""
        self._mesh.close()

    @staticmethod
    def create_device(hostname: str = "", interface: str = "", lazy_init=None):
        """Stands for Gloo's device; $GLOO_SOCKET_IFNAME names an interface."""
        return (hostname, interface)

    create_default_device = create_device
