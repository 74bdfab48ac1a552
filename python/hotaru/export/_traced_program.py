"""Programs that were exported here."""

from __future__ import annotations

import types
import typing

from .. import Tensor
from ..fx import GraphModule
from ..nn import Module
from ..utils._sympy.value_ranges import ValueRanges
from ._guards import guards_code, input_guards
from ._runnable import runnable
from ._text import program_text
from .exported_program import ExportedProgram
from .graph_signature import ExportGraphSignature

__all__ = ["ModuleCallEntry", "ModuleCallSignature", "TracedProgram"]


class ModuleCallSignature(typing.NamedTuple):
    """How a module is called: the containers of arguments and results."""

    inputs: list
    outputs: list
    in_spec: object
    out_spec: object
    forward_arg_names: list | None = None


class ModuleCallEntry(typing.NamedTuple):
    """A module by its name; the signature of the outermost."""

    fqn: str
    signature: ModuleCallSignature | None = None


class CallSpec(typing.NamedTuple):
    """The containers of arguments and results."""

    in_spec: object
    out_spec: object


class TracedProgram(ExportedProgram):
    """A program that `export` made: operators, and what they mean."""

    def __init__(
        self,
        *,
        trace,
        signature,
        state_dict,
        constants,
        in_spec,
        out_spec,
        names,
        example_inputs,
        sources,
        modules,
    ) -> None:
        self._trace_sizes = trace.sizes
        self._signature = signature
        self._state = state_dict
        self._constants = constants
        self._call_spec = CallSpec(in_spec, out_spec)
        self._names = names
        self._example_inputs = example_inputs
        self._sources = sources
        self._graph_module = _graph_modules(trace)
        self._entries = [
            ModuleCallEntry("", ModuleCallSignature([], [], in_spec, out_spec, names)),
            *map(ModuleCallEntry, modules),
        ]
        self._ranges = {
            name: ValueRanges(*trace.sizes.range_of(name))
            for name in trace.sizes.by_name
        }
        self._guards_code = guards_code(trace.sizes)
        self._input_guards = input_guards(self)

    @property
    def graph_module(self) -> GraphModule:
        """The operators, with parameters and buffers as inputs."""
        return self._graph_module

    @property
    def graph(self):
        """The graph of `graph_module`."""
        return self._graph_module.graph

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """Signature that says what inputs and outputs are."""
        return self._signature

    @property
    def state_dict(self) -> dict:
        """Parameters, and buffers that are saved, by name."""
        return self._state

    @property
    def constants(self) -> dict:
        """Tensors that are not in the state dict, by name."""
        return self._constants

    tensor_constants = constants

    @property
    def range_constraints(self) -> dict:
        """Ranges of sizes, by symbol."""
        return self._ranges

    @property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        """The modules that were called, the whole first."""
        return self._entries

    @property
    def call_spec(self) -> CallSpec:
        """The containers of arguments and results."""
        return self._call_spec

    @property
    def example_inputs(self) -> tuple:
        """The arguments that it was exported with: a tuple and a dict."""
        return self._example_inputs

    @property
    def dialect(self) -> str:
        """Which operators it may have: those of the training IR."""
        return "TRAINING"

    @property
    def torch_version(self) -> str:
        """PyTorch's version whose files it is saved as."""
        return "2.13.0"

    def tensor_of(self, target: str) -> Tensor:
        """A parameter, buffer or constant by its name."""
        if target in self._state:
            return self._state[target]
        return self._constants[target]

    def named_parameters(self):
        """Pairs of name and parameter."""
        for name in self._signature.parameters:
            yield name, self._state[name]

    def parameters(self):
        """Parameters."""
        for _, tensor in self.named_parameters():
            yield tensor

    def named_buffers(self):
        """Pairs of name and buffer, of those that are not saved, too."""
        for name in self._signature.buffers:
            yield name, self.tensor_of(name)

    def buffers(self):
        """Buffers."""
        for _, tensor in self.named_buffers():
            yield tensor

    def module(self, check_guards: bool = True) -> GraphModule:
        """A module that runs the program and has its parameters.

        It is called as the module that was exported, and checks its inputs
        as far as the program depends on them.
        """
        made = runnable(self, check_guards)

        def refuse(name: str):
            def method(self, mode=True):
                raise NotImplementedError(f"Calling {name}() is not supported yet.")

            return types.MethodType(method, made)

        object.__setattr__(made, "_exported_program", self)
        # The program is in the mode of its export.
        object.__setattr__(made, "train", refuse("train"))
        object.__setattr__(made, "eval", refuse("eval"))
        return made

    def run_decompositions(self, decomp_table=None, decompose_custom_triton_ops=False):
        """Not here: programs stay in operators of the training IR."""
        raise NotImplementedError(
            "ExportedProgram.run_decompositions is not implemented in hotaru: "
            "programs stay as they were traced; PyTorch decomposes them after "
            "torch.export.load"
        )

    def __str__(self) -> str:
        return program_text(self._graph_module, self._signature, self.range_constraints)

    def __repr__(self) -> str:
        return str(self)

    def __deepcopy__(self, memo):
        import copy

        made = TracedProgram.__new__(TracedProgram)
        made.__dict__.update(self.__dict__)
        made._state = copy.deepcopy(self._state, memo)
        made._constants = copy.deepcopy(self._constants, memo)
        return made


def _graph_modules(trace) -> GraphModule:
    """The module of a trace, with those of its parts and branches."""

    def finished(builder) -> GraphModule:
        children = {
            part.name: finished(part)
            for part in trace.subgraphs
            if part.graph_parent is builder
        }
        root = Module()
        for name, child in children.items():
            root.add_module(name, child)
        name = getattr(builder, "name", "GraphModule")
        builder.graph.lint()
        return GraphModule(root, builder.graph, class_name=name)

    return finished(trace.root)
