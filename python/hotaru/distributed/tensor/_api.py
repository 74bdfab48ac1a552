"""Tensors that lie in parts on several processes, and how they are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ... import Tensor, no_grad
from ... import dtype as Dtype
from ..._answering.base import Wrapping
from ..._dispatch import wrappers
from ..collectives import broadcast
from ..device_mesh import DeviceMesh, current_mesh
from ..objects import all_gather_object
from . import _history
from ._dtensor_spec import DTensorSpec, TensorMeta, dense_stride, normalized
from ._kind import DISTRIBUTED
from ._redistribute import moved
from .placement_types import Partial, Placement, Replicate, Shard


class DTensor(Wrapping, of=DISTRIBUTED):
    """A tensor of which every rank of a mesh has a part.

    Its shape is that of the whole. Operators of DTensors give DTensors: each
    rank computes what it can from its parts, and they exchange what they must;
    every rank of the mesh calls the same ones in the same order. Gradients lie
    where the tensor lies. A plain tensor of several elements beside it is an
    error.

    Made by `distribute_tensor` and `DTensor.from_local`.
    """

    _op_dispatcher = None

    @staticmethod
    def __new__(
        cls, local_tensor: Tensor, spec: DTensorSpec, *, requires_grad: bool = False
    ):
        meta = spec.tensor_meta
        self = wrappers.make(
            cls, meta.shape, meta.stride, dtype=meta.dtype, device=local_tensor.device
        )
        self._local_tensor = local_tensor.detach()
        self._spec = spec
        return self.requires_grad_() if requires_grad else self

    def __init__(self, *args, **kwargs) -> None:
        pass

    @property
    def device_mesh(self) -> DeviceMesh:
        """The ranks that have parts."""
        return self._spec.mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """How it lies along each dimension of the mesh."""
        return self._spec.placements

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape=None,
        stride=None,
        grad_placements=None,
    ) -> DTensor:
        """The tensor whose part in this rank is given, Replicate() unless told.

        Its gradients are those of the part. Parts of which several ranks have
        the same are not compared; with `run_check` the first rank's are sent
        to the others. Ranks' parts have equal sizes unless `shape` and `stride`
        tell those of the whole. `grad_placements` must be where gradients are
        anyway: those of the tensor, with Replicate() for Partial().

        Raises:
            ValueError: placements that the mesh or tensor has not, one of
                `shape` and `stride` without the other.
        """
        mesh = device_mesh or current_mesh()
        placed = normalized(placements, mesh, local_tensor.dim())
        if grad_placements is not None:
            wanted = normalized(grad_placements, mesh, local_tensor.dim())
            usual = (Replicate() if p.is_partial() else p for p in placed)
            if tuple(wanted) != tuple(usual):
                raise NotImplementedError(
                    f"from_local: gradients in {tuple(wanted)} of parts that are "
                    f"{tuple(placed)}; redistribute() the tensor"
                )
        if (shape is None) != (stride is None):
            raise RuntimeError(
                f"Found shape:{shape}, stride:{stride}. Please pass both shape "
                "and stride at the same time.at the same time."
            )
        if shape is None:
            shape = list(local_tensor.shape)
            for dim, placement in enumerate(placed):
                if isinstance(placement, Shard):
                    shape[placement.dim] *= mesh.size(dim)
            stride = dense_stride(shape, local_tensor.stride())
        meta = TensorMeta(tuple(shape), tuple(stride), local_tensor.dtype)
        spec = DTensorSpec(mesh, placed, meta)
        if mesh.get_coordinate() is None:
            local_tensor = local_tensor.new_empty(0)
        elif run_check:
            local_tensor = _same_in_all(local_tensor, spec)
        return _history.whole(local_tensor, spec)

    def to_local(self, *, grad_placements=None) -> Tensor:
        """This rank's part, with its history.

        `grad_placements` tells how the gradients that the ranks' parts get lie,
        where it is not as the tensor does: Partial() where each rank uses what
        all have for something else.
        """
        local = _history.part(self)
        if grad_placements is None:
            return local
        placed = normalized(grad_placements, self.device_mesh, self.dim())
        dims = [
            dim
            for dim, (own, other) in enumerate(zip(self.placements, placed))
            if isinstance(own, Replicate) and isinstance(other, Partial)
        ]
        if any(
            own != other and dim not in dims and not own.is_partial()
            for dim, (own, other) in enumerate(zip(self.placements, placed))
        ):
            raise NotImplementedError(
                f"to_local: gradients in {placed} of a tensor in "
                f"{self.placements}; redistribute() it before"
            )
        return _history.shared(local, self._spec, dims)

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: Dtype | None = None,
        backward_dtype: Dtype | None = None,
    ) -> DTensor:
        """The same tensor in other placements; ranks exchange their parts.

        It is done when this returns (`async_op` too). Raises RuntimeError
        without placements, for another mesh, and for what is not a placement
        to change into.
        """
        if device_mesh is not None and device_mesh != self.device_mesh:
            raise NotImplementedError("Cross device mesh comm not supported yet!")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        if backward_dtype is not None:
            raise NotImplementedError(
                "redistribute: gradients have the tensor's dtype "
                "(backward_dtype is not there)"
            )
        placed = normalized(placements, self.device_mesh, self.dim())
        for own, other in zip(self.placements, placed):
            if isinstance(other, Partial) and own != other:
                raise RuntimeError(
                    "Can not redistribute to Partial, redistributing to "
                    "Partial is for internal use only!"
                )
        source = self if forward_dtype is None else self.to(forward_dtype)
        return _history.redistributed(source, placed)

    def full_tensor(self, *, grad_placements=None) -> Tensor:
        """The whole tensor, in every rank."""
        placed = (Replicate(),) * self.device_mesh.ndim
        return self.redistribute(placements=placed).to_local(
            grad_placements=grad_placements
        )

    def detach(self) -> DTensor:
        """The same parts, without history."""
        return type(self)(self._local_tensor, self._spec)

    def data_ptr(self) -> int:
        """The address of this rank's part."""
        return self._local_tensor.data_ptr()

    def untyped_storage(self):
        """The memory of this rank's part."""
        return self._local_tensor.untyped_storage()

    def __repr__(self, *, tensor_contents=None) -> str:
        """The part, the mesh, the placements."""
        return (
            f"DTensor(local_tensor={self._local_tensor}, "
            f"device_mesh={self._spec.mesh}, placements={self.placements})"
        )

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """As `repr`; of one number the number."""
        if self.dim() == 0 and not any(p.is_partial() for p in self.placements):
            return self._local_tensor.__format__(spec)
        return format(repr(self), spec)

    def _copied(self) -> DTensor:
        return type(self)(self._local_tensor.clone(), self._spec)

    def __reduce_ex__(self, protocol):
        """The part and where it lies; the mesh must be there to load it."""
        return _rebuilt, (
            self._local_tensor,
            self._spec.mesh,
            self.placements,
            tuple(self.shape),
            tuple(self._spec.tensor_meta.stride),
            self.requires_grad,
            getattr(self, "_is_param", False),
        )


