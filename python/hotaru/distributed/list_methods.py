"""Collectives as methods of a group, with PyTorch's lists and options.

Each takes lists with the tensors of this process, mostly one. Errors are
RuntimeErrors and say what would be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from .. import bitwise_and, bitwise_or, bitwise_xor, maximum, minimum, no_grad
from .._C import Tensor
from .._C import _CollectiveKind as Kind
from .options import (
    AllgatherOptions,
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from .parts import copy_back, gathered_of, scattered_of, split_of, written_back
from .reduce_op import ReduceOp, kind_of
from .work import Work


class ListMethods:
    """Methods that a ProcessGroup has besides its ranks."""

    def allreduce(self, tensors, opts=None, **kwargs) -> Work:
        """Every tensor of every process becomes the reduction of all."""
        opts = _options(AllreduceOptions, opts, "reduceOp", kwargs)
        tensors = _alike(tensors, "allreduce")
        if tensors[0].is_sparse:
            return self._allreduce_sparse(tensors, opts)
        first = tensors[0]
        for other in tensors[1:]:
            _combine(first, other, opts.reduceOp)
        work = self._collective(Kind.ALL_REDUCE, (), [first], opts, tensors)
        return _to_others(work, first, tensors[1:])

    def _allreduce_sparse(self, tensors: list, opts) -> Work:
        from .sparse import all_reduce

        if kind_of(opts.reduceOp)[0] is not ReduceOp.SUM:
            raise RuntimeError(
                "allreduce: unsupported reduction operation (only works with "
                "ReduceOp.SUM) for sparse tensors"
            )
        all_reduce(self, tensors)
        return Work(result=tensors)

    def allreduce_coalesced(self, tensors, opts=None) -> Work:
        """The reduction of each of several tensors, of one dtype."""
        opts = _options(AllreduceCoalescedOptions, opts, "reduceOp", {})
        tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        _check_coalesced(tensors)
        return self._collective(Kind.ALL_REDUCE, (), tensors, opts)

    def broadcast(self, tensors, opts=None, **kwargs) -> Work:
        """Every tensor becomes the root's, that of its list it names."""
        opts = _options(BroadcastOptions, opts, "rootRank", kwargs)
        if not _listed(tensors):
            raise RuntimeError("broadcast: invalid root tensor: 0 of no tensors")
        tensors = _alike(tensors, "broadcast")
        _check_root_tensor(opts, tensors, "broadcast")
        mine = opts.rootRank == self.rank()
        first = tensors[opts.rootTensor if mine else 0]
        work = self._collective(
            Kind.BROADCAST,
            [first] if mine else (),
            () if mine else [first],
            opts,
            tensors,
        )
        return _to_others(work, first, [t for t in tensors if t is not first])

    def reduce(self, tensors, opts=None, **kwargs) -> Work:
        """The root's tensor becomes the reduction; others' are undefined."""
        opts = _options(ReduceOptions, opts, "rootRank", kwargs)
        tensors = _listed(tensors)
        if len(tensors) != 1:
            raise RuntimeError("reduce: requires a single-element tensor list")
        _check_root_tensor(opts, tensors, "reduce")
        return self._collective(Kind.REDUCE, (), tensors, opts)

    def allgather(self, output_tensors, input_tensors, opts=None) -> Work:
        """Each process gets lists of all tensors of all."""
        opts = opts or AllgatherOptions()
        inputs = _listed(input_tensors)
        outputs = [_listed(outputs) for outputs in output_tensors]
        if outputs and isinstance(output_tensors[0], Tensor):
            outputs = [list(output_tensors)]
        _check_gathered(outputs, inputs, self.size())
        count = len(inputs)
        if count == 1:
            return self._collective(
                Kind.ALL_GATHER, inputs, outputs[0], opts, outputs[0]
            )
        # The i-th of every process are i, i + count, ... of the first list.
        works = [
            self._collective(Kind.ALL_GATHER, [t], outputs[0][i::count], opts)
            for i, t in enumerate(inputs)
        ]
        work = _last(works, outputs)
        work._after += copy_back(
            [t for others in outputs[1:] for t in others],
            outputs[0] * (count - 1),
            True,
        )
        return work

    def allgather_coalesced(self, output_lists, input_list, opts=None) -> Work:
        """all_gather of each of several tensors: a list for each process."""
        opts = opts or AllgatherOptions()
        _check_lists(output_lists, input_list, self.size())
        works = [
            self._collective(
                Kind.ALL_GATHER, [given], [o[i] for o in output_lists], opts
            )
            for i, given in enumerate(input_list)
        ]
        return _last(works, output_lists)

    def _allgather_base(self, output, input, opts=None) -> Work:
        """Their tensors one after the other, in one."""
        opts = opts or AllgatherOptions()
        whole, parts = gathered_of(output, input, self.size())
        work = self._collective(Kind.ALL_GATHER, [input], parts, opts, [output])
        return written_back(work, output, whole, opts.asyncOp)

    all_gather_single = _allgather_base

    def allgather_into_tensor_coalesced(self, outputs, inputs, opts=None) -> Work:
        """The same of each of several tensors."""
        works = [
            self._allgather_base(output, given, opts)
            for output, given in zip(outputs, inputs, strict=True)
        ]
        return _last(works, outputs)

    all_gather_single_coalesced = allgather_into_tensor_coalesced

    def gather(self, output_tensors, input_tensors, opts=None, **kwargs) -> Work:
        """The root gets a list of all their tensors."""
        opts = _options(GatherOptions, opts, "rootRank", kwargs)
        inputs = _listed(input_tensors)
        if len(inputs) != 1:
            raise RuntimeError("gather: requires a single-element input tensor list")
        outputs = self._of_root(output_tensors, opts, "gather", "output")
        return self._collective(Kind.GATHER, inputs, outputs, opts, outputs)

    def scatter(self, output_tensors, input_tensors, opts=None, **kwargs) -> Work:
        """Each process gets one tensor of the root's list."""
        opts = _options(ScatterOptions, opts, "rootRank", kwargs)
        outputs = _listed(output_tensors)
        if len(outputs) != 1:
            raise RuntimeError("scatter: requires a single-element output tensor list")
        inputs = self._of_root(input_tensors, opts, "scatter", "input")
        return self._collective(Kind.SCATTER, inputs, outputs, opts)

    def _of_root(self, lists, opts, name: str, which: str) -> list:
        """The one list that the root gives; none elsewhere."""
        if not 0 <= opts.rootRank < self.size():
            raise RuntimeError(f"{name}: invalid root rank: {opts.rootRank}")
        if opts.rootRank != self.rank():
            if len(lists):
                raise RuntimeError(f"{name}: requires empty {which} on non-root")
            return []
        if len(lists) and isinstance(lists[0], Tensor):
            lists = [lists]
        if len(lists) != 1:
            raise RuntimeError(
                f"{name}: requires a single-element {which} list containing a "
                "list with as many tensors as there are processes"
            )
        if len(lists[0]) != self.size():
            title = which.capitalize()
            raise RuntimeError(
                f"{name}: Incorrect {which} list size {len(lists[0])}. "
                f"{title} list size should be {self.size()}, same as size of "
                "the process group."
            )
        return list(lists[0])

    def reduce_scatter(
        self, output_tensors, input_tensors, opts=None, **kwargs
    ) -> Work:
        """Each process gets the reduction of the tensors for it."""
        opts = _options(ReduceScatterOptions, opts, "reduceOp", kwargs)
        inputs = list(input_tensors)
        if inputs and not isinstance(inputs[0], Tensor):
            inputs = list(inputs[0])
        return self._collective(
            Kind.REDUCE_SCATTER, inputs, _listed(output_tensors), opts
        )

    def _reduce_scatter_base(self, output, input, opts=None) -> Work:
        """The same of parts of one tensor."""
        opts = opts or ReduceScatterOptions()
        parts = scattered_of(input, output, self.size())
        return self._collective(Kind.REDUCE_SCATTER, parts, [output], opts)

    reduce_scatter_single = _reduce_scatter_base

    def reduce_scatter_tensor_coalesced(self, outputs, inputs, opts=None) -> Work:
        """The same of each of several tensors."""
        works = [
            self._reduce_scatter_base(output, given, opts)
            for output, given in zip(outputs, inputs, strict=True)
        ]
        return _last(works, outputs)

    reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced

    def alltoall(self, output_tensors, input_tensors, opts=None) -> Work:
        """Each process sends the i-th tensor to the i-th process."""
        opts = opts or AllToAllOptions()
        return self._collective(Kind.ALL_TO_ALL, input_tensors, output_tensors, opts)

    def alltoall_base(
        self, output, input, output_split_sizes, input_split_sizes, opts=None
    ) -> Work:
        """The same of parts of one tensor, as many rows as the lists say."""
        opts = opts or AllToAllOptions()
        _, inputs = split_of(input, input_split_sizes, self.size())
        whole, outputs = split_of(output, output_split_sizes, self.size())
        work = self._collective(Kind.ALL_TO_ALL, inputs, outputs, opts, [output])
        return written_back(work, output, whole, opts.asyncOp)

    all_to_all_single = alltoall_base

    def send(self, tensors, dst: int, tag: int = 0) -> Work:
        """Sends to a rank of the group."""
        return self._issue(
            Kind.SEND,
            _single(tensors, "send"),
            (),
            root=dst,
            tag=tag,
            async_op=True,
            result=tensors,
        )

    def recv(self, tensors, src: int, tag: int = 0) -> Work:
        """Receives from a rank of the group."""
        return self._issue(
            Kind.RECEIVE, (), _single(tensors, "recv"), root=src, tag=tag, async_op=True
        )

    def recv_anysource(self, tensors, tag: int = 0) -> Work:
        """Receives from whoever sends first."""
        return self.recv(tensors, -1, tag)

    def barrier(self, opts=None, **kwargs) -> Work:
        """Done when every process has come."""
        opts = _options(BarrierOptions, opts, "device_ids", kwargs)
        return self._collective(Kind.BARRIER, (), (), opts)

    def monitored_barrier(
        self, timeout: timedelta | None = None, wait_all_ranks: bool = False
    ) -> None:
        """A barrier whose error on rank 0 names who has not come."""
        from .monitored import monitored_barrier

        if isinstance(timeout, (int, float)):
            timeout = timedelta(seconds=timeout)
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


