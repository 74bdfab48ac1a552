"""Checks of `trace`: results, and whether a second run says the same."""

from __future__ import annotations

import hotaru

from ... import _C
from ...nn import Module
from .draws import RANDOM
from .inputs import type_of
from .numbers import TracedInt
from .traced import TracedTensor
from .warned import warn

_KINDS = (
    "Only tensors, lists, tuples of tensors, or dictionary of tensors can be "
    "output from traced functions"
)
_INDEPENDENT = (
    "output {} ({}) of traced region did not have observable data dependence with "
    "trace inputs; this probably indicates your program cannot be understood by "
    "the tracer."
)
_DICT = (
    "output 1 ({}) of traced region cannot be understood by the tracer, only "
    "outputs matching dict[Union[str, Tensor], Union[Tensor, Tuple[Tensor, ...]]] "
    "can be a dictionary output of a traced function"
)
_CONTAINER = (
    "Encountering a {} at the output of the tracer might cause the trace to "
    "be incorrect, this is only valid if the container structure does not "
    "change based on the module's inputs. Consider using a constant container "
    "instead (e.g. for `list`, use a `tuple` instead. for `dict`, use a "
    "`NamedTuple` instead). If you absolutely need this and know the side "
    "effects, pass strict=False to trace() to allow this behavior."
)


class TracingCheckError(Exception):
    """A second run of the function made another program."""

    def __init__(self, graph_diff: str | None, constants_diff: str | None):
        message = "Tracing failed sanity checks!\n"
        if graph_diff is not None:
            message += "ERROR: Graphs differed across invocations!\n"
            message += _indented(f"Graph diff:\n{_indented(graph_diff)}")
        if constants_diff is not None:
            message += (
                "ERROR: Tensor-valued Constant nodes differed in value across "
                "invocations. This often indicates that the tracer has "
                f"encountered untraceable code.\n{_indented(constants_diff)}"
            )
        super().__init__(message)


def _indented(text: str) -> str:
    return "".join(f"\t{line}\n" for line in text.splitlines())


def check_result(result, strict: bool) -> None:
    """Raises RuntimeError for what a program cannot give back, and warns of
    containers whose length the example decided.
    """
    if result is None:
        raise RuntimeError(
            "The traced function didn't return any values! "
            "Side-effects are not captured in traces, so it would be a no-op."
        )
    if isinstance(result, (list, dict)):
        type_of(result)
    _check_part(result, strict)


def _check_part(value, strict: bool) -> None:
    if isinstance(value, _C.Tensor) or type(value) is TracedInt:
        return  # a size is one, too
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            if not isinstance(item, (_C.Tensor, tuple, list, dict)):
                raise RuntimeError(_INDEPENDENT.format(i, item))
            _check_part(item, strict)
    elif isinstance(value, list) and value:
        if strict:
            warn(_CONTAINER.format("list"))
        if not all(isinstance(item, _C.Tensor) for item in value):
            raise RuntimeError(_KINDS)
    elif isinstance(value, dict) and value:
        if strict:
            raise RuntimeError(_CONTAINER.format("dict"))
        if not _plain_parts(value):
            raise RuntimeError(_DICT.format(value))
    else:
        raise RuntimeError(_KINDS)


def _plain_parts(value) -> bool:
    """Tells whether containers hold tensors alone."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return all(map(_plain_parts, value))
    return isinstance(value, _C.Tensor)


def check_program(first, second) -> None:
    """Compares what two recorders wrote down.

    TracingCheckError: lines or constants differ.
    """
    if first.lines != second.lines:
        import difflib

        diff = "\n".join(difflib.ndiff(first.lines, second.lines))
        raise TracingCheckError(diff, None)
    for name, value in first.constants.items():
        other = second.constants.get(name)
        if name in first.drawn or not (
            isinstance(value, _C.Tensor) and isinstance(other, _C.Tensor)
        ):
            continue
        if value.shape != other.shape or not _close(value, other, 1e-5):
            raise TracingCheckError(None, f"{name}: {value}\nthen: {other}")
    for line in first.lines:
        called = line.partition("ops.")[2].partition("(")[0]
        if called in RANDOM and not line.rstrip(")").endswith("False"):
            warn(
                "Trace had nondeterministic nodes. Did you forget call "
                f".eval() on your model? Nodes:\n\t{line}\nThis may cause "
                "errors in trace checking. To disable trace checking, pass "
                "check_trace=False to torch.jit.trace()"
            )
            return


def check_outputs(traced, function, args, kwargs, tolerance: float) -> None:
    """Warns of outputs that differ from those of the function itself."""
    state = _C.get_rng_state()
    try:
        with hotaru.no_grad():
            runs = [
                _outputs(each, function, args, kwargs) for each in (traced, function)
            ]
    finally:
        _C.set_rng_state(state)
    for i, (ours, theirs) in enumerate(zip(*runs), 1):
        trouble = _difference(ours, theirs, tolerance)
        if trouble:
            warn(
                f"Output nr {i}. of the traced function does not match the "
                "corresponding output of the Python function. Detailed error:"
                f"\n{trouble}"
            )


def _outputs(run, function, args, kwargs) -> list:
    """The tensors that a run gives; the function's buffers are as before."""
    module = getattr(function, "__self__", function)
    buffers = list(module.buffers()) if isinstance(module, Module) else []
    kept = [buffer.clone() for buffer in buffers]
    try:
        return _tensors(run(*_cloned(args), **_cloned(kwargs)))
    finally:
        for buffer, value in zip(buffers, kept):
            buffer.copy_(value)


def _difference(ours, theirs, tolerance: float) -> str:
    if ours.shape != theirs.shape:
        return (
            "The values for attribute 'shape' do not match: "
            f"{ours.shape} != {theirs.shape}."
        )
    if _close(ours, theirs, tolerance):
        return ""
    if ours.dtype != theirs.dtype:
        return (
            "The values for attribute 'dtype' do not match: "
            f"{ours.dtype} != {theirs.dtype}."
        )
    count = int((ours != theirs).sum())
    text = (
        "Tensor-likes are not close!\n\nMismatched elements: "
        f"{count} / {ours.numel()} ({100 * count / ours.numel():.1f}%)"
    )
    if not ours.is_floating_point():
        return text
    most = float((ours - theirs).abs().max())
    return f"{text}\nGreatest absolute difference: {most}"


def _close(value, other, tolerance: float) -> bool:
    if value.dtype != other.dtype:
        return False
    if not (value.is_floating_point() or value.is_complex()):
        return hotaru.equal(value, other)
    return hotaru.allclose(value, other, rtol=tolerance, atol=tolerance, equal_nan=True)


def _cloned(value):
    if isinstance(value, _C.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: _cloned(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_cloned(item) for item in value]
        named = hasattr(value, "_fields")
        return type(value)(*items) if named else type(value)(items)
    return value


def _tensors(value) -> list:
    """Tensors in a result, where a size that a program gives back is one."""
    if isinstance(value, TracedTensor):
        value = value.value
    if isinstance(value, _C.Tensor):
        strided = value.layout is _C.strided
        return [value if strided else value.to_dense()]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _tensors(item)]
    return [_C.tensor(value)] if isinstance(value, (int, float)) else []
