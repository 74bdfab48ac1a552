"""Hooks of leaves that a function's own backward pass runs."""

from __future__ import annotations

from ... import _C, Tensor

# Code that runs a backward pass has one of these names.
_PASSES = {"backward", "grad"}


def follow(reach, names: set, every: bool) -> None:
    """Goes on with the hooks of the leaves that were met, where code among it
    may run a backward pass: such hooks are part of what it does.

    Args:
        reach: what was met.
        names: what the code calls things.
        every: whether it may find things by other means than names.
    """
    if not every and _PASSES.isdisjoint(names):
        return
    for tensor in list(reach.tensors):
        hooks = _hooks_of(tensor)
        if hooks:
            reach.plain = False  # nothing tells when one is taken away
            reach.add_part(("hooks", len(hooks)))
        for hook in hooks:
            reach.follow(hook)


def _hooks_of(tensor: Tensor) -> list:
    if not (tensor.requires_grad and tensor.is_leaf):
        return []
    return [*_C._hooks_of(tensor), *_C._post_accumulate_hooks_of(tensor)]