_history._made.append(DTensor)


def _allow_in_files() -> None:
    """Files of plain weights may have DTensors."""
    from ..._weights_only_unpickler import _get_allowed_globals
    from ...serialization._names import written
    from .. import device_mesh
    from .placement_types import _StridedShard

    allowed = _get_allowed_globals()
    for item in (
        _rebuilt,
        DTensor,
        device_mesh._found,
        Shard,
        Replicate,
        Partial,
        _StridedShard,
    ):
        module, name = written(item)
        allowed[f"{module}.{name}"] = item


def _rebuilt(local, mesh, placements, shape, stride, requires_grad, param):
    meta = TensorMeta(shape, stride, local.dtype)
    made = DTensor(
        local, DTensorSpec(mesh, placements, meta), requires_grad=requires_grad
    )
    if param:
        made._is_param = True
    return made


def _same_in_all(local: Tensor, spec: DTensorSpec) -> Tensor:
    """With the first rank's values where several have the same part.

    Raises:
        ValueError: in all, if parts differ in shape, strides or dtype.
    """
    mesh = spec.mesh
    own = tuple(local.shape), local.stride(), str(local.dtype)
    for dim in range(mesh.ndim):
        found = [None] * mesh.size(dim)
        all_gather_object(found, own, mesh.get_group(dim))
        if any(other != own for other in found):
            raise ValueError(
                f"Inconsistent tensor metadata (including shape and stride) "
                f"across ranks: {found}"
            )
    for dim, placement in enumerate(spec.placements):
        if isinstance(placement, Replicate):
            local = local.detach().clone().contiguous()
            _from_first(local, mesh, dim)
    return local


