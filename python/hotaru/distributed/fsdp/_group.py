"""Parameters that are made whole together, and given up together.

Each rank keeps its rows of every parameter, one behind the other in one row of
numbers: a collective makes all of them whole, another reduces their gradients.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ... import Tensor, no_grad, zeros
from ...nn import Module, Parameter
from ..collectives import all_gather_into_tensor, all_reduce, reduce_scatter_tensor
from ..device_mesh import DeviceMesh
from ..reduce_op import ReduceOp
from ..tensor import DTensor, Replicate, Shard
from ..tensor._dtensor_spec import DTensorSpec, TensorMeta, dense_stride
from ..tensor.placement_types import _StridedShard
from ._policies import MixedPrecisionPolicy


@dataclass
class Place:
    """A module's attribute that is a parameter."""

    module: Module
    name: str


_numbers = itertools.count()


class Shared:
    """A parameter: this rank's rows of it, and the whole while there is one.

    Rows are padded to equal numbers in all ranks (`rows`). `number` is that of
    the parameter that was shared out, in whichever groups.
    """

    def __init__(self, param: Parameter, mesh: DeviceMesh) -> None:
        self.places: list[Place] = []
        if not hasattr(param, "_shared_number"):
            param._shared_number = next(_numbers)
        self.number = param._shared_number
        # Parts are shared out of parameters that are in parts already.
        self.inner = param._spec if isinstance(param, DTensor) else None
        given = param.detach() if self.inner is None else param._local_tensor
        self.shape = tuple(given.shape)
        ranks = mesh.size(mesh.ndim - 1)
        self.rows = -(-self.shape[0] // ranks)
        self.row = given.numel() // self.shape[0] if self.shape[0] else 0
        size, begin = Shard.local_shard_size_and_offset(
            self.shape[0], ranks, mesh.get_local_rank(mesh.ndim - 1)
        )
        own = given.narrow(0, begin, size).clone().contiguous()
        self.spec = _spec_of(mesh, self.shape, param.dtype, self.inner)
        self.sharded = Parameter(DTensor(own, self.spec), param.requires_grad)
        for name, value in param.__dict__.items():
            if not name.startswith("_"):
                setattr(self.sharded, name, value)
        self.whole: Parameter | None = None

    def seen(self, value: Tensor) -> Tensor:
        """The whole parameter that has this memory."""
        return value if self.inner is None else DTensor(value, self.inner)

    @property
    def memory(self) -> Tensor:
        """That of the whole parameter in this rank."""
        if self.inner is None:
            return self.whole.detach()
        return self.whole._local_tensor

    @property
    def length(self) -> int:
        """Numbers of this rank's rows, padded."""
        return self.rows * self.row

    def adopt(self) -> None:
        """Takes what a program put in the parameter's place: `to_empty`,
        `load_state_dict(assign=True)`.
        """
        place = self.places[0]
        found = place.module._parameters.get(place.name)
        if found is not self.sharded and isinstance(found, DTensor):
            self.sharded = found
            self.register(found)

    def register(self, param: Parameter) -> None:
        """Has the modules see this one."""
        for place in self.places:
            place.module._parameters[place.name] = param


def _spec_of(
    mesh: DeviceMesh, shape: tuple, dtype, inner: DTensorSpec | None
) -> DTensorSpec:
    """Specification of the rows that a rank has of a parameter.

    NotImplementedError for one in parts on a mesh that is no dimension of the
    one that this mesh is of.
    """
    if inner is None:
        placements = [Replicate()] * (mesh.ndim - 1) + [Shard(0)]
        meta = TensorMeta(shape, dense_stride(shape), dtype)
        return DTensorSpec(mesh, tuple(placements), meta)
    root = inner.mesh._root
    names = (*(mesh.mesh_dim_names or ()), *(inner.mesh.mesh_dim_names or ()))
    if mesh.ndim != 1 or mesh._root is not root or len(names) != 2:
        raise NotImplementedError(
            "fully_shard: a parameter that is in parts on "
            f"{inner.mesh} is shared out among the ranks of another named "
            f"dimension of the same mesh, not of {mesh}"
        )
    first = Shard(0)
    if inner.placements[0] == Shard(0):
        first = _StridedShard(0, split_factor=inner.mesh.size())
    return DTensorSpec(root[names], (first, *inner.placements), inner.tensor_meta)


class ParameterGroup:
    """The parameters of a module that no module inside it has taken.

    `synchronize` tells whether a backward pass reduces its gradients.
    """

    def __init__(
        self,
        params: Sequence[Parameter],
        modules: Sequence[Module],
        mesh: DeviceMesh,
        policy: MixedPrecisionPolicy,
    ) -> None:
        self.mesh, self.policy = mesh, policy
        self.shards = mesh.get_group(mesh.ndim - 1)
        self.copies = mesh.get_group(0) if mesh.ndim == 2 else None
        self.shared = [Shared(param, mesh) for param in params]
        _find_places(self.shared, params, modules)
        for each in self.shared:
            each.register(each.sharded)
        dtypes = {p.dtype for p in params}
        if len(dtypes) > 1 and policy.param_dtype is None:
            raise ValueError(
                f"FSDP expects uniform original parameter dtype but got {dtypes}"
            )
        self.dtype = policy.param_dtype or params[0].dtype
        self.synchronize = self.synchronize_copies = True
        self.divide_by: float | None = None
        self.sum_only = False
        self.is_whole = False
        self._row: Tensor | None = None
        self._coming: tuple | None = None
        self._by_memory: dict[int, Shared] = {}
        self._waits_for = 0
        self._reduced: list = []
        self.on_gradients: Callable[[], None] = lambda: None

    # The rank's rows.

    def _rows(self) -> Tensor:
        """All of this rank's rows, in which the parameters lie."""
        locals_ = [each.sharded._local_tensor for each in self.shared]
        if self._row is not None and self._lies_in(self._row, locals_):
            return self._row
        first = locals_[0]
        length = sum(each.length for each in self.shared)
        self._row = zeros(length, dtype=first.dtype, device=first.device)
        begin = 0
        for each, local in zip(self.shared, locals_):
            part = self._row[begin : begin + local.numel()].view(local.shape)
            part.copy_(local)
            each.sharded._local_tensor = part
            begin += each.length
        return self._row

    def _lies_in(self, row: Tensor, locals_: list) -> bool:
        begin, size = row.data_ptr(), row.element_size()
        for each, local in zip(self.shared, locals_):
            if local.dtype != row.dtype or (
                local.numel() and local.data_ptr() != begin
            ):
                return False
            begin += each.length * size
        return True

    # Making parameters whole.

    @no_grad()
    def begin(self, async_op: bool = True) -> None:
        """Begins to make them whole, unless they are or it has begun."""
        if self.is_whole or self._coming is not None:
            return
        for each in self.shared:
            each.adopt()
        if any(each.sharded.is_meta for each in self.shared):
            raise RuntimeError(
                "FSDP parameters should be materialized from meta device "
                "before training, but the following were still on meta "
                f"device: {[p.name for e in self.shared for p in e.places]}\n"
                "For example, call module.to_empty(device) to materialize to "
                "device and call module.reset_parameters() on each module to "
                "initialize values."
            )
        own = self._rows().to(self.dtype)
        out = own.new_empty((self.shards.size(), own.numel()))
        work = all_gather_into_tensor(out, own, self.shards, async_op)
        self._coming = out, work

    @no_grad()
    def make_whole(self) -> None:
        """Has the modules see whole parameters."""
        if self.is_whole:
            return
        self.begin(async_op=False)
        gathered, work = self._coming
        if work is not None:
            work.wait()
        self._coming = None
        begin = 0
        for each in self.shared:
            rows = gathered[:, begin : begin + each.length]
            begin += each.length
            whole = rows.reshape(-1)[: each.row * each.shape[0]]
            self._show(each, whole.view(each.shape))
        self._by_memory = {
            each.memory.untyped_storage().data_ptr(): each for each in self.shared
        }
        self.is_whole = True
        self._waits_for = sum(e.sharded.requires_grad for e in self.shared)

    def _show(self, each: Shared, value: Tensor) -> None:
        value = each.seen(value)
        if each.whole is None:
            each.whole = Parameter(value, each.sharded.requires_grad)
            if each.sharded.requires_grad:
                each.whole.register_post_accumulate_grad_hook(
                    lambda param: self._came()
                )
        else:
            each.whole.data = value
        each.register(each.whole)

    def give_up(self) -> None:
        """Has the modules see this rank's rows; the whole ones go, and those
        that nobody has waited for: a step may come before they are asked for.
        """
        if self._coming is not None:
            _, work = self._coming
            if work is not None:
                work.wait()
            self._coming = None
        if not self.is_whole:
            return
        for each in self.shared:
            # Who has it for its gradient keeps none of its memory.
            stub = each.memory.new_empty(1).expand(each.shape)
            each.whole.data = each.seen(stub)
            each.register(each.sharded)
        self._by_memory.clear()
        self.is_whole = False

    def holds(self, tensor: Tensor) -> Shared | None:
        """Whose memory the tensor looks into."""
        if not self.is_whole:
            return None
        return self._by_memory.get(tensor.untyped_storage().data_ptr())

    # Reducing gradients.

    def _came(self) -> None:
        self._waits_for -= 1
        if self._waits_for == 0:
            self.on_gradients()

    @property
    def has_gradients(self) -> bool:
        """True if there are some that are not reduced."""
        return any(
            e.whole is not None and e.whole.grad is not None for e in self.shared
        )

    @no_grad()
    def reduce(self) -> None:
        """Begins to reduce the gradients that there are."""
        if not self.synchronize or not self.has_gradients:
            return
        taken = [e for e in self.shared if e.whole.grad is not None]
        ranks = self.shards.size()
        dtype = self.policy.reduce_dtype or self.dtype
        row = taken[0].memory.new_zeros(
            (ranks, sum(e.length for e in taken)), dtype=dtype
        )
        begin = 0
        for each in taken:
            grad, each.whole.grad = each.whole.grad, None
            if each.inner is not None:
                grad = grad.redistribute(placements=each.inner.placements)
                grad = grad._local_tensor
            flat = grad.reshape(-1)
            part = row[:, begin : begin + each.length]
            _spread(flat, part)
            begin += each.length
        out = row.new_empty(row.size(1))
        op = self._operation(row)
        work = reduce_scatter_tensor(out, row, op, self.shards, async_op=True)
        works = [work]
        if self.copies is not None and self.synchronize_copies:
            works.append(all_reduce(out, op, self.copies, async_op=True))
        self._reduced.append((taken, out, works))

    def _operation(self, row: Tensor):
        if self.divide_by is not None:
            row.div_(self.divide_by)
            return ReduceOp.SUM
        if self.sum_only:
            row.div_(self.mesh.size())
            return ReduceOp.SUM
        return ReduceOp.AVG

    @no_grad()
    def finish(self) -> None:
        """Waits for the gradients, and gives them to the parameters."""
        for taken, out, works in self._reduced:
            for work in works:
                work.wait()
            begin = 0
            for each in taken:
                local = each.sharded._local_tensor
                part = out[begin : begin + local.numel()].view(local.shape)
                begin += each.length
                _accumulate(each, part.to(local.dtype))
        self._reduced.clear()
        self._waits_for = sum(e.sharded.requires_grad for e in self.shared)


def _spread(flat: Tensor, part: Tensor) -> None:
    """Rows of a whole, rank by rank, the last ones padded."""
    length = part.size(1)
    full = flat.numel() // length if length else 0
    if full:
        part[:full].copy_(flat[: full * length].view(full, length))
    rest = flat.numel() - full * length
    if rest:
        part[full, :rest].copy_(flat[full * length :])


def _accumulate(each: Shared, local: Tensor) -> None:
    grad = each.sharded.grad
    if grad is None:
        each.sharded.grad = DTensor(local, each.spec)
    else:
        grad._local_tensor.add_(local)


def _find_places(
    shared: Sequence[Shared], params: Sequence[Parameter], modules: Sequence[Module]
) -> None:
    found = {id(param): each for param, each in zip(params, shared)}
    seen: set[int] = set()
    for root in modules:
        for module in root.modules():
            if id(module) in seen:
                continue
            seen.add(id(module))
            for name, param in module._parameters.items():
                if param is not None and id(param) in found:
                    found[id(param)].places.append(Place(module, name))
