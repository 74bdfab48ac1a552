"""Gradients that are averaged over processes while the backward pass goes on.

Parameters are put into buckets in the reverse order of the model's, in which
their gradients come; a bucket is reduced, beside the backward pass, as soon as
all of its gradients are there and the buckets before it are under way. The
rules are those of Li et al., "PyTorch Distributed: Experiences on Accelerating
Data Parallel Training" (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from .. import (
    _C,
    _foreach_copy_,
    cat,
    empty,
    empty_like,
    int32,
    is_tensor,
    no_grad,
    tensor,
    zeros,
    zeros_like,
)
from .._C import _CollectiveKind as Kind
from ..futures import Future
from .collectives import all_gather, all_reduce, broadcast
from .reduce_op import ReduceOp
from .work import Work

FIRST_BUCKET_BYTES = 1 << 20


class BuiltinCommHookType(Enum):
    """Hooks that DistributedDataParallel knows by a name."""

    ALLREDUCE = 0
    FP16_COMPRESS = 1


class GradBucket:
    """View that a communication hook has of a bucket."""

    def __init__(self, bucket: Bucket, index: int, is_last: bool) -> None:
        self._bucket = bucket
        self._index = index
        self._is_last = is_last
        self._buffer = None

    def index(self) -> int:
        """Its place among the buckets, in which they are reduced."""
        return self._index

    def buffer(self):
        """All gradients in one row."""
        return self._bucket.flat if self._buffer is None else self._buffer

    def set_buffer(self, buffer) -> None:
        """Has hooks see another tensor in the buffer's place."""
        self._buffer = buffer

    def gradients(self) -> list:
        """The buffer's parts in the parameters' shapes."""
        if self._buffer is None:
            return self._bucket.views
        return self._bucket.parts_of(self._buffer)

    def parameters(self) -> list:
        """Whose they are."""
        return self._bucket.parameters

    def is_last(self) -> bool:
        """True if this is the last one of a backward pass."""
        return self._is_last


def views_like(flat, tensors: Sequence) -> list:
    """The parts of a row behind each other, in the tensors' shapes."""
    parts = flat.split([t.numel() for t in tensors])
    return [p.view(t.shape) for p, t in zip(parts, tensors, strict=True)]


class Bucket:
    """Parameters of one dtype and the memory of their gradients."""

    def __init__(
        self, indices: Sequence[int], parameters: Sequence, sparse: bool
    ) -> None:
        self.indices = list(indices)
        self.sparse = sparse  # the gradient of its one parameter
        self.parameters = list(parameters)
        self.waits_for = 0
        self.work = None
        self.gradients: list = []  # that are reduced where they lie
        self._flat = self._views = None

    @property
    def flat(self):
        """All gradients in one row, made when it is first needed."""
        if self.sparse:
            return self.parameters[0].grad
        if self._flat is None:
            count = sum(p.numel() for p in self.parameters)
            first = self.parameters[0]
            self._flat = zeros(count, dtype=first.dtype, device=first.device)
            self._views = self.parts_of(self._flat)
        return self._flat

    @property
    def views(self) -> list:
        """Its parts, in the parameters' shapes."""
        if self.sparse:
            return [self.parameters[0].grad]
        return self._views if self.flat is not None else []

    def parts_of(self, flat) -> list:
        """Views of a row, in the parameters' shapes."""
        return views_like(flat, self.parameters)


