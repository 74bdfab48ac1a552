"""The processes of a world in a grid, and the groups along its dimensions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from weakref import WeakValueDictionary

from .. import arange, int32, is_tensor, tensor
from .groups import (
    default_group,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    is_initialized,
    new_group,
)
from .launchers import value_of

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks in a grid: `mesh` has them, `mesh_dim_names` name its dimensions.

    Along each dimension this process has a group, with the ranks that differ
    from it in that place only. Every process of the world makes the same mesh.

    Raises:
        ValueError: a rank twice, or more dimensions than names.
    """

    def __init__(
        self,
        device_type: str,
        mesh,
        *,
        mesh_dim_names=None,
        backend_override=None,
        _init_backend: bool = True,
        _rank=None,
    ) -> None:
        self.device_type = device_type
        mesh = mesh if is_tensor(mesh) else tensor(mesh, device="cpu")
        self.mesh = mesh.detach().to(int32).cpu().clone()
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
        if device_type == "cuda" and _init_backend:
            _choose_gpu()
        if len(ranks) > get_world_size():
            raise RuntimeError(
                "Mesh should not be bigger than default world size "
                f"{get_world_size()}, but found {len(ranks)} ranks!"
            )
        self._root, self._flattened, self._place = self, {}, None
        self._groups = []
        if _init_backend:
            self._groups = [_along(self.mesh, d) for d in range(self.ndim)]
        _known[self._key()] = self

    @staticmethod
    def from_group(
        group, device_type: str, mesh=None, *, mesh_dim_names=None
    ) -> DeviceMesh:
        """A mesh of groups that are there: one, or one for each dimension, of
        `mesh`.

        Raises:
            ValueError: no group, a mesh of other dimensions or ranks.
        """
        groups = list(group) if isinstance(group, (list, tuple)) else [group]
        if not groups:
            raise ValueError(
                "Expects at least one ProcessGroup to be passed when group is a list"
            )
        if mesh is None:
            if len(groups) > 1:
                raise ValueError("Must pass mesh if passing multiple groups")
            mesh = get_process_group_ranks(groups[0])
        ranks = (mesh if is_tensor(mesh) else tensor(mesh, device="cpu")).to(int32)
        if len(groups) != ranks.dim():
            raise ValueError(
                "Expects mesh with ndim equal to number of ProcessGroups but "
                f"got mesh {ranks.tolist()} and {len(groups)} ProcessGroups"
            )
        if len(groups) == 1 and ranks.tolist() != get_process_group_ranks(groups[0]):
            raise ValueError(
                f"Invalid mesh {ranks.tolist()} for ProcessGroup with ranks "
                f"{get_process_group_ranks(groups[0])}"
            )
        made = DeviceMesh(
            device_type, ranks, mesh_dim_names=mesh_dim_names, _init_backend=False
        )
        made._groups = groups
        return made

    def _key(self) -> tuple:
        ranks = tuple(self.mesh.flatten().tolist())
        return self.device_type, ranks, self.shape, self.mesh_dim_names

    def __reduce__(self):
        """Its ranks: where it is read, the mesh of the same ranks is taken that
        is there, or all of them make one.
        """
        return _found, (self.device_type, self.mesh.tolist(), self.mesh_dim_names)

    def __repr__(self) -> str:
        """`DeviceMesh('cpu', [0, 1])`."""
        names = (
            ""
            if self.mesh_dim_names is None
            else f", mesh_dim_names={self.mesh_dim_names}"
        )
        return f"DeviceMesh({self.device_type!r}, {self.mesh.tolist()}{names})"

    def __eq__(self, other) -> bool:
        """True if it has the same ranks under the same names."""
        if not isinstance(other, DeviceMesh):
            return False
        return self is other or (
            self.mesh.tolist() == other.mesh.tolist()
            and self.device_type == other.device_type
            and self.mesh_dim_names == other.mesh_dim_names
        )

    def __hash__(self) -> int:
        """Hash of the ranks."""
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
                    f"Mesh dimension '{mesh_dim}' does not exist. "
                    f"Available mesh dimensions are: {self.mesh_dim_names}"
                )
            return self.mesh_dim_names.index(mesh_dim)
        if mesh_dim is None:
            if self.ndim > 1:
                raise RuntimeError(
                    f"Found the DeviceMesh have {self.ndim} dimensions",
                    "Optional kwarg `mesh_dim` needs to be specified when "
                    "device_mesh.ndim > 1.",
                    "If you want to get the list of all the ProcessGroups in "
                    "the DeviceMesh,please use `get_all_groups()` instead.",
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
        if not self._groups:
            raise RuntimeError("DeviceMesh process groups not initialized!")
        if self is self._root and mesh_dim in self._flattened:
            return self._flattened[mesh_dim].get_group()
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

    def get_coordinate(self) -> tuple[int, ...] | None:
        """Its places along all dimensions; None outside of the mesh."""
        if self._place is None:
            found = (self.mesh == self.get_rank()).nonzero()
            self._place = tuple(found[0].tolist()) if found.numel() else ()
        return self._place if self._place or self.ndim == 0 else None

    def _is_current_rank_part_of_mesh(self) -> bool:
        return self.get_coordinate() is not None

    def __getitem__(self, names) -> DeviceMesh:
        """The part with this process along the named dimensions.

        Raises:
            RuntimeError: the mesh has no names.
            KeyError: a name that it has not, names in another order.
        """
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (names,) if isinstance(names, str) else tuple(names)
        if names == self.mesh_dim_names:
            return self
        if len(names) == 1 and names[0] in self._root._flattened:
            return self._root._flattened[names[0]]
        known = {name: (d,) for d, name in enumerate(self.mesh_dim_names)}
        groups = dict(zip(self.mesh_dim_names, self._groups))
        if self is self._root:
            for name, part in self._flattened.items():
                known[name], groups[name] = part._dims, part._groups[0]
        if any(name not in known for name in names):
            raise KeyError(
                f"Invalid mesh_dim_names {names} specified. "
                f"Valid mesh_dim_names are {tuple(known)}."
            )
        place = self.get_coordinate()
        if place is None:
            raise RuntimeError("this process is not in the mesh")
        dims = [d for name in names for d in known[name]]
        firsts = [known[name][0] for name in names]
        if firsts != sorted(firsts):
            raise KeyError(
                f"Invalid mesh_dim_names {names} specified. "
                "Mesh dim indices should be in ascending order."
            )
        index = tuple(slice(None) if d in dims else place[d] for d in range(self.ndim))
        order = [sorted(dims).index(d) for d in dims]
        sizes = [math.prod(self.shape[d] for d in known[name]) for name in names]
        ranks = self.mesh[index].permute(order).reshape(sizes)
        return self._part(ranks, names, [groups[n] for n in names] if groups else [])

    def _part(self, ranks, names: tuple, groups: list) -> DeviceMesh:
        part = DeviceMesh.__new__(DeviceMesh)
        part.device_type = self.device_type
        part.mesh, part.mesh_dim_names = ranks, names
        part._groups, part._root, part._flattened = groups, self._root, {}
        part._place = None
        _known.setdefault(part._key(), part)
        return part

    def _flatten(
        self, mesh_dim_name: str | None = None, backend_override=None
    ) -> DeviceMesh:
        """All of its dimensions as one, which the mesh that it is a part of has
        under that name from now on; every process of that one calls it.

        Raises:
            RuntimeError: the mesh has no names.
            ValueError: there is one of that name.
        """
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot flatten a DeviceMesh without mesh_dim_names!")
        name = mesh_dim_name or "_".join(self.mesh_dim_names)
        if self.mesh_dim_names == (name,):
            return self
        root = self._root
        if name in root.mesh_dim_names:
            raise ValueError(
                f"{name} already exists for submesh of the {root}. "
                "Please specify another valid mesh_dim_name."
            )
        if name in root._flattened:
            known = root._flattened[name]
            if known.mesh.tolist() != self.mesh.flatten().tolist():
                raise ValueError(
                    f"Flatten mesh with mesh_dim_name {name} has been created "
                    "before, Please specify another valid mesh_dim_name."
                )
            return known
        dims = [root.mesh_dim_names.index(each) for each in self.mesh_dim_names]
        others = [d for d in range(root.ndim) if d not in dims]
        rows = root.mesh.permute([*others, *dims]).reshape(-1, self.mesh.numel())
        group = _mine_of(rows)
        part = self._part(self.mesh.flatten(), (name,), [group])
        part._dims = tuple(dims)
        root._flattened[name] = part
        return part

    def _get_all_submeshes(self, mesh_dim_name: str) -> list[DeviceMesh]:
        """The rows along a dimension, those of other processes, too; groups
        has this process's only.
        """
        dim = self._dim(mesh_dim_name)
        own = self[mesh_dim_name].mesh.tolist()
        return [
            self._part(
                row,
                (mesh_dim_name,),
                [self._groups[dim]] if row.tolist() == own else [],
            )
            for row in self.mesh.movedim(dim, -1).reshape(-1, self.mesh.size(dim))
        ]


def _along(mesh, dim: int):
    """This process's group along a dimension; all are made by all."""
    if mesh.dim() == 1 and mesh.tolist() == list(range(get_world_size())):
        return default_group()
    return _mine_of(mesh.movedim(dim, -1).reshape(-1, mesh.size(dim)))


def _mine_of(rows):
    """A group for each row of ranks: the one that this process is in."""
    mine = None
    for ranks in rows.tolist():
        made = new_group(ranks, sort_ranks=False)
        if get_rank() in ranks:
            mine = made
    return mine


_known: WeakValueDictionary = WeakValueDictionary()
_entered: list[DeviceMesh] = []


def _choose_gpu() -> None:
    """This rank's own GPU, if the program has not chosen one."""
    from .. import cuda

    count = cuda.device_count()
    if not count or cuda.is_initialized() or cuda.current_device():
        return
    local = value_of("LOCAL_RANK")
    if local is None:
        local = get_rank()
        if count > 1:
            warnings.warn(
                "no GPU was chosen before the device mesh was made, and no "
                "launcher says LOCAL_RANK: this rank takes number "
                f"{get_rank() % count}. torch.cuda.set_device() chooses one",
                stacklevel=4,
            )
    cuda.set_device(int(local) % count)


def _found(device_type: str, ranks: list, names) -> DeviceMesh:
    mesh = tensor(ranks, device="cpu")
    numbers = tuple(mesh.flatten().tolist())
    key = device_type, numbers, tuple(mesh.shape), names
    return _known.get(key) or DeviceMesh(device_type, ranks, mesh_dim_names=names)


def current_mesh() -> DeviceMesh:
    """The mesh that was entered last; RuntimeError outside of any."""
    if not _entered:
        raise RuntimeError("No device mesh is currently active!")
    return _entered[-1]


def init_device_mesh(
    device_type: str,
    mesh_shape: Sequence[int],
    *,
    mesh_dim_names=None,
    backend_override=None,
) -> DeviceMesh:
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
                "mesh_shape and mesh_dim_names should have same length! "
                f"Found len(mesh_dim_names): {len(mesh_dim_names)} and "
                f"len(mesh_shape):{len(mesh_shape)}."
            )
    if not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. "
        )
    ranks = arange(math.prod(mesh_shape), device="cpu").view(tuple(mesh_shape))
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)
