"""Operators on tensors that lie in parts on several processes.

For every operator there is a table of ways to compute it from parts, along one
dimension of a mesh (`_pointwise.py` and its kin). The cheapest is taken, by
the bytes that have to be exchanged for it; what has no way but one is computed
from the whole tensors, in every rank.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ... import _C, is_grad_enabled
from ..._answering.names import base_name
from ..._C import Tensor
from ..._dispatch.stack import native
from ...utils import _pytree
from . import _history
from ._call import COMPOSED, RULES, WHOLE, Call, R, Rule, Way, all_replicated
from ._dtensor_spec import DTensorSpec, TensorMeta, dense_stride
from .placement_types import Partial, Placement, Replicate, Shard, _StridedShard


def operator(function, name: str, args: tuple, kwargs: dict) -> Any:
    """An operator's results."""
    base = base_name(name)
    call = Call(function, name, args, kwargs)
    _distribute_scalars(call)
    found = COMPOSED.get(name) or COMPOSED.get(base)
    if found is not None:
        return found(call)
    return run(call, RULES.get(name) or RULES.get(base) or WHOLE)


def plain(function, *args, **kwargs) -> Any:
    """The function as it is for tensors that nobody else answers for."""
    with _C.DisableTorchFunctionSubclass():
        return native(function, args, kwargs)


def run(call: Call, rule: Rule) -> Any:
    """By the cheapest of the rule's ways."""
    tensors = call.tensors
    mesh = _mesh_of(tensors)
    targets: list[list] = [[] for _ in tensors]
    outs: list = []
    for dim in range(mesh.ndim):
        call.mesh_size, call.mesh_dim = mesh.size(dim), dim
        current = [t._spec.placements[dim] for t in tensors]
        way = _cheapest(call, rule.ways(call), current)
        outs.append(way.out)
        for target, placement in zip(targets, way.ins):
            target.append(placement)
    if call.in_place and tuple(targets[0]) != tensors[0]._spec.placements:
        return _in_place_of_whole(call)
    placed = [
        t if t._spec.placements == tuple(target) else _history.redistributed(t, target)
        for t, target in zip(tensors, targets)
    ]
    parts = [_history.part(t) for t in placed]
    if call.recorded:
        parts = [
            _history.shared(p, t._spec, _uses(t._spec.placements, outs))
            for p, t in zip(parts, placed)
        ]
    if call.in_place and is_grad_enabled() and parts[0].requires_grad:
        parts[0] = parts[0].clone()  # what the graph of the part has stays
    call.placed, call.outs, call.mesh = placed, outs, mesh
    if rule.local is not None:
        result = rule.local(call, parts)
    else:
        given, named = call.with_tensors(parts)
        result = call.function(*given, **named)
    if call.in_place:
        own = result if isinstance(result, Tensor) else parts[0]
        return _history.written(tensors[0], own)
    return _wrapped(result, call)


def _uses(placements: Sequence[Placement], outs: Sequence) -> list[int]:
    """Dimensions of the mesh along which ranks use a whole tensor for parts of
    a result, so that its gradient is the sum of theirs.
    """
    return [
        dim
        for dim, (placement, out) in enumerate(zip(placements, outs))
        if isinstance(placement, Replicate)
        and not all(
            isinstance(o, Replicate)
            for o in (out if isinstance(out, tuple) else (out,))
        )
    ]


def _cheapest(call: Call, ways: list[Way], current: list) -> Way:
    best, least = None, None
    for way in ways:
        if call.in_place and (way.ins[0] != current[0] or way.out != current[0]):
            continue
        cost = 0.0
        for tensor, source, target in zip(call.tensors, current, way.ins):
            cost += _cost(tensor, source, target, call.mesh_size)
        if least is None or cost < least:
            best, least = way, cost
    return all_replicated(call) if best is None else best


def _cost(tensor, source: Placement, target: Placement, count: int) -> float:
    """Cost of moving a tensor: about the bytes that a rank sends."""
    if source == target:
        return 0.0
    meta = tensor._spec.tensor_meta
    size = math.prod(meta.shape) * meta.dtype.itemsize / max(count, 1)
    if isinstance(target, Partial):
        if isinstance(source, Partial):
            return float("inf")
        return 1e-3 if isinstance(source, Replicate) else size * count
    if isinstance(source, Replicate):
        return 1e-3
    steps = max(count - 1, 1)
    if isinstance(source, Partial):
        scale = 2 if isinstance(target, Replicate) else 1
        return (64 + size * steps) * scale
    if isinstance(target, Shard):
        return 64 + size
    return 64 + size * steps


def _mesh_of(tensors: Sequence):
    mesh = tensors[0]._spec.mesh
    for tensor in tensors[1:]:
        if tensor._spec.mesh is not mesh and tensor._spec.mesh != mesh:
            raise RuntimeError(
                "DTensor does not support cross-mesh operation yet! "
                f"Got meshes: {mesh} {tensor._spec.mesh}"
            )
    if mesh.get_coordinate() is None:
        raise RuntimeError(
            f"this process is not in {mesh}, so it has no part of its tensors"
        )
    return mesh


