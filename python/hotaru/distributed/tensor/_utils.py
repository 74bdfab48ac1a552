"""Where a rank's part of a tensor is."""

from __future__ import annotations

from collections.abc import Sequence

from ._redistribute import cut_last
from .placement_types import Placement, Shard

__all__ = ["compute_local_shape_and_global_offset"]


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh, placements: Sequence[Placement]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of this process's part, and where in the whole it begins.

    `placements` are those along the mesh's dimensions, outermost first. A
    process that is not in the mesh has nothing.
    """
    place = mesh.get_coordinate()
    if place is None:
        return (0,), ()
    shape, offset = list(global_shape), [0] * len(global_shape)
    # Cuts made after the dimensions inside of them come last.
    for dim, placement in sorted(
        enumerate(placements), key=lambda pair: cut_last(placements, pair[0])
    ):
        if isinstance(placement, Shard) or cut_last(placements, dim):
            size, begin = Shard.local_shard_size_and_offset(
                shape[placement.dim], mesh.size(dim), place[dim]
            )
            shape[placement.dim] = size
            offset[placement.dim] += begin
    return tuple(shape), tuple(offset)
