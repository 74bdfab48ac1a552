"""`export`: ONNX models of modules, functions and programs."""

from __future__ import annotations

import contextlib
import enum
import os
import threading
import warnings

from .. import _C
from ..nn import Module
from . import _capture, _dynamic
from ._program import ONNXProgram
from .errors import OnnxExporterError, UnsupportedOperatorError

#: Version that PyTorch's exporter writes unless asked for another.
DEFAULT_OPSET = 20

_state = threading.local()


class TrainingMode(enum.IntEnum):
    """In which mode a module is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.IntEnum):
    """Stand-ins for operators that ONNX has not; only ONNX is written."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


def is_in_onnx_export() -> bool:
    """Tells whether this thread is exporting."""
    return getattr(_state, "busy", False)


@contextlib.contextmanager
def _exporting():
    before = is_in_onnx_export()
    _state.busy = True
    try:
        yield
    finally:
        _state.busy = before


def _refuse_options(
    custom_translation_table,
    dump_exported_program,
    profile,
    operator_export_type,
    export_modules_as_functions,
) -> None:
    asked = {
        "custom_translation_table": custom_translation_table,
        "dump_exported_program": dump_exported_program,
        "profile": profile,
        "operator_export_type": int(operator_export_type),
        "export_modules_as_functions": export_modules_as_functions,
    }
    for name, value in asked.items():
        if value:
            raise NotImplementedError(
                f"torch.onnx.export: hotaru has no {name}; leave it out"
            )


def export(
    model,
    args: tuple = (),
    f=None,
    *,
    kwargs=None,
    verbose=None,
    input_names=None,
    output_names=None,
    opset_version=None,
    dynamo: bool = True,
    external_data: bool = True,
    dynamic_shapes=None,
    custom_translation_table=None,
    report: bool = False,
    optimize: bool = True,
    verify: bool = False,
    profile: bool = False,
    dump_exported_program: bool = False,
    artifacts_dir=".",
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes=None,
    training=TrainingMode.EVAL,
    operator_export_type=OperatorExportTypes.ONNX,
    do_constant_folding: bool = True,
    custom_opsets=None,
    export_modules_as_functions=False,
    autograd_inlining: bool = True,
):
    """Writes an ONNX model of what `model` does with the arguments.

    Modules and functions are traced; script modules, script functions and
    loaded programs are taken as they are, with their conditions and loops.
    Sizes are those of the arguments except for dynamic ones.

    Args:
        model: a module, a function, a script module or function, or a program
            that `torch.export.load` gave.
        args: example arguments; of a traced model tensors become inputs and
            everything else is a constant, of a script numbers are inputs, too.
            A dict at the end holds arguments by name.
        f: a path, if the model is to be written at once.
        kwargs: example arguments by name.
        opset_version: 13 to 23; 20 if None.
        dynamo: False to return nothing, as PyTorch's older exporter.
        external_data: whether weights may go to a file beside the model; they
            do where the model would pass 2 GiB.
        dynamic_shapes: as `torch.export.export` takes them: for each argument
            a dict or tuple of names, `Dim`s or None.
        dynamic_axes: the older form, by names of inputs.
        report: writes a Markdown file about the export to `artifacts_dir`.
        verify: runs the model and compares its results with the program's.
        custom_opsets: versions of domains that symbolic functions write nodes of;
            1 of those that are left out. Without `dynamo`, as what
            `register_custom_op_symbolic` registered.
        export_params: False to leave the weights out; without `dynamo` they
            are inputs then.
        keep_initializers_as_inputs: declares weights as inputs, too.
        training: the mode in which a module is traced.
        verbose, optimize, do_constant_folding, autograd_inlining: change
            nothing.

    Returns:
        An `ONNXProgram`, or None if `dynamo` is False.

    Raises:
        UnsupportedOperatorError: operators that have no ONNX form here.
        OnnxExporterError: programs that no graph can express, with the line;
            results that differ when `verify` asks for them.
        RuntimeError: without `dynamo`, more names than inputs or outputs.
        NotImplementedError: options without a counterpart here.
    """
    _refuse_options(
        custom_translation_table,
        dump_exported_program,
        profile,
        operator_export_type,
        export_modules_as_functions,
    )
    args, kwargs = _arguments(args, kwargs)
    opset = DEFAULT_OPSET if opset_version is None else int(opset_version)
    with _exporting():
        job = _Job(model, args, kwargs, TrainingMode(int(training)))
        native = job.write(
            opset,
            list(input_names or ()),
            list(output_names or ()),
            dynamic_shapes,
            dynamic_axes,
            {} if dynamo else _symbolics_of(opset),
            dict(custom_opsets or {}),
        )
    program = ONNXProgram(native, job.flatten)
    if not dynamo:
        inputs = len(program.input_names) + len(native.initializers)
        _check_names("input", input_names, inputs)
        _check_names("output", output_names, len(program.output_names))
        # Without weights a caller gives them.
        keep_initializers_as_inputs |= not export_params
    if verify:
        _verify(program, job)
    if report:
        _report(program, job, artifacts_dir)
    if f is not None:
        program.save(
            f,
            include_initializers=export_params,
            keep_initializers_as_inputs=keep_initializers_as_inputs,
            external_data=None,
        )
        if not external_data and os.path.exists(f"{os.fspath(f)}.data"):
            warnings.warn(
                "the model passes 2 GiB: its weights are beside it", stacklevel=2
            )
    return program if dynamo else None


