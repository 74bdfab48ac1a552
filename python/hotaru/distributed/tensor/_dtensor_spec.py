"""How a whole tensor lies on the processes of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ... import dtype as Dtype
from ..device_mesh import DeviceMesh
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = ["DTensorSpec", "TensorMeta"]


class TensorMeta(NamedTuple):
    """Properties of the whole tensor."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: Dtype


@dataclass(frozen=True)
class DTensorSpec:
    """A mesh, a placement along each of its dimensions (the outermost cuts
    first), and what the whole is like.
    """

    mesh: DeviceMesh
    placements: tuple[Placement, ...]
    tensor_meta: TensorMeta

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh."""
        return self.mesh

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the whole."""
        return self.tensor_meta.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions of the whole."""
        return len(self.shape)

    @property
    def num_shards(self) -> int:
        """Into how many parts the whole is cut."""
        count = 1
        for dim, placement in enumerate(self.placements):
            if placement.is_shard():
                count *= self.mesh.size(dim)
        return count

    @property
    def dim_map(self) -> list[int]:
        """For each dimension the one of the mesh that cuts it, or -1."""
        found = [-1] * self.ndim
        for dim, placement in enumerate(self.placements):
            if isinstance(placement, Shard):
                found[placement.dim] = dim
        return found

    def is_replicated(self) -> bool:
        """True if every rank has all of it."""
        return all(p.is_replicate() for p in self.placements)

    def is_sharded(self) -> bool:
        """True if ranks have parts."""
        return any(p.is_shard() for p in self.placements)

    def placed(self, placements: Sequence[Placement]) -> DTensorSpec:
        """The same tensor in another place."""
        return DTensorSpec(self.mesh, tuple(placements), self.tensor_meta)

    def dual(self) -> DTensorSpec:
        """Where a gradient of it lies: whole in each where it is a reduction
        of what the ranks have, as it itself else.
        """
        if not any(isinstance(p, Partial) for p in self.placements):
            return self
        return self.placed(
            Replicate() if isinstance(p, Partial) else p for p in self.placements
        )

    @property
    def averaged(self) -> int:
        """Number of parts of which it is the average: a part's gradient is
        that share of the whole's.
        """
        count = 1
        for dim, placement in enumerate(self.placements):
            if placement.is_partial("avg"):
                count *= self.mesh.size(dim)
        return count


def dense_stride(shape: Sequence[int], like: Sequence[int] = ()) -> tuple[int, ...]:
    """Strides of a dense tensor of that shape, its dimensions in memory in the
    order that the strides `like` are in (row after row without them).
    """
    order = list(range(len(shape)))
    if len(like) == len(shape):
        order.sort(key=lambda d: (-like[d], d))
    found, step = [1] * len(shape), 1
    for dim in reversed(order):
        found[dim] = step
        step *= max(shape[dim], 1)
    return tuple(found)


def normalized(
    placements: Sequence[Placement] | None, mesh: DeviceMesh, ndim: int
) -> tuple[Placement, ...]:
    """Placements along all dimensions of a mesh, with dimensions counted from
    the front; all Replicate() for None.

    Raises:
        ValueError: not one for each dimension of the mesh, a dimension that
            the tensor does not have.
        TypeError: what is no placement.
    """
    if placements is None:
        return (Replicate(),) * mesh.ndim
    found = []
    for placement in placements:
        if not isinstance(placement, Placement):
            raise TypeError(f"{placement!r} is no placement")
        if isinstance(placement, Shard):
            dim = placement.dim + ndim if placement.dim < 0 else placement.dim
            if not 0 <= dim < ndim:
                raise ValueError(
                    f"Shard(dim={placement.dim}) of a tensor of {ndim} dimensions"
                )
            placement = Shard(dim)
        found.append(placement)
    if len(found) != mesh.ndim:
        raise ValueError(
            "`placements` must have the same length as `device_mesh.ndim`! "
            f"Found placements length: {len(found)}, and device_mesh.ndim: "
            f"{mesh.ndim}."
        )
    return tuple(found)