def assign_buckets(
    parameters: Sequence, order: Sequence[int], limits: Sequence[int]
) -> list[tuple[list[int], int]]:
    """Indices of parameters by bucket, and its limit: of one dtype on one
    device, in this order.

    The n-th bucket of these is closed when it has limits[n] bytes, those
    after the last limit when they have that.
    """
    open_: dict = {}
    done: list[tuple[list[int], int]] = []
    closed: dict = {}

    def limit_of(kind) -> int:
        return limits[min(closed.get(kind, 0), len(limits) - 1)]

    for index in order:
        p = parameters[index]
        kind = p.dtype, p.device
        indices, size = open_.pop(kind, ([], 0))
        indices.append(index)
        size += p.numel() * p.element_size()
        if size >= limit_of(kind):
            done.append((indices, limit_of(kind)))
            closed[kind] = closed.get(kind, 0) + 1
        else:
            open_[kind] = (indices, size)
    done += [(i, limit_of(kind)) for kind, (i, _) in open_.items()]
    # As their first gradients come.
    place = {index: i for i, index in enumerate(order)}
    return sorted(done, key=lambda bucket: place[bucket[0][0]])


def _compute_bucket_assignment_by_size(
    tensors: Sequence,
    bucket_size_limits: Sequence[int],
    expect_sparse_gradient=(),
    tensor_indices: Sequence[int] = (),
) -> tuple[list[list[int]], list[int]]:
    """Indices of tensors by bucket, and the limits of the buckets."""
    found = assign_buckets(
        tensors, tensor_indices or range(len(tensors)), bucket_size_limits
    )
    return [indices for indices, _ in found], [limit for _, limit in found]


@no_grad()
def broadcast_coalesced(tensors: Sequence, group, root: int) -> None:
    """Every process's tensors become the root's, few messages for many."""
    kinds: dict = {}
    for t in tensors:
        kinds.setdefault((t.dtype, t.device), []).append(t.detach())
    for many in kinds.values():
        flat = cat([t.reshape(-1) for t in many])
        broadcast(flat, group=group, group_src=root)
        if group.rank() == root:
            continue
        for t, view in zip(many, views_like(flat, many), strict=True):
            t.copy_(view)


def verify_shapes(parameters: Sequence, group) -> None:
    """RuntimeError unless the parameters' shapes are those of every process."""
    counts = [empty(1, dtype=int32, device="cpu") for _ in range(group.size())]
    mine = tensor([len(parameters)], dtype=int32, device="cpu")
    all_gather(counts, mine, group=group)
    for rank, count in enumerate(counts):
        if int(count) != len(parameters):
            raise RuntimeError(
                "DDP expects same model across all ranks, but Rank "
                f"{group.rank()} has {len(parameters)} params, while rank "
                f"{rank} has inconsistent {int(count)} params."
            )
    numbers = [[p.dim(), *p.shape, *[0] * (8 - p.dim())] for p in parameters]
    flat = tensor([n for row in numbers for n in row[:9]], dtype=int32, device="cpu")
    theirs = [empty_like(flat) for _ in range(group.size())]
    all_gather(theirs, flat, group=group)
    for rank, other in enumerate(theirs):
        differs = (other != flat).nonzero().flatten()
        if differs.numel():
            index = int(differs[0]) // 9
            raise RuntimeError(
                f"DDP expects same model across all ranks, but [{index}]: "
                f"params[{index}] in this process with sizes "
                f"{list(parameters[index].shape)} appears not to match sizes "
                f"of the same param in process {rank}."
            )


