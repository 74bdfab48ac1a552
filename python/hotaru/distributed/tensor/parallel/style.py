"""How a module's parameters, inputs and outputs lie on a mesh."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

from .... import Tensor, nn
from ...device_mesh import DeviceMesh
from .._api import DTensor, distribute_module, distribute_tensor
from ..placement_types import Placement, Replicate, Shard

__all__ = [
    "ColwiseParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
]


class ParallelStyle(ABC):
    """One way to spread a module over a mesh."""

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        """Spreads it, in place."""


def _placed(
    value: Any, mesh: DeviceMesh, given: Placement | None, wanted: Placement | None
) -> Any:
    """As `wanted` a tensor that lies as `given` (a plain one) or as it says."""
    if not isinstance(value, Tensor) or given is None:
        return value
    if not isinstance(value, DTensor):
        value = DTensor.from_local(value, mesh, (given,))
    if wanted is not None and value.placements != (wanted,):
        value = value.redistribute(placements=(wanted,))
    return value


def _parameter(
    module: nn.Module,
    name: str,
    mesh: DeviceMesh,
    placement: Placement,
    source: int | None,
) -> None:
    param = module._parameters.get(name)
    if param is None:
        return
    placed = distribute_tensor(param.detach(), mesh, [placement], src_data_rank=source)
    module.register_parameter(name, nn.Parameter(placed, param.requires_grad))


class _OfOneInput(ParallelStyle):
    """A layer of one input: `weights` is by the kind of layer where each of
    its parameters is cut.
    """

    def __init__(
        self,
        input_layouts: Placement,
        desired: Placement,
        output_layouts: Placement,
        use_local_output: bool,
    ) -> None:
        self.input_layouts = (input_layouts,)
        self.desired_input_layouts = (desired,)
        self.output_layouts = (output_layouts,)
        self.use_local_output = use_local_output

    def _cut(self, name: str, module: nn.Module, mesh: DeviceMesh) -> None:
        """Cuts a layer's parameters."""
        raise NotImplementedError

    def _desired(self, module: nn.Module) -> Placement:
        return self.desired_input_layouts[0]

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        def before(mod, inputs, mesh):
            first = _placed(inputs[0], mesh, self.input_layouts[0], self._desired(mod))
            return (first, *inputs[1:])

        def after(mod, outputs, mesh):
            if outputs.placements != self.output_layouts:
                outputs = outputs.redistribute(placements=self.output_layouts)
            return outputs.to_local() if self.use_local_output else outputs

        return distribute_module(module, device_mesh, self._cut, before, after)


class ColwiseParallel(_OfOneInput):
    """A Linear or Embedding of which each rank has some of the outputs.

    Its input is whole in each rank, the output's last dimension in parts (plain
    tensors unless `use_local_output` is False). NotImplementedError for other
    modules.
    """

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(
            input_layouts or Replicate(),
            Replicate(),
            output_layouts or Shard(-1),
            use_local_output,
        )

    def _cut(self, name: str, module: nn.Module, mesh: DeviceMesh) -> None:
        if isinstance(module, nn.Linear):
            for each in ("weight", "bias"):
                _parameter(module, each, mesh, Shard(0), self.src_data_rank)
        elif isinstance(module, nn.Embedding):
            _parameter(module, "weight", mesh, Shard(1), self.src_data_rank)
        else:
            raise NotImplementedError(
                "ColwiseParallel currently only support nn.Linear and nn.Embedding!"
            )


class RowwiseParallel(_OfOneInput):
    """A Linear of which each rank has some of the inputs, or an Embedding of
    which it has some rows; the ranks' outputs are added up.

    The input's last dimension is in parts; the output is whole in each rank
    unless `output_layouts` says otherwise.
    """

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(
            input_layouts or Shard(-1),
            Shard(-1),
            output_layouts or Replicate(),
            use_local_output,
        )

    def _desired(self, module: nn.Module) -> Placement:
        return Replicate() if isinstance(module, nn.Embedding) else Shard(-1)

    def _cut(self, name: str, module: nn.Module, mesh: DeviceMesh) -> None:
        if isinstance(module, nn.Linear):
            _parameter(module, "weight", mesh, Shard(1), self.src_data_rank)
            _parameter(module, "bias", mesh, Replicate(), self.src_data_rank)
        elif isinstance(module, nn.Embedding):
            _parameter(module, "weight", mesh, Shard(0), self.src_data_rank)
        else:
            raise NotImplementedError(
                "RowwiseParallel currently only support nn.Linear and nn.Embedding!"
            )


