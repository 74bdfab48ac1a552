"""Functions and modules that run as graphs."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable

from .. import _C
from ..nn import Module
from ._capture import Options
from ._graph import check_mode
from ._graphed import CACHE_SIZE, Graphed

_HOOKS = (
    "Modules must not have hooks registered at the time they are passed. "
    "However, registering hooks on modules after passing them through "
    "make_graphed_callables is allowed."
)
_BUFFERS = (
    "In any :class:`~torch.nn.Module` passed to "
    ":func:`~make_graphed_callables`, only parameters may be trainable. All "
    "buffers must have ``requires_grad=False``."
)


def check_module(module: Module) -> None:
    """PyTorch's rules for modules; AssertionError."""
    hooks = (
        "_backward_hooks",
        "_forward_hooks",
        "_forward_pre_hooks",
        "_backward_pre_hooks",
    )
    if any(len(vars(module).get(name, ())) for name in hooks):
        raise AssertionError(_HOOKS)
    if any(buffer.requires_grad for buffer in module.buffers()):
        raise AssertionError(_BUFFERS)


def _as_tuple(samples) -> tuple:
    return samples if isinstance(samples, tuple) else (samples,)


def make_graphed_callables(
    callables,
    sample_args=None,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: _C.GraphPool | None = None,
    capture_error_mode: str = "global",
    *,
    dynamic: bool = True,
    cache_size: int = CACHE_SIZE,
    without=(),
    bitwise: bool = False,
):
    """Makes functions and modules run as graphs, forward and backward.

    Results are the graph's own memory, which the next call overwrites, and are
    differentiable once. A module is changed in place, its ``forward``, and
    returned; of a function comes another.

    Args:
        callables: a function, a module, a script module, or a tuple of them.
        sample_args: for each callable a tuple of arguments, whose tensors the
            graph takes as its own. Left out, the first call of each kind is
            captured: kinds differ in shapes, dtypes, strides and requires_grad
            of tensors, in other arguments, in gradient mode and in attributes
            of the modules, ``training`` among them.
        num_warmup_iters: how often samples run before the capture; without a
            trace in buffers, states and generator.
        allow_unused_input: whether results may be independent of an argument
            or parameter that requires grad.
        pool: see ``Graph.capture_begin``; one of its own by default.
        dynamic: whether another kind of call is captured, too; if not, it is a
            RuntimeError that shows both. A module in another training mode
            then runs without a graph.
        cache_size: how many kinds are kept; the least recently used goes.
        without, bitwise: see ``Graph``.

    Raises:
        AssertionError: a module has hooks or trainable buffers, or samples
            hold what is no tensor, number, text or a nest of them.
        RuntimeError: what the callable does cannot be captured; with the line.
    """
    check_mode(capture_error_mode)
    many = isinstance(callables, tuple)
    functions = callables if many else (callables,)
    if sample_args is not None:
        samples = sample_args if many else (_as_tuple(sample_args),)
        samples = tuple(_as_tuple(sample) for sample in samples)
        if len(samples) != len(functions):
            raise ValueError(
                f"{len(functions)} callables, but sample_args for {len(samples)}"
            )
    options = Options(pool, allow_unused_input, False, without, bitwise)
    for function in functions:
        if isinstance(function, Module):
            check_module(function)
        elif not callable(function):
            raise TypeError(
                "make_graphed_callables: expected functions or modules, got "
                f"{type(function).__name__}"
            )
    graphed = [
        Graphed(
            _forward_of(f) if isinstance(f, Module) else f,
            options,
            dynamic=dynamic,
            cache_size=cache_size,
            root=f if isinstance(f, Module) else None,
        )
        for f in functions
    ]
    if sample_args is not None:
        # Forwards in order, backwards from the last to the first.
        captured = [
            g.prepare(sample, {}, num_warmup_iters)
            for g, sample in zip(graphed, samples)
        ]
        for one in reversed(captured):
            if one.differentiable:
                one.capture_backward()
    out = tuple(
        _installed(f, g, sample_args is not None and not dynamic)
        for f, g in zip(functions, graphed)
    )
    return out if many else out[0]


class _ClassForward:
    """A module's `forward` as its class has it when it is called."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def __call__(self, /, *args, **kwargs):
        return type(self.module).forward(self.module, *args, **kwargs)


def _forward_of(module: Module) -> Callable:
    """Gives what a module's own `forward` is before a graph replaces it."""
    of_class = getattr(type(module), "forward", None)
    if "forward" in vars(module) or not isinstance(of_class, types.FunctionType):
        return module.forward
    return _ClassForward(module)


def _installed(function, graphed: Graphed, one_mode: bool):
    """Returns what the user calls from now on."""
    if not isinstance(function, Module):
        return wrapped(function, graphed)
    original, training = graphed.function, function.training

    def forward(*args, **kwargs):
        here = graphed if function.training == training else original
        return here(*args, **kwargs) if kwargs else here(*args)

    forward.graphed = graphed
    function.forward = forward if one_mode else graphed
    return function


def wrapped(function, graphed: Graphed):
    functools.update_wrapper(graphed, function)
    return graphed
