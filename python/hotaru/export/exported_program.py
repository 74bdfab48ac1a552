"""Loading exported programs."""

from __future__ import annotations

import functools
import io
import math
import os

from .. import _C
from ..utils._sympy.value_ranges import ValueRanges
from ._module import ExportedModule, _Call
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

__all__ = ["ExportedProgram", "ValueRanges", "load"]


def _argument(value, name: str):
    if isinstance(value, tuple):
        return TensorArgument(value[0])
    return ConstantArgument(name or "", value)


def _signature(facts: dict) -> ExportGraphSignature:
    inputs = []
    for kind, value, target, persistent in facts["inputs"]:
        constant = not isinstance(value, tuple)
        argument = _argument(value, target)
        if constant:  # its name
            target = None
        inputs.append(InputSpec(InputKind[kind], argument, target, persistent))
    outputs = [
        OutputSpec(OutputKind[kind], _argument(value, target), target)
        for kind, value, target in facts["outputs"]
    ]
    return ExportGraphSignature(inputs, outputs)


class ExportedProgram:
    """A program that `torch.export.save` wrote; `load` gives one."""

    def __init__(self, facts: dict, source) -> None:
        self._facts = facts
        self._source = source
        unsaved = {
            target
            for kind, _, target, persistent in facts["inputs"]
            if kind == "BUFFER" and persistent is False
        }
        self._module = ExportedModule._make(facts["module"], _Call(facts), unsaved)

    def module(self) -> ExportedModule:
        """The program as a module, always the same one.

        It is in the mode in which the program was exported.
        """
        return self._module

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Unable to call ExportedProgram directly. "
            "You should use `exported_program.module()` instead."
        )

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """Signature that says what inputs and outputs are."""
        return self._signature

    @functools.cached_property
    def _signature(self) -> ExportGraphSignature:
        return _signature(self._facts)

    @property
    def state_dict(self) -> dict:
        """Parameters, and buffers that are saved, by name."""
        return self._module.state_dict(keep_vars=True)

    @property
    def constants(self) -> dict:
        """Tensors that are not in the state dict, by name."""
        return dict(self._facts["constants"])

    @property
    def range_constraints(self) -> dict[str, ValueRanges]:
        """Ranges of sizes, by symbol."""
        return {
            symbol: ValueRanges(
                -math.inf if low is None else low, math.inf if high is None else high
            )
            for symbol, (low, high) in self._facts["ranges"].items()
        }

    @property
    def call_spec(self):
        """The containers of arguments and results: `in_spec`, `out_spec`."""
        return self._module._call

    @property
    def example_inputs(self) -> tuple | None:
        """The arguments that it was exported with: a tuple and a dict.

        None if the file has none. `pickle.UnpicklingError`: they hold objects
        other than tensors and Python's own.
        """
        import zipfile

        from ..serialization import load as load_tensors

        with zipfile.ZipFile(self._source()) as archive:
            found = [
                name
                for name in archive.namelist()
                if "/data/sample_inputs/" in name
                or name == "serialized_example_inputs.pt"
            ]
            if not found:
                return None
            data = archive.read(found[0])
        return load_tensors(io.BytesIO(data), weights_only=True) if data else None

    @property
    def torch_version(self) -> str:
        """PyTorch's version that exported it."""
        return self._facts["torch_version"]

    def named_parameters(self):
        """Pairs of name and parameter."""
        return self._module.named_parameters()

    def parameters(self):
        """Parameters."""
        return self._module.parameters()

    def named_buffers(self):
        """Pairs of name and buffer, of those that are not saved, too."""
        return self._module.named_buffers()

    def buffers(self):
        """Buffers."""
        return self._module.buffers()

    def __str__(self) -> str:
        code = self._module.code.replace("\n", "\n    ").rstrip()
        signature = self._signature
        lines = ["ExportedProgram:", f"    {code}", "", "Graph signature:"]
        lines.append("    # inputs")
        for spec in signature.input_specs:
            lines.append(f"    {_line(spec)}")
        lines.append("    # outputs")
        for spec in signature.output_specs:
            lines.append(f"    {_line(spec)}")
        ranges = ", ".join(
            f"{symbol}: [{low}, {high}]"
            for symbol, (low, high) in self.range_constraints.items()
        )
        return "\n".join([*lines, f"Range constraints: {{{ranges}}}", ""])


def _line(spec) -> str:
    argument = spec.arg
    if isinstance(argument, TensorArgument):
        shown = argument.name
    else:
        shown = repr(argument.value)
    target = f" target='{spec.target}'" if spec.target else ""
    persistent = getattr(spec, "persistent", None)
    kept = "" if persistent is None else f" persistent={persistent}"
    return f"{shown}: {spec.kind.name}{target}{kept}"


def load(
    f, *, extra_files: dict | None = None, expected_opset_version=None
) -> ExportedProgram:
    """Loads a program from a path or a file opened for reading bytes.

    Weights of a path lie in the mapped file; nothing in it is executed.

    Args:
        f: the path, or the file.
        extra_files: gets for each of its keys the text of that name that
            `save` was given; names that the file lacks keep their value.
        expected_opset_version: taken and not looked at.

    Raises:
        RuntimeError: anything but a program that this version reads; the text
            names file and record. NotImplementedError: it needs operators that
            are missing here, all of which the text lists. FileNotFoundError:
            no such file.
    """
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        os.stat(path)  # which fails as `open` does where there is none
        program = ExportedProgram(_C._load_exported_program(path), lambda: path)
    else:
        data = f.read()
        name = str(getattr(f, "name", "<bytes>"))
        facts = _C._load_exported_program_bytes(data, name)
        program = ExportedProgram(facts, lambda: io.BytesIO(data))
    if extra_files:
        _read_extra_files(program._source(), extra_files)
    return program


def _read_extra_files(source, extra_files: dict) -> None:
    import zipfile

    with zipfile.ZipFile(source) as archive:
        for name in archive.namelist():
            _, _, key = name.partition("/extra/")
            key = key or name.partition("extra_files/")[2]
            if key in extra_files:
                extra_files[key] = archive.read(name).decode()
