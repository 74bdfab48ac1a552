"""Facts of the tensors that go from stage to stage."""

from __future__ import annotations

import typing
from dataclasses import dataclass

from ... import Tensor, empty
from ...utils._pytree import tree_leaves
from ..tensor import DTensor
from ._actions import placed_stages, stages_of_ranks

__all__ = [
    "PipeInfo",
    "PipeliningMetadataError",
    "TensorMeta",
    "flatten_args",
    "generate_rank_to_stage_mapping",
    "generate_stage_to_rank_mapping",
]

generate_stage_to_rank_mapping = placed_stages
generate_rank_to_stage_mapping = stages_of_ranks


class PipeliningMetadataError(RuntimeError):
    """A tensor is not as the other stage takes it to be."""


@dataclass(frozen=True)
class PipeInfo:
    """Facts of a `Pipe`: its outer graph, and how many stages there are."""

    graph: object
    num_stages: int
    has_loss_and_backward: bool


@dataclass(frozen=True)
class TensorMeta:
    """The looks of a tensor; of a DTensor of its part, with what the whole is."""

    shape: tuple
    stride: tuple
    dtype: object
    requires_grad: bool
    placements: tuple | None = None
    global_shape: tuple | None = None
    global_stride: tuple | None = None
    mesh_names: tuple | None = None

    @staticmethod
    def from_tensor(tensor: Tensor) -> TensorMeta:
        """The looks of this one."""
        if not isinstance(tensor, DTensor):
            return TensorMeta(
                tuple(tensor.shape),
                tuple(tensor.stride()),
                tensor.dtype,
                tensor.requires_grad,
            )
        part = tensor.to_local()
        return TensorMeta(
            tuple(part.shape),
            tuple(part.stride()),
            part.dtype,
            tensor.requires_grad,
            tuple(tensor.placements),
            tuple(tensor.shape),
            tuple(tensor.stride()),
            tuple(tensor.device_mesh.mesh_dim_names or ()),
        )

    def buffer(self, device) -> Tensor:
        """A tensor to receive into."""
        return empty(self.shape, dtype=self.dtype, device=device)

    def get_diff(self, other: TensorMeta) -> list[str]:
        """The differences but for gradients, which follow from the run."""
        names = ["shape", "stride", "dtype"]
        if self.placements is not None or other.placements is not None:
            names += ["global_shape", "placements"]
        return [
            f"{name} mismatch: {getattr(self, name)} vs {getattr(other, name)}"
            for name in names
            if getattr(self, name) != getattr(other, name)
        ]


def local_of(tensor: Tensor) -> Tensor:
    """Tensor to be sent: dense, without history, the part of a DTensor."""
    found = tensor.detach()
    if isinstance(found, DTensor):
        found = found.to_local()
    return found.contiguous()


class Meshes:
    """Meshes of DTensors by the names of their dimensions; messages have none.

    Args:
        get_mesh: called with names, and None, for one that is not known.
    """

    def __init__(self, get_mesh=None) -> None:
        self._get_mesh = get_mesh
        self._known: dict[tuple, object] = {}

    def learn(self, tensors) -> None:
        """Remembers those of tensors."""
        for tensor in tensors or ():
            if isinstance(tensor, DTensor):
                mesh = tensor.device_mesh
                self._known[tuple(mesh.mesh_dim_names or ())] = mesh

    def whole(self, part: Tensor, meta: TensorMeta) -> Tensor:
        """The DTensor of a part that was received, or the tensor itself.

        PipeliningMetadataError: its mesh is not known.
        """
        if meta.placements is None:
            return part
        mesh = self._known.get(meta.mesh_names)
        if mesh is None:
            if self._get_mesh is None:
                raise PipeliningMetadataError(
                    f"the mesh {meta.mesh_names} of a DTensor from another stage is "
                    "not known here: give the stage get_mesh="
                )
            mesh = self._known[meta.mesh_names] = self._get_mesh(meta.mesh_names, None)
        return DTensor.from_local(
            part,
            mesh,
            meta.placements,
            run_check=False,
            shape=meta.global_shape,
            stride=meta.global_stride,
        )


def flatten_args(args) -> list:
    """The leaves of containers."""
    return tree_leaves(args)


def tensors_of(args, kind: str, allow_none: bool = False) -> tuple | None:
    """A tuple of a tensor, or of several.

    PipeliningMetadataError: anything else.
    """
    if args is None or isinstance(args, Tensor):
        return args if args is None else (args,)
    if not isinstance(args, (tuple, list)):
        raise PipeliningMetadataError(
            "Stage args must be a tensor, tuple, or list of tensors, got "
            f"{type(args).__name__}."
        )
    for i, one in enumerate(args):
        if one is None and allow_none:
            continue
        if one is None:
            raise PipeliningMetadataError(
                f"Stage arg[{i}] is None. Stage args must be tensors. Use kwargs for "
                "optional values."
            )
        if not isinstance(one, Tensor):
            raise PipeliningMetadataError(
                f"Stage arg[{i}] has type {type(one).__name__}. All stage args must be "
                "tensors. Use kwargs for non-tensor inputs."
            )
    return tuple(args)


def metas_of(tensors) -> tuple | None:
    """Their looks; None for None."""
    if tensors is None:
        return None
    return tuple(None if x is None else TensorMeta.from_tensor(x) for x in tensors)


class Message(typing.NamedTuple):
    """A tensor between stages: its place there, and its looks."""

    stage: int
    place: int
    meta: TensorMeta