class SequenceParallel(ParallelStyle):
    """A LayerNorm, RMSNorm or Dropout of which each rank has some places of
    the sequence; its parameters are whole in each.
    """

    def __init__(
        self, *, sequence_dim: int = 1, use_local_output: bool = False
    ) -> None:
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        cut = self.sequence_sharding[0]

        def whole(name, mod, mesh):
            for each in list(mod._parameters):
                _parameter(mod, each, mesh, Replicate(), self.src_data_rank)

        def before(mod, inputs, mesh):
            if not isinstance(inputs[0], Tensor):
                raise ValueError(
                    "expecting input of a torch.Tensor or DTensor, but got "
                    f"{type(inputs[0])}"
                )
            return (_placed(inputs[0], mesh, cut, cut), *inputs[1:])

        def after(mod, outputs, mesh):
            return outputs.to_local() if self.use_local_output else outputs

        return distribute_module(module, device_mesh, whole, before, after)


def _listed(layouts: Any) -> tuple:
    if layouts is None:
        return ()
    return (layouts,) if isinstance(layouts, Placement) else tuple(layouts)


class PrepareModuleInput(ParallelStyle):
    """How a module's inputs lie, and how it wants them; None leaves one as it
    is. With `use_local_output` it gets plain tensors.
    """

    def __init__(
        self,
        *,
        input_layouts=None,
        desired_input_layouts=None,
        input_kwarg_layouts: dict | None = None,
        desired_input_kwarg_layouts: dict | None = None,
        use_local_output: bool = False,
    ) -> None:
        self.input_layouts = _listed(input_layouts)
        self.desired_input_layouts = _listed(desired_input_layouts)
        self.input_kwarg_layouts = input_kwarg_layouts or {}
        self.desired_kwarg_layouts = desired_input_kwarg_layouts or {}
        self.use_local_output = use_local_output
        if len(self.input_layouts) != len(self.desired_input_layouts):
            raise AssertionError(
                "input_layouts and desired_input_layouts should have same length!"
            )

    def _prepared(self, value, mesh, given, wanted):
        made = _placed(value, mesh, given, wanted)
        if self.use_local_output and isinstance(made, DTensor):
            return made.to_local()
        return made

    def _before(self, mesh: DeviceMesh, module, args, kwargs):
        if self.input_layouts:
            if len(args) != len(self.input_layouts):
                raise ValueError(
                    "module inputs and input_layouts should have same length!"
                )
            args = tuple(
                self._prepared(value, mesh, given, wanted)
                for value, given, wanted in zip(
                    args, self.input_layouts, self.desired_input_layouts
                )
            )
        kwargs = {
            key: self._prepared(
                value,
                mesh,
                self.input_kwarg_layouts.get(key),
                self.desired_kwarg_layouts.get(key),
            )
            for key, value in kwargs.items()
        }
        return args, kwargs

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        module.register_forward_pre_hook(
            partial(self._before, device_mesh), with_kwargs=True
        )
        return module


class PrepareModuleOutput(ParallelStyle):
    """How a module's outputs lie, and how they are wanted."""

    def __init__(
        self, *, output_layouts, desired_output_layouts, use_local_output: bool = True
    ) -> None:
        self.output_layouts = _listed(output_layouts)
        self.desired_output_layouts = _listed(desired_output_layouts)
        self.use_local_output = use_local_output
        if len(self.output_layouts) != len(self.desired_output_layouts):
            raise AssertionError(
                "output_layouts and desired_output_layouts should have same length!"
            )

    def _after(self, mesh: DeviceMesh, module, inputs, outputs):
        values = outputs if isinstance(outputs, tuple) else (outputs,)
        if len(values) != len(self.output_layouts):
            raise ValueError(
                "module outputs and output_layouts should have same length!"
            )
        made: Sequence = [
            _placed(value, mesh, given, wanted)
            for value, given, wanted in zip(
                values, self.output_layouts, self.desired_output_layouts
            )
        ]
        if self.use_local_output:
            made = [m.to_local() if isinstance(m, DTensor) else m for m in made]
        return tuple(made) if isinstance(outputs, tuple) else made[0]

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        module.register_forward_hook(partial(self._after, device_mesh))
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """Both."""

    def __init__(
        self,
        *,
        input_layouts=None,
        desired_input_layouts=None,
        input_kwarg_layouts=None,
        desired_input_kwarg_layouts=None,
        use_local_input: bool = False,
        output_layouts,
        desired_output_layouts,
        use_local_output: bool = True,
    ) -> None:
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts,
            desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts,
            desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        self.prepare_module_input._apply(module, device_mesh)
        return self.prepare_module_output._apply(module, device_mesh)
