"""Checkpoints: less memory for a backward pass that computes things twice.

A checkpointed function keeps its arguments instead of what its operators save,
and runs again in the backward pass. `create_selective_checkpoint_contexts`
keeps the results of some operators besides (`_selective.py`).
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable

from .. import Tensor, autograd, cuda, enable_grad, is_grad_enabled, nn, no_grad
from ._recompute import DESCRIPTIONS, CheckpointError, Frame, GraphExecGroup
from ._selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    _CachedTorchDispatchMode,  # noqa: F401  (a known name of this module)
    _CachingTorchDispatchMode,
    create_selective_checkpoint_contexts,
)
from ._surroundings import (
    DefaultDeviceType,
    Surroundings,
    _infer_device_type,  # noqa: F401  (a known name of this module)
    get_device_states,
    set_device_states,
)

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

_early_stop: bool | None = None
_debug_enabled: bool | None = None


def detach_variable(inputs: tuple) -> tuple:
    """The tensors without history, with their `requires_grad`; others as is.

    RuntimeError for anything but a tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. "
            f"Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(
        value.detach().requires_grad_(value.requires_grad)
        if isinstance(value, Tensor)
        else value
        for value in inputs
    )


def check_backward_validity(inputs) -> None:
    """Warns if no tensor among the inputs requires a gradient."""
    if not any(isinstance(i, Tensor) and i.requires_grad for i in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None",
            stacklevel=2,
        )


def noop_context_fn() -> tuple:
    """Two contexts that do nothing: for the first and for the second run."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool):
    """Overrides `early_stop` of the checkpoints made inside of the block.

    Not to be entered by several threads at the same time.
    """
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None):
    """Overrides `debug` of the checkpoints made inside of the block, but None.

    Not to be entered by several threads at the same time.
    """
    global _debug_enabled
    before, _debug_enabled = _debug_enabled, enabled
    try:
        yield
    finally:
        _debug_enabled = before


def _check_keywords(kwargs: dict) -> None:
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))


class CheckpointFunction(autograd.Function):
    """The reentrant kind: its backward pass runs one of its own."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = Surroundings(args, preserve_rng_state)
        ctx.inputs = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if not autograd._is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is "
                "incompatible with .grad() or passing an `inputs` parameter to "
                ".backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the "
                "`inputs` argument."
            )
        inputs = list(ctx.inputs)
        for place, tensor in zip(ctx.places, ctx.saved_tensors):
            inputs[place] = tensor
        detached = detach_variable(tuple(inputs))
        with ctx.surroundings.again(), enable_grad():
            outputs = ctx.run_function(*detached)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = [
            (output, grad)
            for output, grad in zip(outputs, grads)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is "
                "not necessary"
            )
        autograd.backward(*map(list, zip(*pairs)))
        found = (i.grad if isinstance(i, Tensor) else None for i in detached)
        return (None, None, *found)


def _decorator(options: dict):
    """A decorator of functions whose calls are checkpointed."""

    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            return checkpoint(function, *args, **options, **kwargs)

        return run

    return decorate


