"""How a rank's part of a tensor becomes its part in another placement."""

from __future__ import annotations

from collections.abc import Sequence

from ... import Tensor, cat, no_grad, ones_like, zeros_like
from ..._C import ops
from ..collectives import (
    all_gather_into_tensor,
    all_reduce,
    all_to_all,
    reduce_scatter_tensor,
)
from ..device_mesh import DeviceMesh
from ..reduce_op import ReduceOp
from ._dtensor_spec import DTensorSpec
from .placement_types import Partial, Placement, Replicate, Shard, _StridedShard

_OPS = {
    "sum": ReduceOp.SUM,
    "avg": ReduceOp.AVG,
    "product": ReduceOp.PRODUCT,
    "max": ReduceOp.MAX,
    "min": ReduceOp.MIN,
}


@no_grad()
def moved(local: Tensor, spec: DTensorSpec, target: Sequence[Placement]):
    """The rank's part of a tensor in the placements `target`.

    All ranks of the mesh call it alike. What needs no exchange may be a view.
    """
    mesh = spec.mesh
    if mesh.get_coordinate() is None:
        return local
    current, target = list(spec.placements), list(target)
    local = local.detach()
    if mesh.ndim == 1:
        return _step(local, spec, current, 0, target[0])
    if current == target:
        return local
    # Cuts made after the dimensions inside of them come together first.
    for dim in range(mesh.ndim):
        if cut_last(current, dim):
            tensor_dim = current[dim].dim
            size = _size_inside(spec, current, dim, tensor_dim)
            local = _gathered(local, tensor_dim, size, mesh, dim)
            current[dim] = Replicate()
    last = [dim for dim in range(mesh.ndim) if cut_last(target, dim)]
    # A dimension that several dimensions of the mesh cut is put together from
    # the inside, and cut from the outside.
    for dim in reversed(range(mesh.ndim)):
        cut = current[dim]
        if isinstance(cut, Shard) and (
            cut != target[dim]
            or any(
                current[k] != target[k] and cut in (current[k], target[k])
                for k in range(dim)
            )
        ):
            local = _step(local, spec, current, dim, Replicate())
    for dim in range(mesh.ndim):
        if dim not in last:
            local = _step(local, spec, current, dim, target[dim])
    for dim in last:
        if isinstance(current[dim], Partial):
            local = _step(local, spec, current, dim, Replicate())
        local = _cut(local, target[dim].dim, mesh, dim)
    return local


def cut_last(placements: Sequence[Placement], dim: int) -> bool:
    """True if a dimension of the mesh cuts what those after it have cut."""
    placement = placements[dim]
    return isinstance(placement, _StridedShard) and (
        Shard(placement.dim) in placements[dim + 1 :]
    )


def _size_inside(
    spec: DTensorSpec, placements: Sequence[Placement], mesh_dim: int, dim: int
) -> int:
    """How long a dimension is in what the dimensions of the mesh after one have
    left of the whole.
    """
    size, place = spec.shape[dim], spec.mesh.get_coordinate()
    for inner in range(mesh_dim + 1, spec.mesh.ndim):
        if placements[inner] == Shard(dim):
            size, _ = Shard.local_shard_size_and_offset(
                size, spec.mesh.size(inner), place[inner]
            )
    return size


def _step(
    local: Tensor, spec: DTensorSpec, current: list, dim: int, target: Placement
) -> Tensor:
    """Along one dimension of the mesh; notes it in `current`."""
    source = current[dim]
    if source == target:
        return local
    mesh = spec.mesh
    if isinstance(source, _StridedShard) or isinstance(target, _StridedShard):
        return _strided_step(local, spec, current, dim, target)
    if isinstance(target, Partial):
        if isinstance(source, Shard):
            local = _step(local, spec, current, dim, Replicate())
        elif isinstance(source, Partial):
            raise RuntimeError(f"redistribute: {source!r} is not {target!r}")
        current[dim] = target
        return _share_of(local, target, mesh.get_coordinate()[dim])
    if isinstance(source, Partial):
        local = _reduced(local, source, target, mesh, dim)
    elif isinstance(source, Replicate):
        local = _cut(local, target.dim, mesh, dim)
    elif isinstance(target, Shard):
        local = _turned(
            local,
            source.dim,
            target.dim,
            size_before(spec, current, dim, source.dim),
            mesh,
            dim,
        )
    else:
        size = size_before(spec, current, dim, source.dim)
        local = _gathered(local, source.dim, size, mesh, dim)
    current[dim] = target
    return local


