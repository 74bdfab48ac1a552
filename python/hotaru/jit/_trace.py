"""`trace`: programs made of what a function does with example inputs."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from typing import NamedTuple

from .. import _C
from ..nn import Module, RNNBase
from ..nn.modules.rnn import given_weights
from ._marks import tracing
from ._module import RecursiveScriptModule
from ._resolve import Constant
from ._script_module import _Builder, finished
from ._scripter import _UNIT, SCRIPTER, ScriptFunction, _qualified_name
from ._state import _enabled
from ._tracing.check import (
    TracingCheckError,
    check_outputs,
    check_program,
    check_result,
)
from ._tracing.given import Given
from ._tracing.inputs import check_inputs
from ._tracing.numbers import TracedFloat, TracedInt
from ._tracing.outplace import OutplaceRecorder
from ._tracing.told import keep
from ._tracing.traced import Recorder, TracedTensor
from ._tracing.warned import TracerWarning

__all__ = ["TracerWarning", "TracingCheckError", "trace", "trace_module"]


def trace(
    func,
    example_inputs=None,
    optimize=None,
    check_trace=True,
    check_inputs=None,
    check_tolerance=1e-5,
    strict=True,
    _force_outplace=False,
    _module_class=None,
    _compilation_unit=None,
    example_kwarg_inputs=None,
    _store_inputs=True,
):
    """Compiles what `func` does when it is called with the example inputs.

    Python runs once; operators and sizes are written down, while conditions,
    loops and Python numbers come out as the examples made them.

    Args:
        func: a function or a module; a module's parameters and buffers stay
            its own.
        example_inputs: a tensor, or a tuple of tensors and of nested tuples,
            lists and dicts of tensors.
        example_kwarg_inputs: the same by name.
        check_trace: whether to trace again and to compare outputs with the
            function's, within `check_tolerance`; differences are warnings.
        check_inputs: for that, tuples of inputs in place of the examples.
        strict: whether to warn of lists among the results and refuse dicts.
        _force_outplace: whether the program makes new values where the function
            writes; where other views see a write, there is a warning.
        optimize, the other _*: accepted and ignored.

    Returns:
        A `ScriptFunction` or a `ScriptModule`.

    Raises:
        RuntimeError: inputs or results that are no tensors, tensors that
            require gradients and are neither inputs nor parameters.
        AttributeError: a method of a module other than forward.
        TracingCheckError: the second run made another program.
        NotImplementedError: autocast is on.
    """
    if not _enabled or isinstance(func, (RecursiveScriptModule, ScriptFunction)):
        return func
    checks = _Checks(
        check_trace, check_inputs, check_tolerance, strict, _force_outplace
    )
    owner = getattr(func, "__self__", None)
    if isinstance(owner, Module):
        if func.__name__ != "forward":
            raise AttributeError(
                "trace doesn't support compiling individual module's functions"
                ".\nPlease use trace_module"
            )
        func = owner
    if isinstance(func, Module):
        example = {"forward": (example_inputs, example_kwarg_inputs)}
        return _trace_module(func, example, checks)
    args, kwargs = _as_arguments(example_inputs), example_kwarg_inputs or {}
    name = getattr(func, "__name__", type(func).__name__)
    name = name if name.isidentifier() else "traced"

    def record(args: tuple, kwargs: dict, strict: bool) -> tuple:
        recorder = checks.recorder()
        text = _traced_text(recorder, func, name, args, kwargs, [], strict)
        return recorder, text

    # Not under the unit's lock, which workers need for what the function forks.
    recorder, text = record(args, kwargs, strict)
    with _UNIT:
        full = _qualified_name(func, name)
        compiled = SCRIPTER.define_text(text, full, None, _names(recorder))
        compiled._compile()
    keep(recorder.told.of(full), compiled)
    checks.run(recorder, record, compiled, func, args, kwargs)
    return compiled


def trace_module(
    mod,
    inputs: dict,
    optimize=None,
    check_trace=True,
    check_inputs=None,
    check_tolerance=1e-5,
    strict=True,
    _force_outplace=False,
    _module_class=None,
    _compilation_unit=None,
    example_inputs_is_kwarg=False,
    _store_inputs=True,
):
    """`trace` of several methods: `inputs` holds example inputs by name, and
    `check_inputs` such dicts.

    With `example_inputs_is_kwarg` a method's inputs are keyword arguments.
    """
    if not _enabled:
        return mod
    examples = {
        name: (None, given) if example_inputs_is_kwarg else (given, None)
        for name, given in inputs.items()
    }
    checks = _Checks(
        check_trace, check_inputs, check_tolerance, strict, _force_outplace
    )
    return _trace_module(mod, examples, checks)


# While a module's parameters are stand-ins no other thread traces it.
_TRACING = threading.RLock()


class _Checks(NamedTuple):
    """Options that say how `trace` shall trace and what it checks."""

    check_trace: bool
    inputs: list | None
    tolerance: float
    strict: bool
    outplace: bool = False

    def recorder(self) -> Recorder:
        """Recorder for one program."""
        return OutplaceRecorder() if self.outplace else Recorder()

    def of(self, method: str) -> _Checks:
        """Checks of one method of several."""
        inputs = self.inputs
        if inputs and isinstance(inputs[0], dict):
            inputs = [each[method] for each in inputs if method in each]
        return self._replace(inputs=inputs)

    def run(self, recorder, record, traced, function, args, kwargs) -> None:
        """Compares what a second trace writes down, and outputs."""
        if not self.check_trace:
            return
        given = [args] if self.inputs is None else self.inputs
        for each in map(_as_arguments, given):
            again, _ = record(each, kwargs, False)
            check_program(recorder, again)
            check_outputs(traced, function, each, kwargs, self.tolerance)


def _as_arguments(args) -> tuple:
    if args is None:
        return ()
    if isinstance(args, _C.Tensor) or not isinstance(args, (tuple, list)):
        return (args,)
    return tuple(args)


def _trace_module(
    module: Module, examples: dict, checks: _Checks
) -> RecursiveScriptModule:
    if module._backward_hooks:
        raise ValueError(
            "Modules that have backward hooks assigned can't be compiled: "
            + str(module)
        )

    def record(name: str, args: tuple, kwargs: dict, strict: bool) -> tuple:
        recorder = checks.recorder()
        function = module if name == "forward" else getattr(module, name)
        with _TRACING, _stand_ins(module, recorder):
            text = _traced_text(
                recorder, function, name, args, kwargs, ["self"], strict
            )
        return recorder, text

    with _UNIT:
        builder = _Builder(traced=True)
        native, methods = builder.build_open(module)
    done = []
    for name, (args, kwargs) in examples.items():
        args, kwargs = _as_arguments(args), kwargs or {}
        recorder, text = record(name, args, kwargs, checks.strict)
        with _UNIT:
            methods.define_text(name, text, _names(recorder))
        done.append((name, recorder, args, kwargs))
    with _UNIT:
        try:
            builder.compile_exported(methods)
        except BaseException:
            builder.forget()
            raise
    traced = finished(module, native)
    for name, recorder, args, kwargs in done:
        full = f"{native.type_name}.{name}"
        keep(recorder.told.of(full), traced, full)
        whole = name == "forward"
        checks.of(name).run(
            recorder,
            functools.partial(record, name),
            traced if whole else getattr(traced, name),
            module if whole else getattr(module, name),
            args,
            kwargs,
        )
    return traced


def _names(recorder: Recorder) -> dict:
    import hotaru

    names = {
        name: Constant(value) if isinstance(value, _C.Tensor) else value
        for name, value in recorder.constants.items()
    }
    return {"torch": hotaru, "ops": hotaru.ops, **names}


@contextlib.contextmanager
def _stand_ins(module: Module, recorder: Recorder):
    """Puts stand-ins in the place of all parameters and buffers.

    Buffers change copies, so that the trace leaves the module as it was.
    """
    replaced: list = []
    known: dict = {}
    seen: set = set()
    recurrent: list = []

    def visit(inner: Module, path: str) -> None:
        if id(inner) in seen:  # one module at two places
            return
        seen.add(id(inner))
        if isinstance(inner, RecursiveScriptModule):
            recorder.modules.append((inner._c, path))
            for name, child in inner.named_children():
                visit(child, _member(path, name))
            return
        if isinstance(inner, RNNBase):
            recurrent.append((inner, given_weights(inner)))
        for tensors in (inner._parameters, inner._buffers):
            replaced.append((tensors, dict(tensors)))
            for name, tensor in tensors.items():
                if tensor is None:
                    continue
                if id(tensor) not in known:
                    copied = tensors is inner._buffers
                    value = tensor.clone() if copied else tensor
                    recorder.held.add(id(value))
                    known[id(tensor)] = TracedTensor(
                        recorder, _member(path, name), value
                    )
                tensors[name] = known[id(tensor)]
        for name, child in inner._modules.items():
            if child is not None:
                visit(child, _member(path, name))

    try:
        visit(module, "self")
        for layer, weights in recurrent:
            if weights is not None:
                layer._flat_weights = [known.get(id(w), w) for w in weights]
        yield
    finally:
        for tensors, originals in reversed(replaced):
            tensors.update(originals)
        for layer, weights in recurrent:
            if weights is not None:
                layer._flat_weights = weights


def _member(path: str, name: str) -> str:
    if name.isidentifier():
        return f"{path}.{name}"
    return f'getattr({path}, "{name}")'


def _traced_text(
    recorder, function, name, args, kwargs, first: list, strict: bool
) -> str:
    """Runs the function with stand-ins; the source of what it did."""
    names = [*_parameter_names(function, len(args)), *kwargs]
    give = True
    values = [*args, *kwargs.values()]
    header = list(first)
    stand_ins = []
    check_inputs(tuple(values))
    for parameter, value in zip(names, values):
        header.append(f"{parameter}: {_UNIT.type_of(value)}")
        recorder.told.note(parameter, value)
        stand_ins.append(_stand_in(recorder, parameter, value, give))
    named = dict(zip(kwargs, stand_ins[len(args) :]))
    try:
        with tracing(), Given(recorder):
            result = function(*stand_ins[: len(args)], **named)
    except BaseException:
        recorder.ended = True
        raise
    result = _sizes_as_tensors(recorder, recorder.stood_in(result))
    check_result(result, strict)
    given = _result(recorder, result)  # which may write lines
    lines = recorder.told.lines = [*recorder.lines, f"return {given}"]
    recorder.ended = True
    body = "\n".join(f"    {line}" for line in lines)
    return f"def {name}({', '.join(header)}):\n{body}\n"


def _sizes_as_tensors(recorder, value):
    """Sizes that a program gives back, and numbers made of them, are tensors of
    one number, as those of a traced program are in PyTorch.
    """
    if type(value) in (TracedInt, TracedFloat):
        return recorder.call(_C.tensor, (value,), {})
    if type(value) in (list, tuple):
        return type(value)(_sizes_as_tensors(recorder, v) for v in value)
    return value


def _parameter_names(function, count: int) -> list:
    """Names for positional arguments: the function's own where it has them."""
    own = function.forward if isinstance(function, Module) else function
    try:
        parameters = inspect.signature(own).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    names = [
        p.name
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ][:count]
    return names + [f"argument_{i}" for i in range(len(names), count)]


def _stand_in(recorder, name: str, value, give: bool):
    """The argument `name` as the function gets it: with stand-ins for the
    tensors in it, or with the tensors that it shall be given.
    """
    if isinstance(value, _C.Tensor):
        if give:
            return recorder.give(value, name)
        return TracedTensor(recorder, name, value.clone())
    if isinstance(value, dict):
        return {
            key: _stand_in(recorder, f"{name}[{key!r}]", item, give)
            for key, item in value.items()
        }
    items = [
        _stand_in(recorder, f"{name}[{i}]", item, give) for i, item in enumerate(value)
    ]
    return items if isinstance(value, list) else tuple(items)


def _result(recorder, value) -> str:
    if isinstance(value, dict):
        items = (
            f"{recorder.text(key)}: {_result(recorder, item)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(items)}}}"
    if isinstance(value, TracedTensor) or not isinstance(value, (list, tuple)):
        return recorder.text(value)
    items = "".join(f"{_result(recorder, item)}, " for item in value)
    return f"[{items}]" if isinstance(value, list) else f"({items})"