def _options(cls, given, what: str, kwargs: dict):
    """Options; a bare value is the one that the method is mostly asked for."""
    if isinstance(given, cls):
        return given
    options = cls()
    if given is not None:
        setattr(options, what, given)
    for name, value in kwargs.items():
        names = {"root": "rootRank", "op": "reduceOp"}
        setattr(options, names.get(name, name), value)
    return options


def _listed(tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _single(tensors, name: str) -> list[Tensor]:
    tensors = _listed(tensors)
    if len(tensors) != 1:
        raise RuntimeError(f"{name}: requires a single tensor")
    return tensors


def _alike(tensors, name: str) -> list[Tensor]:
    """The tensors, which have one layout, dtype and shape."""
    tensors = _listed(tensors)
    _check_any(name, tensors)
    first = tensors[0]
    for i, t in enumerate(tensors):
        for what, mine, theirs in (
            ("layout", t.layout, first.layout),
            ("type", t.dtype, first.dtype),
            ("size", tuple(t.shape), tuple(first.shape)),
        ):
            if mine != theirs:
                raise RuntimeError(
                    f"{name}: invalid tensor {what} at index {i} (expected "
                    f"{theirs}, got {mine})"
                )
    return tensors


def _check_root_tensor(opts, tensors: Sequence, name: str) -> None:
    if not 0 <= opts.rootTensor < len(tensors):
        raise RuntimeError(f"{name}: invalid root tensor: {opts.rootTensor}")


def _check_any(name: str, tensors: Sequence) -> None:
    if not tensors:
        raise RuntimeError(f"{name}: requires non-empty tensor list")


def _check_coalesced(tensors: Sequence) -> None:
    name = "allreduce_coalesced"
    _check_any(name, tensors)
    for i, t in enumerate(tensors):
        if t.layout != tensors[0].layout:
            raise RuntimeError(f"{name}: invalid tensor layout at index {i}")
        if t.dtype != tensors[0].dtype:
            raise RuntimeError(f"{name}: tensors must all have the same type")
    if tensors[0].is_sparse:
        raise RuntimeError(f"{name}: unsupported layout")


def _check_gathered(outputs: Sequence, inputs: Sequence, size: int) -> None:
    if not inputs:
        raise RuntimeError("allgather: requires non-empty input tensor list")
    if len(outputs) != len(inputs):
        raise RuntimeError(
            "allgather: requires input/output tensor lists to have the same length"
        )
    for i, many in enumerate(outputs):
        if len(many) != size * len(inputs):
            raise RuntimeError(
                f"allgather: invalid output tensor list at index {i} (expected "
                f"length {size * len(inputs)}, got {len(many)})"
            )
    for many in (inputs, *outputs):
        _alike([inputs[0], *many], "allgather")


def _check_lists(lists: Sequence, inputs: Sequence, size: int) -> None:
    if len(lists) != size:
        raise RuntimeError(
            "allgather_coalesced: output lists should be equal to world size"
        )
    for outputs in lists:
        if len(outputs) != len(inputs):
            raise RuntimeError(
                f"allgather_coalesced: invalid output size: {len(outputs)} "
                f"tensors for {len(inputs)}"
            )
        for i, (output, given) in enumerate(zip(outputs, inputs, strict=True)):
            for what, mine, theirs in (
                ("size", output.shape, given.shape),
                ("tensor type", output.dtype, given.dtype),
            ):
                if mine != theirs:
                    what = "size of output tensor" if what == "size" else what
                    raise RuntimeError(
                        f"allgather_coalesced: invalid {what} at index {i} "
                        f"(expected {theirs}, got {mine})"
                    )


_IN_PLACE = {
    ReduceOp.SUM: Tensor.add_,
    ReduceOp.PRODUCT: Tensor.mul_,
    ReduceOp.MIN: lambda a, b: a.copy_(minimum(a, b)),
    ReduceOp.MAX: lambda a, b: a.copy_(maximum(a, b)),
    ReduceOp.BAND: lambda a, b: a.copy_(bitwise_and(a, b)),
    ReduceOp.BOR: lambda a, b: a.copy_(bitwise_or(a, b)),
    ReduceOp.BXOR: lambda a, b: a.copy_(bitwise_xor(a, b)),
}


@no_grad()
def _combine(into, other, op) -> None:
    """Combines one process's own tensors."""
    kind = kind_of(op)[0]
    if kind not in _IN_PLACE:
        raise RuntimeError(f"allreduce: {kind} of several tensors of one process")
    _IN_PLACE[kind](into.detach(), other)


def _to_others(work: Work, first, others: Sequence) -> Work:
    """The process's other tensors get what the first one has got."""
    if others:
        work._after += copy_back(others, [first] * len(others), True)
    return work


def _last(works: list[Work], result) -> Work:
    """All of them: they end in order."""
    return Work(
        works[-1]._handle if works else None,
        result,
        [event for work in works for event in work._after],
    )