def _strided_step(
    local: Tensor, spec: DTensorSpec, current: list, dim: int, target: Placement
) -> Tensor:
    """By way of the whole, in which the parts of the pieces take turns."""
    source, count = current[dim], spec.mesh.size(dim)
    if isinstance(source, _StridedShard):
        pieces = source.split_factor
        size = local.size(source.dim)
        if size % pieces:
            raise NotImplementedError(f"{source!r} of parts of {size}")
        whole = _gathered(local, source.dim, size * count, spec.mesh, dim).unflatten(
            source.dim, (count, pieces, size // pieces)
        )
        local = whole.transpose(source.dim, source.dim + 1).flatten(
            source.dim, source.dim + 2
        )
        current[dim] = Replicate()
        return _step(local, spec, current, dim, target)
    local = _step(local, spec, current, dim, Replicate())
    size, pieces = local.size(target.dim), target.split_factor
    if size % (pieces * count):
        raise NotImplementedError(
            f"{target!r}: {size} is not {pieces} pieces of {count} equal parts"
        )
    current[dim] = target
    cut = local.unflatten(target.dim, (pieces, count, size // pieces // count))
    own = cut.select(target.dim + 1, spec.mesh.get_coordinate()[dim])
    return own.flatten(target.dim, target.dim + 1).contiguous()


def size_before(
    spec: DTensorSpec, placements: Sequence[Placement], mesh_dim: int, dim: int
) -> int:
    """How long a dimension is in the part that this rank's group along a
    dimension of the mesh shares out.
    """
    size, place = spec.shape[dim], spec.mesh.get_coordinate()
    for outer in range(mesh_dim):
        if placements[outer] == Shard(dim):
            size, _ = Shard.local_shard_size_and_offset(
                size, spec.mesh.size(outer), place[outer]
            )
    return size


def _share_of(local: Tensor, target: Partial, place: int) -> Tensor:
    """Parts whose reduction is a tensor that every rank has."""
    if target.reduce_op == "sum":
        return local if place == 0 else zeros_like(local)
    if target.reduce_op == "product":
        return local if place == 0 else ones_like(local)
    return local


def _cut(local: Tensor, dim: int, mesh: DeviceMesh, mesh_dim: int) -> Tensor:
    size, begin = Shard.local_shard_size_and_offset(
        local.size(dim), mesh.size(mesh_dim), mesh.get_coordinate()[mesh_dim]
    )
    return local.narrow(dim, begin, size).contiguous()


def _padded(local: Tensor, dim: int, size: int) -> Tensor:
    """With zeros at the end of a dimension, dense."""
    lacking = size - local.size(dim)
    if lacking:
        widths = [0, 0] * (local.dim() - dim - 1) + [0, lacking]
        local = ops.constant_pad_nd(local, widths)
    return local.contiguous()


def _gathered(
    local: Tensor, dim: int, size: int, mesh: DeviceMesh, mesh_dim: int
) -> Tensor:
    count = mesh.size(mesh_dim)
    most = -(-size // count)
    part = _padded(local, dim, most)
    whole = part.new_empty((count, *part.shape))
    all_gather_into_tensor(whole, part, mesh.get_group(mesh_dim))
    joined = whole.flatten(0, 1) if dim == 0 else cat(list(whole), dim)
    if most * count != size:
        joined = joined.narrow(dim, 0, size)
    return joined.contiguous()  # as a part is that was the whole


def _reduced(
    local: Tensor, source: Partial, target: Placement, mesh: DeviceMesh, mesh_dim: int
) -> Tensor:
    op, group = _op_of(source), mesh.get_group(mesh_dim)
    if isinstance(target, Replicate):
        out = local.clone().contiguous()
        all_reduce(out, op, group)
        return out
    count, size = mesh.size(mesh_dim), local.size(target.dim)
    most = -(-size // count)
    rows = _padded(local, target.dim, most * count)
    if target.dim:
        rows = cat(rows.chunk(count, target.dim))
    out = rows.new_empty((rows.size(0) // count, *rows.shape[1:]))
    reduce_scatter_tensor(out, rows, op, group)
    own, _ = Shard.local_shard_size_and_offset(
        size, count, mesh.get_coordinate()[mesh_dim]
    )
    return out.narrow(target.dim, 0, own).contiguous()


def _turned(
    local: Tensor, source: int, target: int, size: int, mesh: DeviceMesh, mesh_dim: int
) -> Tensor:
    """Cut along another dimension: every rank sends every other its corner."""
    count = mesh.size(mesh_dim)
    lengths = [
        Shard.local_shard_size_and_offset(size, count, rank)[0] for rank in range(count)
    ]
    parts = [
        local.narrow(target, begin, length).contiguous()
        for length, begin in (
            Shard.local_shard_size_and_offset(local.size(target), count, rank)
            for rank in range(count)
        )
    ]
    own = parts[mesh.get_coordinate()[mesh_dim]]
    received = []
    for length in lengths:
        shape = list(own.shape)
        shape[source] = length
        received.append(own.new_empty(shape))
    all_to_all(received, parts, mesh.get_group(mesh_dim))
    return cat(received, source)


def _op_of(placement: Partial):
    if placement.reduce_op not in _OPS:
        raise RuntimeError(f"redistribute: {placement!r} is none of {', '.join(_OPS)}")
    return _OPS[placement.reduce_op]