def _check_names(what: str, names, count: int) -> None:
    """RuntimeError for more names than the graph has values."""
    if names is not None and len(names) > count:
        raise RuntimeError(
            f"number of {what} names provided ({len(names)}) exceeded number "
            f"of {what}s ({count})"
        )


def _symbolics_of(opset: int) -> dict:
    """How programs write operators themselves: what was registered for this
    version of ONNX, or the last before it.
    """
    from . import _symbolics
    from ._graph import written

    last: dict[str, int] = {}
    for name, since in _symbolics:
        if since <= opset:
            last[name] = max(since, last.get(name, since))
    return {n: written(_symbolics[n, since], opset) for n, since in last.items()}


def _arguments(args, kwargs) -> tuple[tuple, dict]:
    if isinstance(args, _C.Tensor) or not isinstance(args, (tuple, list)):
        args = (args,)
    args, kwargs = tuple(args), dict(kwargs or {})
    if args and not kwargs and isinstance(args[-1], dict):
        return args[:-1], dict(args[-1])
    return args, kwargs


class _Job:
    """A program, its arguments and what they are called."""

    def __init__(self, model, args, kwargs, training: TrainingMode) -> None:
        from ..jit import RecursiveScriptModule, ScriptFunction

        if not isinstance(model, Module) and hasattr(model, "module"):
            model = model.module()  # an ExportedProgram
        self.model, self.args, self.kwargs = model, args, kwargs
        self.named = _capture.named_arguments(model, args, kwargs)
        self.scripted = isinstance(model, (RecursiveScriptModule, ScriptFunction))
        if self.scripted:
            self.program, self.values, self.keywords = model, args, kwargs
            self.names: list[str] = []
            return
        wanted = None
        if training != TrainingMode.PRESERVE:
            wanted = training == TrainingMode.TRAINING
        with _capture.mode(model, wanted):
            self.program, self.values = _capture.trace(model, args, kwargs)
        self.keywords = {}
        self.names = _capture.input_names(self.named)

    def is_input(self, value) -> bool:
        number = self.scripted and type(value) in (int, float, bool)
        return number or _capture.is_tensor(value)

    def flatten(self, args: tuple, kwargs: dict) -> list:
        """The graph's inputs among arguments."""
        from ..utils import _pytree as pytree

        if self.scripted and kwargs:
            schema = list(_capture.named_arguments(self.model, args, {}))
            order = [*schema, *(k for k in self.named if k not in schema)]
            values = {**dict(zip(schema, args)), **kwargs}
            args, kwargs = tuple(values[k] for k in order if k in values), {}
        found = pytree.tree_leaves((args, kwargs))
        out = [x for x in found if self.is_input(x)]
        return [
            x if _capture.is_tensor(x) else _C.tensor(x, dtype=_dtype(x)) for x in out
        ]

    def write(self, opset, inputs, outputs, shapes, axes, symbolics, domains):
        from ._graph import described

        inputs = inputs + self.names[len(inputs) :]
        dynamic: list[dict] = []
        if shapes is not None:
            star = _capture.starred(self.model)
            dynamic = _dynamic.from_shapes(shapes, self.named, self.is_input, star)
        elif axes:
            names = inputs or _capture.input_names(self.named)
            unknown = set(axes) - {*names, *outputs}
            if unknown:
                raise ValueError(
                    f"dynamic_axes names {sorted(unknown)}; inputs are {names} "
                    f"and outputs {outputs}"
                )
            dynamic = _dynamic.from_axes(axes, names)
        native = self.program
        if isinstance(native, Module):
            write, head = _C._onnx_export_module, (native._c, "forward")
        else:
            write, head = _C._onnx_export_function, (native,)
        try:
            made = write(
                *head,
                tuple(self.values),
                self.keywords,
                opset,
                inputs,
                outputs,
                dynamic,
                self.scripted,
                symbolics,
                described,
                domains,
            )
        except NotImplementedError as error:
            raise OnnxExporterError(str(error)) from None
        if made.missing:
            raise UnsupportedOperatorError(
                made.missing[0][0], opset, operators=made.missing
            )
        return made

    def expected(self) -> list:
        """Returns what the program gives for the example arguments."""
        from ..autograd.grad_mode import no_grad
        from ..utils import _pytree as pytree

        with no_grad():
            result = self.program(*self.values, **self.keywords)
        return [x for x in pytree.tree_leaves(result) if x is not None]


