"""Descriptions of the inputs and outputs of an exported program."""

from __future__ import annotations

import dataclasses
import enum

__all__ = [
    "ConstantArgument",
    "ExportGraphSignature",
    "InputKind",
    "InputSpec",
    "OutputKind",
    "OutputSpec",
    "TensorArgument",
]


class InputKind(enum.Enum):
    """Kinds of inputs of the graph."""

    USER_INPUT = enum.auto()
    PARAMETER = enum.auto()
    BUFFER = enum.auto()
    CONSTANT_TENSOR = enum.auto()


class OutputKind(enum.Enum):
    """Kinds of outputs of the graph."""

    USER_OUTPUT = enum.auto()
    LOSS_OUTPUT = enum.auto()
    BUFFER_MUTATION = enum.auto()
    PARAMETER_MUTATION = enum.auto()
    USER_INPUT_MUTATION = enum.auto()


@dataclasses.dataclass
class TensorArgument:
    """A value of the graph by its name: a tensor, or a number of sizes."""

    name: str


@dataclasses.dataclass
class ConstantArgument:
    """A constant."""

    name: str
    value: int | float | bool | str | None


@dataclasses.dataclass
class InputSpec:
    """An input; `target` names the module's tensor that it is."""

    kind: InputKind
    arg: TensorArgument | ConstantArgument
    target: str | None
    persistent: bool | None = None


@dataclasses.dataclass
class OutputSpec:
    """An output; `target` names what it is written to."""

    kind: OutputKind
    arg: TensorArgument | ConstantArgument
    target: str | None


def _shown(arg):
    return arg.name if isinstance(arg, TensorArgument) else arg.value


@dataclasses.dataclass
class ExportGraphSignature:
    """The inputs and outputs of a graph, in order."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _targets(self, kind: InputKind) -> tuple[str, ...]:
        return tuple(s.target for s in self.input_specs if s.kind == kind)

    def _by_name(self, specs, kind) -> dict[str, str]:
        return {s.arg.name: s.target for s in specs if s.kind == kind}

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of parameters."""
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self) -> tuple[str, ...]:
        """Names of buffers, of those that are not saved, too."""
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self) -> set[str]:
        """Names of buffers that are not in the state dict."""
        return {
            s.target
            for s in self.input_specs
            if s.kind == InputKind.BUFFER and s.persistent is False
        }

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """Names of tensors that are neither parameters nor buffers."""
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def user_inputs(self) -> tuple:
        """Names of the arguments' leaves; constants as they are."""
        return tuple(
            _shown(s.arg) for s in self.input_specs if s.kind == InputKind.USER_INPUT
        )

    @property
    def user_outputs(self) -> tuple:
        """Names of the results' leaves; constants as they are."""
        kinds = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)
        return tuple(_shown(s.arg) for s in self.output_specs if s.kind in kinds)

    @property
    def inputs_to_parameters(self) -> dict[str, str]:
        """Parameters by the names that they have in the graph."""
        return self._by_name(self.input_specs, InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> dict[str, str]:
        """Buffers by the names that they have in the graph."""
        return self._by_name(self.input_specs, InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> dict[str, str]:
        """Other tensors by the names that they have in the graph."""
        return self._by_name(self.input_specs, InputKind.CONSTANT_TENSOR)

    @property
    def buffers_to_mutate(self) -> dict[str, str]:
        """Buffers by the outputs that are written to them."""
        return self._by_name(self.output_specs, OutputKind.BUFFER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> dict[str, str]:
        """Inputs by the outputs that are written to them."""
        return self._by_name(self.output_specs, OutputKind.USER_INPUT_MUTATION)