def checkpoint(
    function=None,
    *args,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable[[], tuple] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    respect_saved_tensors_hooks: bool | None = None,
    **kwargs,
):
    """Calls `function(*args, **kwargs)`, which runs again in a backward pass.

    Args:
        function: does the same each time, given the same arguments and random
            state; left out, a decorator with these options is returned.
        use_reentrant: False: what the operators save is computed again where
            it is wanted; works with `grad`, nests, and takes keyword arguments.
            True: the whole call is one node, whose backward runs a pass of its
            own: some argument must require a gradient, and all leaves get
            theirs. None is True, with a warning.
        context_fn: gives two contexts, for the first and for the second run.
        determinism_check: "default" compares shape, dtype and device of what
            both runs save, "none" nothing.
        debug: the error where the runs differ lists the operators that Python
            called in each, with their callers.
        early_stop: the second run ends when all that is wanted is there.
        preserve_rng_state: the second run draws the same numbers.
        respect_saved_tensors_hooks: whether tensors that a policy keeps
            (`create_selective_checkpoint_contexts`) go through the hooks of
            `saved_tensors_hooks` around.

    Raises:
        ValueError: options that the kind does not take, or an unknown check.
        CheckpointError: from the backward pass, where the runs differ.
    """
    if function is None:
        if args or kwargs:
            raise ValueError(
                "checkpoint: arguments without a function; name the function "
                "first, or give options alone for a decorator"
            )
        return _decorator(
            {
                "use_reentrant": use_reentrant,
                "preserve_rng_state": preserve_rng_state,
                "context_fn": context_fn,
                "determinism_check": determinism_check,
                "debug": debug,
                "early_stop": early_stop,
                "respect_saved_tensors_hooks": respect_saved_tensors_hooks,
            }
        )
    if respect_saved_tensors_hooks and use_reentrant:
        raise ValueError(
            "respect_saved_tensors_hooks is only supported if use_reentrant=False"
        )
    if use_reentrant is None:
        use_reentrant = _reenters_by_default(
            "torch.utils.checkpoint: the use_reentrant parameter should be "
            "passed explicitly. Starting in PyTorch 2.9, calling checkpoint "
            "without use_reentrant will raise an exception."
        )
    preserve = preserve_rng_state
    if not use_reentrant:
        if _debug_enabled is not None:
            debug = _debug_enabled
        if debug and context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        if determinism_check not in DESCRIPTIONS:
            raise ValueError(
                f"determinism_check should be one of {list(DESCRIPTIONS)}, but "
                f"got {determinism_check}"
            )
        describe = DESCRIPTIONS[determinism_check]
        explain = None
        if debug:
            from ._operator_log import OperatorLog

            log = OperatorLog()
            context_fn, explain = log.contexts, log.text
        contexts = context_fn()
        if isinstance(contexts[0], _CachingTorchDispatchMode):
            contexts[0].respect_saved_tensors_hooks = respect_saved_tensors_hooks
        return _without_reentry(
            function, args, kwargs, preserve, contexts, describe, early_stop, explain
        )
    _check_keywords(kwargs)
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when "
            "use_reentrant=False."
        )
    return CheckpointFunction.apply(function, preserve, *args)


def _reenters_by_default(warning: str) -> bool:
    warnings.warn(
        f"{warning} use_reentrant=False is recommended, but if you need to "
        "preserve the current default behavior, you can pass "
        "use_reentrant=True. Refer to docs for more details on the "
        "differences between the two variants.",
        stacklevel=3,
    )
    return True


def _without_reentry(
    function, args, kwargs, preserve, contexts, describe, early_stop, explain
):
    surroundings = Surroundings(args, preserve)
    first, second = contexts
    # A run of later would have no tangents: nothing is left for one.
    if autograd.forward_ad._current_level >= 0:
        with first:
            return function(*args, **kwargs)

    def again(*tensors):
        with surroundings.again(), second:
            function(*tensors, **kwargs)

    if not is_grad_enabled():
        return function(*args, **kwargs)
    stop = early_stop if _early_stop is None else _early_stop
    frame = Frame(again, args, stop, describe, explain)
    with frame.hooks(), first:
        result = function(*args, **kwargs)
        frame.complete = True
    if not frame.complete:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by "
            "context_fn suppressed an exception raised during the checkpointed "
            "forward. This is not supported because checkpoint cannot return a "
            "value for a failed forward."
        )
    if preserve and cuda.is_initialized() and not surroundings.had_device:
        raise RuntimeError(
            "PyTorch's device state was initialized in the forward pass of a "
            "Checkpoint, which is not allowed. "
            "Please open an issue if you need this feature."
        )
    return result


def checkpoint_sequential(
    functions, segments: int, input, use_reentrant=None, **kwargs
):
    """Applies functions one after the other, in checkpointed segments.

    Args:
        functions: a `Sequential` or a list of functions of one argument.
        segments: how many; the last one is not checkpointed.
        input: the first function's argument.
        use_reentrant: as in `checkpoint`.
        preserve_rng_state: as in `checkpoint`; ValueError for other names.
    """
    if use_reentrant is None:
        use_reentrant = _reenters_by_default(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant "
            "parameter should be passed explicitly. In version 2.9 we will "
            "raise an exception if use_reentrant is not passed."
        )
    preserve = kwargs.pop("preserve_rng_state", True)
    _check_keywords(kwargs)
    if isinstance(functions, nn.Sequential):
        functions = functions.children()
    functions = list(functions)
    size = len(functions) // segments
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(
            _chain(functions[start : start + size]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _chain(functions[size * (segments - 1) :])(input)


def _chain(functions: list):
    def run(value):
        for function in functions:
            value = function(value)
        return value

    return run