def _distribute_scalars(call: Call) -> None:
    """Tensors of one number count as whole in each rank, others must say."""
    made = _history._made[0]
    plain_ones = [i for i in call.places if not isinstance(call.leaves[i], made)]
    if not plain_ones:
        return
    mesh = next(t for t in call.tensors if isinstance(t, made))._spec.mesh
    for place in plain_ones:
        leaf = call.leaves[place]
        if (leaf.dim() > 1 or leaf.numel() > 1) and not (
            {"", call.name} & set(_implicit.names)
        ):
            raise RuntimeError(
                f"aten.{call.name}: got mixed torch.Tensor and DTensor, need "
                "to convert all torch.Tensor to DTensor before calling "
                "distributed operators! Please see https://docs.pytorch.org/"
                "docs/main/distributed.tensor.html#mixed-tensor-and-dtensor-"
                "operations for more details."
            )
        call.leaves[place] = replicated(leaf, mesh)
    call.args, call.kwargs = _pytree.tree_unflatten(call.leaves, call._tree)


class _Thread(threading.local):
    def __init__(self) -> None:
        self.names: list[str] = []


_implicit = _Thread()


@contextmanager
def wholes(name: str) -> Iterator[None]:
    """Inside, plain tensors beside DTensors count as whole in each rank, where
    operators of this name ("": all) are given them.
    """
    _implicit.names.append(name)
    try:
        yield
    finally:
        _implicit.names.pop()


def replicated(local: Tensor, mesh):
    """The tensor, whole in each rank of a mesh."""
    meta = TensorMeta(tuple(local.shape), tuple(local.stride()), local.dtype)
    return _history.whole(local, DTensorSpec(mesh, (R,) * mesh.ndim, meta))


def _wrapped(result, call: Call):
    if isinstance(result, Tensor):
        return _history.whole(result, spec_of(result, call.outs, call))
    leaves, tree = _pytree.tree_flatten(result)
    outs = [
        out if isinstance(out, tuple) else (out,) * len(leaves) for out in call.outs
    ]
    made = [
        _history.whole(leaf, spec_of(leaf, [o[i] for o in outs], call))
        if isinstance(leaf, Tensor)
        else leaf
        for i, leaf in enumerate(leaves)
    ]
    return _pytree.tree_unflatten(made, tree)


def spec_of(local: Tensor, placements: Sequence[Placement], call: Call):
    """Specification of a result whose part is `local`.

    A dimension that is cut comes from one of an argument that is: of the same
    length in parts it is of the same length in whole, else as many times
    longer as there are parts.
    """
    shape = list(local.shape)
    for dim in {p.dim for p in placements if isinstance(p, _CUTS)}:
        shape[dim] = _length(shape[dim], dim, placements, call)
    stride = dense_stride(shape, local.stride())
    meta = TensorMeta(tuple(shape), stride, local.dtype)
    return DTensorSpec(call.mesh, tuple(placements), meta)


_CUTS = (Shard, _StridedShard)


def _cutting(placements: Sequence[Placement], dim: int) -> list[int]:
    """The dimensions of the mesh that cut one of a tensor."""
    return [
        i for i, p in enumerate(placements) if isinstance(p, _CUTS) and p.dim == dim
    ]


def _length(length: int, dim: int, placements: Sequence[Placement], call: Call) -> int:
    dims = _cutting(placements, dim)
    for tensor in call.placed:
        spec = tensor._spec
        for own in {p.dim for p in spec.placements if isinstance(p, _CUTS)}:
            if (
                _cutting(spec.placements, own) == dims
                and tensor._local_tensor.size(own) == length
            ):
                return spec.shape[own]
    return length * math.prod(call.mesh.size(d) for d in dims)


def _in_place_of_whole(call: Call):
    """In place on a copy that is whole, of which each rank keeps its part."""
    out = call.tensors[0]
    replicated_all = [
        _history.redistributed(t, (R,) * t._spec.mesh.ndim) for t in call.tensors
    ]
    parts = [_history.part(t) for t in replicated_all]
    parts[0] = parts[0].clone()
    given, named = call.with_tensors(parts)
    plain(call.function, *given, **named)
    found = replicated(parts[0], out._spec.mesh)
    return assign(out, found)


def assign(out, result):
    """Writes a result where the caller wants it."""
    if not isinstance(out, _history._made[0]):
        raise RuntimeError("out= of an operator of DTensors must be a DTensor")
    if tuple(out.shape) != tuple(result.shape):
        raise RuntimeError(
            f"out= is of shape {tuple(out.shape)}, the result of {tuple(result.shape)}"
        )
    there = _history.redistributed(result, out._spec.placements)
    return _history.written(out, _history.part(there))