class Reducer:
    """The buckets of a module's parameters. Used by one thread at a time."""

    def __init__(
        self,
        parameters: Sequence,
        group,
        bucket_bytes: int,
        first_bytes: int,
        find_unused: bool,
        as_views: bool,
        names: dict,
        sparse: frozenset[int] = frozenset(),
    ) -> None:
        self.parameters = list(parameters)
        self.group = group
        self.find_unused = find_unused
        self.as_views = as_views
        self.static_graph = False
        self.names = names
        self._sparse = sparse  # parameters whose gradients are, by index
        self.hook: Callable | None = None
        # A count of the processes to divide by, where it is not all of them.
        self.active = None
        self._bytes = (bucket_bytes, first_bytes)
        self._bucket_of: dict[int, Bucket] = {}  # by parameter
        self._expecting = False  # gradients of a backward pass
        self._began = False  # its first one has come
        self._ends = False  # the end of the pass will be told
        self._iteration = 0
        self._finished = True
        self._ready: set[int] = set()
        self._used: set[int] = set()
        self._kept: set[int] = set()  # used in passes that reduced nothing
        self._order: list[int] = []  # in which they came
        self._rebuilt = False
        self._counts: dict[int, int] | None = None  # of a static graph
        self._left: dict[int, int] = {}  # of them, in this pass
        self._next = 0
        order = list(reversed(range(len(self.parameters))))
        self._build(order)
        for i, p in enumerate(self.parameters):
            p.register_post_accumulate_grad_hook(self._hook_of(i))

    def _build(self, order: Sequence[int]) -> None:
        dense = [i for i in order if i not in self._sparse]
        cap, first = self._bytes
        found = assign_buckets(self.parameters, dense, (first, cap))
        lists = [indices for indices, _ in found]
        lists += [[i] for i in order if i in self._sparse]
        self.buckets = [
            Bucket(
                indices,
                [self.parameters[i] for i in indices],
                indices[0] in self._sparse,
            )
            for indices in lists
        ]
        for bucket in self.buckets:
            for index in bucket.indices:
                self._bucket_of[index] = bucket

    def _rebuild_buckets(self) -> bool:
        """Once, in the order in which gradients came on the first rank; tells
        whether it was now.
        """
        if self._rebuilt or len(self._order) != len(self.parameters):
            return False
        if self.find_unused and not self.static_graph:
            return False
        order = tensor(self._order, dtype=int32, device="cpu")
        broadcast(order, group=self.group, group_src=0)
        self._build(order.tolist())
        self._rebuilt = True
        return True

    def prepare_for_backward(self, outputs) -> None:
        """Before a backward pass from these outputs.

        Raises:
            RuntimeError: the last one left gradients out.
        """
        if not self._finished and self._began:
            self._refuse_unfinished()
        self._iteration += 1
        self._start()
        self._unused = []
        if self.static_graph:
            self._unused = [i for i, count in self._left.items() if not count]
        elif self.find_unused:
            used = _parameters_of(outputs)
            self._unused = [
                i for i, p in enumerate(self.parameters) if id(p) not in used
            ]
        if not self._waits_for_the_end:
            return
        for output in tensors_in(outputs):
            if output.requires_grad:
                output.register_hook(self._tells_end(self._iteration))

    def _start(self) -> None:
        """Waits for the gradients of a pass."""
        self._expecting, self._began, self._finished = True, False, False
        self._ends = False
        self._ready.clear()
        self._used.clear()
        self._order.clear()
        self._next = 0
        for bucket in self.buckets:
            bucket.waits_for = len(bucket.indices)
            bucket.work = None
        self._left = dict(self._counts or {})

    @property
    def _waits_for_the_end(self) -> bool:
        """Tells whether only the end of the backward pass tells which
        gradients there are: outputs may be left out of the loss, and the first
        pass of a static graph counts.
        """
        if self.static_graph:
            return self._counts is None
        return self.find_unused

    def _tells_end(self, iteration: int):
        """For an output, which gets its gradient in the outermost pass, where
        parameters may get theirs in passes within it (reentrant checkpoints).
        """

        def began(grad) -> None:
            if self._expecting and iteration == self._iteration:
                self._tell_end()

        return began

    def _tell_end(self) -> None:
        if not self._ends:
            self._ends = True
            _C._queue_callback(self._end)

    @property
    def began(self) -> bool:
        """True if a backward pass has averaged gradients."""
        return self._began

    def unprepare(self) -> None:
        """Gradients of the next backward pass stay where they are."""
        self._expecting = False

    @no_grad()
    def take_part(self) -> None:
        """A backward pass of the others, without gradients here."""
        self.prepare_for_backward(())
        self._began = True
        for number, bucket in enumerate(self.buckets):
            if self._in_place:
                self._launch_list(bucket, [zeros_like(p) for p in bucket.parameters])
            else:
                bucket.flat.zero_()
                self._launch_flat(number)
        self._globally_used()
        for bucket in self.buckets:
            bucket.work.wait()
        self._expecting, self._finished = False, True
        self._order = list(range(len(self.parameters)))

    def _refuse_unfinished(self) -> None:
        missing = sorted(set(range(len(self.parameters))) - self._ready)
        which = " ".join(map(str, missing))
        names = [self.names.get(i, str(i)) for i in missing]
        raise RuntimeError(
            "Expected to have finished reduction in the prior iteration before "
            "starting a new one. This error indicates that your module has "
            "parameters that were not used in producing loss. "
            "You can enable unused parameter detection by passing the keyword "
            "argument `find_unused_parameters=True` to "
            "`torch.nn.parallel.DistributedDataParallel`, and by making sure "
            "all `forward` function outputs participate in calculating "
            "loss.\nParameters which did not receive grad for rank "
            f"{self.group.rank()}: {', '.join(names)}\nParameter indices which "
            f"did not receive grad for rank {self.group.rank()}: {which}"
        )

    def _hook_of(self, index: int):
        def ready(parameter) -> None:
            if self._expecting:
                self._came(index)
            else:
                self._kept.add(index)

        return ready

    def _came(self, index: int) -> None:
        if not self._began:
            self._began = True
            if self._waits_for_the_end:
                self._tell_end()
            for unused in self._unused:
                self._mark(unused)
        self._used.add(index)
        if not self.static_graph or self._complete(index):
            self._mark(index)

    def _complete(self, index: int) -> bool:
        """True if a static graph gives the parameter no further gradient.

        How often it does is counted in the first pass, which is reduced at its
        end.
        """
        if self._counts is None:
            self._left[index] = self._left.get(index, 0) + 1
            return False
        self._left[index] -= 1
        return not self._left[index]

    def _mark(self, index: int) -> None:
        if index in self._ready:
            raise RuntimeError(
                "Expected to mark a variable ready only once. "
                f"Parameter {self.names.get(index, index)} (index {index}) was "
                "reduced already in this iteration: it is used by two backward "
                "passes, or in a part that is checkpointed and used again."
            )
        self._ready.add(index)
        self._order.append(index)
        bucket = self._bucket_of[index]
        bucket.waits_for -= 1
        while self._next < len(self.buckets) and not self.buckets[self._next].waits_for:
            self._next += 1
            self._launch(self._next - 1)
        if self._next == len(self.buckets) and self._expecting:
            self._tell_end()

    @property
    def _in_place(self) -> bool:
        """True if gradients are reduced where they lie, without a copy.

        Not where they are to lie in buckets, where hooks see buckets, and
        where the gradient of a parameter that nobody used must stay.
        """
        return (
            self.hook is None
            and not self.as_views
            and not self.find_unused
            and not self.static_graph
        )

    @no_grad()
    def _launch(self, number: int) -> None:
        bucket = self.buckets[number]
        if bucket.sparse:
            return self._launch_sparse(number)
        if self._in_place:
            return self._launch_list(
                bucket, [p.grad.detach() for p in bucket.parameters]
            )
        targets, sources = [], []
        for p, view in zip(bucket.parameters, bucket.views, strict=True):
            if p.grad is None:
                view.zero_()
            elif p.grad is not view:
                targets.append(view)
                sources.append(p.grad.detach())
        if targets:
            _foreach_copy_(targets, sources)
        self._launch_flat(number)

    def _launch_sparse(self, number: int) -> None:
        bucket = self.buckets[number]
        if self.hook is not None:
            return self._launch_flat(number)
        gradient = bucket.flat
        self.group.allreduce([gradient])
        gradient.div_(self.group.size())
        bucket.work = Work()

    @property
    def _op(self):
        """Kind of reduction: what is divided by `active` is added up first."""
        return ReduceOp.AVG if self.active is None else ReduceOp.SUM

    def _launch_list(self, bucket: Bucket, gradients: list) -> None:
        bucket.gradients = gradients
        bucket.work = self.group._issue(
            Kind.ALL_REDUCE, (), gradients, self._op, async_op=True
        )

    def _launch_flat(self, number: int) -> None:
        bucket = self.buckets[number]
        if self.hook is None:
            bucket.work = all_reduce(bucket.flat, self._op, self.group, async_op=True)
        else:
            last = number == len(self.buckets) - 1
            bucket.work = self.hook(GradBucket(bucket, number, last))
            if not isinstance(bucket.work, Future):
                raise RuntimeError(
                    "Communication hook: callback must return a "
                    "torch.futures.Future object, but got "
                    f"{type(bucket.work).__name__}"
                )

    def _globally_used(self) -> list[int]:
        """By parameter: 2 if this pass gave it a gradient in any process, 1 if
        only those before it did, whose gradients stayed where they were.
        """
        count = len(self.parameters)
        mine = [2 if i in self._used else int(i in self._kept) for i in range(count)]
        if not self.find_unused and not self.static_graph:
            return [2] * count
        used = tensor(mine, dtype=int32, device="cpu")
        all_reduce(used, ReduceOp.MAX, self.group)
        return used.tolist()

    @no_grad()
    def _end(self) -> None:
        """When the backward pass is over: gradients are the averages."""
        if not self._expecting:
            return
        self._expecting = False
        is_first = self.static_graph and self._counts is None
        if is_first:
            self._counts = dict.fromkeys(range(len(self.parameters)), 0)
            self._counts.update(self._left)
            rest = [i for i, count in self._counts.items() if not count]
            for index in [*self._left, *rest]:
                self._mark(index)
        if self.find_unused and not self.static_graph:
            for index in range(len(self.parameters)):
                if index not in self._ready:
                    self._mark(index)
        used = self._globally_used()
        # A pass that asks for other gradients (autograd.grad by the inputs)
        # is not the one that is waited for.
        is_other = max(used, default=2) < 2
        if is_other:
            used = [0] * len(used)
        for bucket in self.buckets:
            self._finish(bucket, used)
        if is_other:
            self._counts = None if is_first else self._counts
            self._start()
            return
        self._kept.clear()
        self._finished = True

    def _finish(self, bucket: Bucket, used: list[int]) -> None:
        if bucket.sparse and self.hook is None:
            return
        if self.hook is None:
            bucket.work.wait()
            if self.active is not None:
                for g in bucket.gradients or [bucket.flat]:
                    g.div_(int(self.active))
            if self._in_place:
                bucket.gradients = []
                return
        else:
            result = bucket.work.wait()
            if isinstance(result, (list, tuple)):
                result = result[0]
            if bucket.sparse:
                bucket.parameters[0].grad = result
                return
            if result is not bucket.flat:
                bucket.flat.copy_(result)
        targets, sources = [], []
        for i, p, view in zip(
            bucket.indices, bucket.parameters, bucket.views, strict=True
        ):
            if p.grad is view or not used[i]:
                continue
            if self.as_views:
                p.grad = view
            elif p.grad is None:
                p.grad = view.clone()
            else:
                targets.append(p.grad.detach())
                sources.append(view)
        if targets:
            _foreach_copy_(targets, sources)


def _parameters_of(outputs) -> set[int]:
    """The ids of the leaves that outputs were computed from."""
    found: set[int] = set()
    seen: set = set()
    waiting = [t.grad_fn for t in tensors_in(outputs) if t.grad_fn is not None]
    found.update(id(t) for t in tensors_in(outputs) if t.grad_fn is None)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            found.add(id(leaf))
        waiting += [n for n, _ in node.next_functions if n is not None]
    return found


def tensors_in(value) -> list:
    """The tensors of nested containers and of objects' attributes."""
    if is_tensor(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "__dataclass_fields__"):
        value = [getattr(value, name) for name in value.__dataclass_fields__]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors_in(item)]
    return []
