"""Modules as functions of their tensors in order, by functorch's names.

`func.functional_call` takes tensors by name instead.
"""

from __future__ import annotations

import copy

from .. import empty_like, nn, stack
from ..func import functional_call

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "make_functional",
    "make_functional_with_buffers",
]


def _taken(module: nn.Module, kind: str) -> tuple[tuple, tuple[str, ...]]:
    """Parameters or buffers, with their names; in their places are tensors
    without values, so that none is used by mistake.
    """
    found = getattr(module, f"named_{kind}")()
    names, tensors = tuple(zip(*found)) or ((), ())
    known: dict = {}
    for inner in module.modules():
        members = getattr(inner, f"_{kind}")
        for name, tensor in members.items():
            if tensor is None:
                continue
            if id(tensor) not in known:
                empty = empty_like(tensor, device="meta")
                known[id(tensor)] = (
                    nn.Parameter(empty, tensor.requires_grad)
                    if kind == "parameters"
                    else empty
                )
            members[name] = known[id(tensor)]
    return tensors, names


def _named(names: tuple[str, ...], tensors, kind: str) -> dict:
    tensors = tuple(tensors)
    if len(names) != len(tensors):
        raise ValueError(
            f"the module has {len(names)} {kind}, and is given {len(tensors)}"
        )
    return dict(zip(names, tensors))


def _copied(model: nn.Module, disable_autograd_tracking: bool):
    """A copy without values, its parameters and their names."""
    stateless = copy.deepcopy(model)
    params, names = _taken(stateless, "parameters")
    if disable_autograd_tracking:
        for param in params:
            param.requires_grad_(False)
    return stateless, params, names


class FunctionalModule(nn.Module):
    """A module whose parameters are its first argument, in their order."""

    def __init__(self, stateless_model: nn.Module, param_names) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names

    def forward(self, params, *args, **kwargs):
        given = _named(self.param_names, params, "parameters")
        return functional_call(self.stateless_model, given, args, kwargs)


class FunctionalModuleWithBuffers(nn.Module):
    """The same with its buffers as the second argument."""

    def __init__(self, stateless_model: nn.Module, param_names, buffer_names) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names

    def forward(self, params, buffers, *args, **kwargs):
        given = _named(self.param_names, params, "parameters")
        given.update(_named(self.buffer_names, buffers, "buffers"))
        return functional_call(self.stateless_model, given, args, kwargs)


def make_functional(model: nn.Module, disable_autograd_tracking: bool = False):
    """A function of a module's parameters, and copies of them.

    RuntimeError for a module with buffers.
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    model, params, names = _copied(model, disable_autograd_tracking)
    return FunctionalModule(model, names), params


def make_functional_with_buffers(
    model: nn.Module, disable_autograd_tracking: bool = False
):
    """A function of parameters and buffers, and copies of both."""
    model, params, names = _copied(model, disable_autograd_tracking)
    buffers, buffer_names = _taken(model, "buffers")
    made = FunctionalModuleWithBuffers(model, names, buffer_names)
    return made, params, buffers


def combine_state_for_ensemble(models):
    """One function for models alike, and their tensors stacked: leaves.

    RuntimeError: no models, or models of different kinds.
    """
    text = "combine_state_for_ensemble: Expected "
    if len(models) == 0:
        raise RuntimeError(f"{text}at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(f"{text}all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError(f"{text}all models to be of the same class.")
    made = [make_functional_with_buffers(model) for model in models]
    functions, params, buffers = zip(*made)
    return functions[0], _stacked(params), _stacked(buffers)


def _stacked(states) -> tuple:
    return tuple(stack(each).detach() for each in zip(*states))