def _from_first(local: Tensor, mesh: DeviceMesh, dim: int) -> None:
    broadcast(local, group=mesh.get_group(dim), group_src=0)


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """The whole tensor that every rank has, in parts; a leaf.

    Along each dimension of the mesh the rank `src_data_rank` sends the others
    their parts, so it need not be the same in all; with None each keeps its
    part of its own.

    Raises:
        RuntimeError: a tensor with a history, one already in other placements.
        ValueError: Partial(), a placement that the mesh or tensor has not.
    """
    mesh = device_mesh or current_mesh()
    if not isinstance(tensor, DTensor) and not tensor.is_leaf:
        raise RuntimeError(
            "`distribute_tensor` should be used to distribute leaf tensors! "
            "but found non-leaf tensor!"
        )
    placed = normalized(placements, mesh, tensor.dim())
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh:
            raise ValueError(
                f"Cannot distribute a DTensor with device mesh "
                f"{tensor.device_mesh} to a different device mesh {mesh}."
            )
        if tensor.placements != placed:
            raise ValueError(
                "Cannot distribute a DTensor with placements "
                f"{tensor.placements} to a different placements {placed}. "
                "do you want to call `redistribute` instead?"
            )
        return tensor
    if any(isinstance(p, Partial) for p in placed):
        raise RuntimeError(
            f"Trying to distribute tensor with unsupported placements {placed} "
            f"on device mesh {mesh}!"
        )
    meta = TensorMeta(tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)
    spec = DTensorSpec(mesh, placed, meta)
    if mesh.get_coordinate() is None:
        local = tensor.detach().new_empty(0)
    else:
        local = _parts_of(tensor.detach(), spec, src_data_rank)
    made = DTensor(local, spec, requires_grad=tensor.requires_grad)
    if getattr(tensor, "_is_param", False) or _is_parameter(tensor):
        made._is_param = True
    return made


def _is_parameter(tensor: Tensor) -> bool:
    from ...nn import Parameter

    return isinstance(tensor, Parameter)


@no_grad()
def _parts_of(whole: Tensor, spec: DTensorSpec, source: int | None) -> Tensor:
    mesh, local = spec.mesh, whole
    whole_in_all = spec.placed((Replicate(),) * mesh.ndim)
    if source is not None and not whole.is_meta:
        local = local.clone().contiguous()
        # The outermost first: then the first rank of each row has them.
        for dim in range(mesh.ndim):
            broadcast(local, group=mesh.get_group(dim), group_src=source)
    local = moved(local, whole_in_all, spec.placements)
    shares = local.untyped_storage().data_ptr() == (whole.untyped_storage().data_ptr())
    return local.clone() if shares else local


def distribute_module(
    module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable | None = None,
    input_fn: Callable | None = None,
    output_fn: Callable | None = None,
):
    """Puts a module's parameters and buffers on a mesh, in place.

    `partition_fn(name, submodule, mesh)` is called for every submodule and may
    distribute its parameters; what it leaves becomes whole in each rank.
    `input_fn(module, inputs, mesh)` and `output_fn(module, outputs, mesh)`
    change what the module gets and gives.
    """
    from ...nn import Parameter

    mesh = device_mesh or current_mesh()
    for name, each in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, each, mesh)
        for key, param in each._parameters.items():
            if param is not None and not isinstance(param, DTensor):
                placed = distribute_tensor(param.detach(), mesh)
                each.register_parameter(key, Parameter(placed, param.requires_grad))
        for key, buffer in each._buffers.items():
            if buffer is not None and not isinstance(buffer, DTensor):
                each._buffers[key] = distribute_tensor(buffer, mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(
            lambda mod, inputs: input_fn(mod, inputs, mesh)
        )
    if output_fn is not None:
        module.register_forward_hook(
            lambda mod, inputs, outputs: output_fn(mod, outputs, mesh)
        )
    return module


_allow_in_files()
