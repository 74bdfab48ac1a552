"""Backends that a program brings: groups that have PyTorch's list methods."""

from __future__ import annotations

from datetime import timedelta

from ..._C import _CollectiveKind as Kind
from ..._C import _ReduceKind
from ...futures import Future
from .. import options
from ..polled import Polled
from ..reduce_op import RedOpType, ReduceOp


class _Handle(Polled):
    """Handle of such a group's Work, as `Work` takes it."""

    def __init__(self, work) -> None:
        self._work = work

    def wait(self) -> None:
        """Returns when it is done."""
        if self._work is not None:
            self._work.wait()

    def done(self) -> bool:
        """True if it is done."""
        completed = getattr(self._work, "is_completed", None)
        return bool(completed()) if completed is not None else True

    def source(self) -> int:
        """The rank that a message came from."""
        return self._work._source_rank()

    def future(self, result) -> Future:
        """The group's own, if it has one."""
        own = getattr(self._work, "get_future", None)
        if own is not None:
            return own()
        return super().future(result)


class ForeignHandle:
    """Begins collectives by a group's methods."""

    def __init__(self, group, base: type, size: int, timeout: timedelta) -> None:
        self._group, self.ranks = group, list(range(size))
        self.timeout = timeout
        # Methods that its own classes have, not those of ProcessGroup.
        kinds = type(group).__mro__
        own = kinds[: kinds.index(base)]
        self._methods = {name for kind in own for name in vars(kind)}

    def shut(self, aborts: bool = False) -> None:
        """The group ends with its object."""

    def issue(
        self, kind, inputs, outputs, reduction, factor, root, tag, timeout, async_op
    ) -> _Handle:
        """One collective; NotImplementedError if the group lacks its method."""
        name, make = _CALLS[kind]
        if name not in self._methods:
            raise NotImplementedError(
                f"{type(self._group).__name__} has no method {name}()"
            )
        opts = getattr(options, _OPTIONS[kind])() if kind in _OPTIONS else None
        if opts is not None:
            opts.asyncOp = async_op
            opts.rootRank = root
            opts.reduceOp = _op_of(reduction, factor)
        method = getattr(self._group, name)
        handle = _Handle(method(*make(list(inputs), list(outputs), root, tag, opts)))
        if not async_op:
            handle.wait()
        return handle


def _op_of(reduction: _ReduceKind, factor: float) -> ReduceOp:
    return ReduceOp(RedOpType(reduction.value), factor)


_CALLS = {
    Kind.ALL_REDUCE: ("allreduce", lambda i, o, r, t, opts: (o, opts)),
    Kind.REDUCE: ("reduce", lambda i, o, r, t, opts: (o, opts)),
    Kind.BROADCAST: ("broadcast", lambda i, o, r, t, opts: (i or o, opts)),
    Kind.ALL_GATHER: ("allgather", lambda i, o, r, t, opts: ([o], i, opts)),
    Kind.GATHER: ("gather", lambda i, o, r, t, opts: ([o] if o else [], i, opts)),
    Kind.SCATTER: ("scatter", lambda i, o, r, t, opts: (o, [i] if i else [], opts)),
    Kind.REDUCE_SCATTER: ("reduce_scatter", lambda i, o, r, t, opts: (o, [i], opts)),
    Kind.ALL_TO_ALL: ("alltoall", lambda i, o, r, t, opts: (o, i, opts)),
    Kind.BARRIER: ("barrier", lambda i, o, r, t, opts: (opts,)),
    Kind.SEND: ("send", lambda i, o, r, t, opts: (i, r, t)),
    Kind.RECEIVE: ("recv", lambda i, o, r, t, opts: (o, r, t)),
}
_OPTIONS = {
    Kind.ALL_REDUCE: "AllreduceOptions",
    Kind.REDUCE: "ReduceOptions",
    Kind.BROADCAST: "BroadcastOptions",
    Kind.ALL_GATHER: "AllgatherOptions",
    Kind.GATHER: "GatherOptions",
    Kind.SCATTER: "ScatterOptions",
    Kind.REDUCE_SCATTER: "ReduceScatterOptions",
    Kind.ALL_TO_ALL: "AllToAllOptions",
    Kind.BARRIER: "BarrierOptions",
}
