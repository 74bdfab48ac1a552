"""Hooks that run around the step of an optimizer."""

from __future__ import annotations

import functools
from collections import OrderedDict

from .. import enable_grad, is_grad_enabled, no_grad
from .._extension.profiled import is_running, named_range
from ..utils.hooks import RemovableHandle, add_hook

_global_optimizer_pre_hooks: dict = OrderedDict()
_global_optimizer_post_hooks: dict = OrderedDict()


def register_optimizer_step_pre_hook(hook) -> RemovableHandle:
    """Registers `hook(optimizer, args, kwargs)` before steps of all optimizers.

    It may return the arguments to use instead, as (args, kwargs).
    """
    return add_hook(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook) -> RemovableHandle:
    """Registers `hook(optimizer, args, kwargs)` after steps of all of them."""
    return add_hook(_global_optimizer_post_hooks, hook)


def profiled(kind: str, optimizer):
    """A range of the profile that runs, if any, named after the optimizer."""
    if not is_running():
        return None
    name = type(optimizer).__name__
    return named_range(f"Optimizer.{kind}#{name}.{kind}")


def hooked(step):
    """`step` with the hooks of its optimizer and of all optimizers."""

    @functools.wraps(step)
    def run(*args, **kwargs):
        self = args[0]
        span = profiled("step", self)
        if span is not None:
            with span:
                return _with_hooks(step, args, kwargs)
        if (
            self._optimizer_step_pre_hooks
            or self._optimizer_step_post_hooks
            or _global_optimizer_pre_hooks
            or _global_optimizer_post_hooks
        ):
            return _with_hooks(step, args, kwargs)
        return step(*args, **kwargs)

    run.hooked = True
    return run


def _with_hooks(step, args, kwargs):
    self = args[0]
    for hook in (
        *_global_optimizer_pre_hooks.values(),
        *self._optimizer_step_pre_hooks.values(),
    ):
        changed = hook(self, args, kwargs)
        if changed is None:
            continue
        if not (isinstance(changed, tuple) and len(changed) == 2):
            raise RuntimeError(
                f"{step} must return None or a tuple of (new_args, "
                f"new_kwargs), but got {changed}."
            )
        args, kwargs = changed
    result = step(*args, **kwargs)
    for hook in (
        *self._optimizer_step_post_hooks.values(),
        *_global_optimizer_post_hooks.values(),
    ):
        hook(self, args, kwargs)
    return result


def recording_if_differentiable(step):
    """`step` without recording of gradients, but for `differentiable`."""

    @functools.wraps(step)
    def run(self, *args, **kwargs):
        mode = enable_grad if self.defaults.get("differentiable") else no_grad
        with mode():
            return step(self, *args, **kwargs)

    return run


def loss_of(closure):
    """Calls a closure given to a step, with gradients recorded."""
    if closure is None:
        return None
    if is_grad_enabled():
        return closure()
    with enable_grad():
        return closure()
