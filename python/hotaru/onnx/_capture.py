"""Models of Python as programs whose parameters are the graph's inputs."""

from __future__ import annotations

import contextlib
import inspect

import hotaru

from .. import _C
from ..nn import Module
from ..utils import _pytree as pytree


def is_tensor(value) -> bool:
    """Tells whether a value becomes an input of the graph."""
    return isinstance(value, _C.Tensor)


def _parameters(model) -> list[inspect.Parameter]:
    own = model.forward if isinstance(model, Module) else model
    try:
        return list(inspect.signature(own).parameters.values())
    except (TypeError, ValueError):
        return []


def starred(model) -> tuple[str | None, str | None]:
    """Names of a model's `*args` and `**kwargs`, None where it has none."""
    names = {p.kind: p.name for p in _parameters(model)}
    kind = inspect.Parameter
    return names.get(kind.VAR_POSITIONAL), names.get(kind.VAR_KEYWORD)


def named_arguments(model, args: tuple, kwargs: dict) -> dict:
    """The arguments by parameter, positional ones first."""
    names = [
        p.name
        for p in _parameters(model)
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    star = starred(model)[0] or "arg"
    names += [f"{star}_{i}" for i in range(len(args) - len(names))]
    return {**dict(zip(names, args)), **kwargs}


def input_names(named: dict) -> list[str]:
    """A name for each tensor among the arguments."""
    out: list[str] = []

    def walk(value, name: str) -> None:
        if is_tensor(value):
            out.append(name)
        elif isinstance(value, dict):
            for key, item in value.items():
                walk(item, f"{name}_{key}")
        elif isinstance(value, (tuple, list)):
            for i, item in enumerate(value):
                walk(item, f"{name}_{i}")

    for name, value in named.items():
        walk(value, name)
    return out


@contextlib.contextmanager
def mode(model, training: bool | None):
    """The model in that mode, None for the one it is in."""
    if training is None or not isinstance(model, Module):
        yield
        return
    before = [(each, each.training) for each in model.modules()]
    model.train(training)
    try:
        yield
    finally:
        for each, was in before:
            each.training = was


def _tensors_only(held: list, spec):
    """The function of its tensors alone, which gives tensors alone.

    Args:
        held: the function and its arguments' leaves. Whoever traces keeps what
            was traced by its identity, but not what is taken out of here.
    """

    def called(*tensors):
        function, leaves = held
        rest = iter(tensors)
        given = [next(rest) if is_tensor(x) else x for x in leaves]
        args, kwargs = pytree.tree_unflatten(given, spec)
        result = function(*args, **kwargs)
        if is_tensor(result):
            return result
        found = [x for x in pytree.tree_leaves(result) if not _is_constant(x)]
        return found[0] if len(found) == 1 else tuple(found)

    return called


def _is_constant(value) -> bool:
    return value is None or isinstance(value, (str, bool, int, float))


@contextlib.contextmanager
def separate_operators():
    """Attention in its parts, not as one operator of inference."""
    mha = hotaru.backends.mha
    before = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        mha.set_fastpath_enabled(before)


def trace(model, args: tuple, kwargs: dict):
    """A program of what the model does, and the tensors that it takes."""
    from .. import jit
    from ..autograd.grad_mode import no_grad

    leaves, spec = pytree.tree_flatten((args, kwargs))
    tensors = tuple(x for x in leaves if is_tensor(x))
    function = model.forward if isinstance(model, Module) else model
    held = [function, leaves]
    called = _tensors_only(held, spec)
    parameters = [
        inspect.Parameter(f"input_{i}", inspect.Parameter.POSITIONAL_ONLY)
        for i in range(len(tensors))
    ]
    called.__signature__ = inspect.Signature(parameters)
    called.__name__ = "forward"
    with no_grad(), separate_operators():
        try:
            with _of_forward(model, called) as traced:
                program = jit.trace(traced, tensors, check_trace=False, strict=False)
        finally:
            held.clear()
    return program, tensors


@contextlib.contextmanager
def _of_forward(model, called):
    """A module whose own call, with its hooks, is of another forward."""
    if not isinstance(model, Module):
        yield called
        return
    own = model.__dict__.get("forward")
    object.__setattr__(model, "forward", called)
    try:
        yield model
    finally:
        if own is None:
            del model.__dict__["forward"]
        else:
            object.__setattr__(model, "forward", own)