def _dtype(number):
    import hotaru

    kinds = {bool: hotaru.bool, int: hotaru.int64, float: hotaru.float64}
    return kinds[type(number)]


def _compare(got, expected, by: str) -> None:
    import hotaru

    if len(got) != len(expected):
        raise OnnxExporterError(
            f"verify: {by} gives {len(got)} outputs, the program {len(expected)}"
        )
    for i, (a, b) in enumerate(zip(got, expected)):
        b = b if _capture.is_tensor(b) else hotaru.tensor(b)
        try:
            hotaru.testing.assert_close(
                hotaru.as_tensor(a),
                b,
                rtol=1e-3,
                atol=1e-5,
                equal_nan=True,
                check_dtype=False,
            )
        except AssertionError as error:
            raise OnnxExporterError(
                f"verify: output {i} by {by} differs: {error}"
            ) from None


def _verify(program: ONNXProgram, job: _Job) -> None:
    expected = job.expected()
    inputs = job.flatten(job.args, job.kwargs)
    got = program._loaded()(*inputs)
    got = got if isinstance(got, tuple) else (got,)
    _compare(got, expected, "hotaru")
    try:
        import onnxruntime
    except ImportError:
        return
    session = onnxruntime.InferenceSession(program.to_bytes())
    feed = dict(zip(program.input_names, (x.detach().numpy() for x in inputs)))
    _compare(session.run(None, feed), expected, "ONNX Runtime")


def _report(program: ONNXProgram, job: _Job, folder) -> None:
    operators = sorted(program.operators().items(), key=lambda x: (-x[1], x[0]))
    lines = [
        "# ONNX export",
        "",
        f"- model: `{type(job.model).__name__}`",
        f"- opset: {program.opset_version}",
        f"- inputs: {', '.join(program.input_names) or 'none'}",
        f"- outputs: {', '.join(program.output_names) or 'none'}",
        f"- initializers: {len(program._native.initializers)}, "
        f"{program._native.initializer_bytes} bytes",
        "",
        "| operator | nodes |",
        "| --- | --- |",
        *(f"| {name} | {count} |" for name, count in operators),
    ]
    from .._extension.new_file import new_file

    path = os.path.join(folder, f"onnx_export_{type(job.model).__name__}.md")
    with new_file(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
