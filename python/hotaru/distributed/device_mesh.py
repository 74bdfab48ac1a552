"""The processes of a world in a grid, and the groups along its dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from weakref import WeakValueDictionary

from .. import arange, int64, is_tensor, tensor
from .groups import (
    get_rank,
    get_world_size,
    init_process_group,
    is_initialized,
    new_group,
)

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks in a grid: `mesh` has them, `mesh_dim_names` name its dimensions.

    Along each dimension this process has a group, with the ranks that differ
    from it in that place only. Every process of the world makes the same mesh.

    Raises:
        ValueError: a rank twice, or more dimensions than names.
    """

    def __init__(
        self, device_type: str, mesh, *, mesh_dim_names=None,
        backend_override=None, _init_backend: bool = True, _rank=None,
    ) -> None:  # fmt: skip
        self.device_type = device_type
        mesh = mesh if is_tensor(mesh) else tensor(mesh, device="cpu")
        self.mesh = mesh.detach().to(int64).clone()
        names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        if names is not None and len(names) != self.mesh.dim():
            raise ValueError(
                f"{len(names)} names for a mesh of {self.mesh.dim()} dimensions"
            )
        self.mesh_dim_names = names
        ranks = self.mesh.flatten().tolist()
        if len(set(ranks)) != len(ranks):
            raise ValueError(f"a rank is in the mesh twice: {ranks}")
        if not is_initialized():
            init_process_group()
        if len(ranks) > get_world_size():
            raise RuntimeError(
                "Mesh should not be bigger than default world size "
                f"{get_world_size()}, but found {len(ranks)} ranks!"
            )
        self._groups = [self._along(dim) for dim in range(self.mesh.dim())]
        _known[self._key()] = self

    def _key(self) -> tuple:
        ranks = tuple(self.mesh.flatten().tolist())
        return self.device_type, ranks, self.shape, self.mesh_dim_names

    def __reduce__(self):
        """Its ranks: where it is read, the mesh of the same ranks is taken that
        is there, or all of them make one.
        """
        return _found, (
            self.device_type, self.mesh.tolist(), self.mesh_dim_names,
        )  # fmt: skip

    def _along(self, dim: int):
        """This process's group along a dimension; all are made by all."""
        mine = None
        for ranks in self.mesh.movedim(dim, -1).reshape(
            -1, self.mesh.size(dim)
        ):
            made = new_group(ranks.tolist(), sort_ranks=False)
            if get_rank() in ranks.tolist():
                mine = made
        return mine

    def __repr__(self) -> str:
        """`DeviceMesh('cpu', [0, 1])`."""
        names = (
            "" if self.mesh_dim_names is None
            else f", mesh_dim_names={self.mesh_dim_names}"
        )  # fmt: skip
        return f"DeviceMesh({self.device_type!r}, {self.mesh.tolist()}{names})"

    def __eq__(self, other) -> bool:
        """Whether it has the same ranks under the same names."""
        if not isinstance(other, DeviceMesh):
            return False
        return self is other or (
            self.mesh.tolist() == other.mesh.tolist()
            and self.device_type == other.device_type
            and self.mesh_dim_names == other.mesh_dim_names
        )

    def __hash__(self) -> int:
        """Of the ranks."""
        return hash((tuple(self.mesh.flatten().tolist()), self.mesh_dim_names))

    @property
    def ndim(self) -> int:
        """How many dimensions."""
        return self.mesh.dim()

    @property
    def shape(self) -> tuple[int, ...]:
        """Ranks along each dimension."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many ranks, of all or along a dimension."""
        if mesh_dim is None:
            return self.mesh.numel()
        return self.mesh.size(mesh_dim)

    def _dim(self, mesh_dim) -> int:
        if isinstance(mesh_dim, str):
            if mesh_dim not in (self.mesh_dim_names or ()):
                raise KeyError(
                    f"Mesh dimension '{mesh_dim}' does not exist. Available "
                    f"mesh dimensions are: {self.mesh_dim_names}"
                )
            return self.mesh_dim_names.index(mesh_dim)
        if mesh_dim is None:
            if self.ndim > 1:
                raise RuntimeError(
                    f"Found the DeviceMesh have {self.ndim} dimensions: say "
                    "which one by `mesh_dim`"
                )
            return 0
        return mesh_dim

    def __enter__(self) -> DeviceMesh:
        """Inside, it is the mesh of DTensors that are made without one."""
        _entered.append(self)
        return self

    def __exit__(self, *error) -> None:
        """Ends that."""
        _entered.pop()

    def get_group(self, mesh_dim=None):
        """The group along a dimension, by number or name."""
        return self._groups[self._dim(mesh_dim)]

    def get_all_groups(self) -> list:
        """The groups along all dimensions."""
        return list(self._groups)

    def get_rank(self) -> int:
        """This process's rank in the world."""
        return get_rank()

    def get_local_rank(self, mesh_dim=None) -> int:
        """Its place along a dimension."""
        group = self.get_group(mesh_dim)
        return group.rank()

    def get_coordinate(self) -> list[int] | None:
        """Its places along all dimensions; None outside of the mesh."""
        found = (self.mesh == self.get_rank()).nonzero()
        return found[0].tolist() if found.numel() else None

    def __getitem__(self, names) -> DeviceMesh:
        """The part with this process along the named dimensions."""
        if self.mesh_dim_names is None:
            raise RuntimeError(
                "Cannot slice a DeviceMesh without mesh_dim_names!"
            )
        names = (names,) if isinstance(names, str) else tuple(names)
        dims = [self._dim(name) for name in names]
        place = self.get_coordinate()
        if place is None:
            raise RuntimeError("this process is not in the mesh")
        index = tuple(
            slice(None) if d in dims else place[d] for d in range(self.ndim)
        )
        part = DeviceMesh.__new__(DeviceMesh)
        order = [sorted(dims).index(d) for d in dims]
        part.device_type = self.device_type
        part.mesh = self.mesh[index].permute(order)
        part.mesh_dim_names = names
        part._groups = [self._groups[d] for d in dims]
        _known.setdefault(part._key(), part)
        return part


_known: WeakValueDictionary = WeakValueDictionary()
_entered: list[DeviceMesh] = []


def _found(device_type: str, ranks: list, names) -> DeviceMesh:
    mesh = tensor(ranks, device="cpu")
    numbers = tuple(mesh.flatten().tolist())
    key = device_type, numbers, tuple(mesh.shape), names
    return _known.get(key) or DeviceMesh(
        device_type, ranks, mesh_dim_names=names
    )


def current_mesh() -> DeviceMesh:
    """The mesh that was entered last; RuntimeError outside of any."""
    if not _entered:
        raise RuntimeError("No device mesh is currently active!")
    return _entered[-1]


def init_device_mesh(
    device_type: str, mesh_shape: Sequence[int], *, mesh_dim_names=None,
    backend_override=None,
) -> DeviceMesh:  # fmt: skip
    """All ranks of the world in this shape, in order.

    Raises:
        RuntimeError: names that are not unique, or not as many as dimensions.
    """
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                "Each mesh_dim_name must be unique. Found repeated "
                f"mesh_dim_name in mesh_dim_names {mesh_dim_names}"
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! Found "
                f"len(mesh_dim_names): {len(mesh_dim_names)} and "
                f"len(mesh_shape):{len(mesh_shape)}."
            )
    if not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. "
        )
    ranks = arange(math.prod(mesh_shape), device="cpu").view(tuple(mesh_shape))
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)
