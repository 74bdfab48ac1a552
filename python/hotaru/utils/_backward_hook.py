"""Hooks on the gradients of a call's inputs and outputs."""

from __future__ import annotations

from .. import Tensor
from ..nn.modules._aspects.backward_hooks import BackwardWatch

__all__ = ["BackwardHook"]


class BackwardHook:
    """Calls hooks with the gradients of one call of a module.

    Args:
        module: is given to the hooks.
        user_hooks: called with (module, grad_input, grad_output); what they
            return takes the place of the gradients of the inputs.
        user_pre_hooks: called first, with (module, grad_output), of which they
            may return others.
    """

    def __init__(self, module, user_hooks, user_pre_hooks) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self._watch = BackwardWatch(module, user_hooks, user_pre_hooks)

    def setup_input_hook(self, args):
        """The inputs to call the module with: their gradients are seen."""
        return _through(self._watch.wrap_inputs, args)

    def setup_output_hook(self, args):
        """The outputs to go on with: their gradients are seen."""
        return _through(self._watch.wrap_outputs, args)


def _through(wrap, args):
    if isinstance(args, Tensor):
        return wrap((args,))[0]
    return wrap(args)
