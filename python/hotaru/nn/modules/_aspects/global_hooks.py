"""Hooks of every module.

They are kept in the module `module`, by PyTorch's names, which programs that
forget all of them assign to.
"""

from __future__ import annotations

from types import ModuleType

from ....utils.hooks import RemovableHandle, add_hook

# Set by `module`, whose attributes the hooks are.
home: ModuleType = None

_BOTH_KINDS = (
    "Cannot use both regular backward hooks and full backward hooks as a "
    "global Module hook. Please use only one of them."
)


def register_module_forward_pre_hook(hook) -> RemovableHandle:
    """Registers `hook(module, args)` to run before every module's forward."""
    return _add(home._global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Registers `hook(module, args, output)` to run after every forward.

    With `with_kwargs` it is `hook(module, args, kwargs, output)`; with
    `always_call` it also runs when forward or another hook raises.
    """
    flags = []
    if with_kwargs:
        flags.append(home._global_forward_hooks_with_kwargs)
    if always_call:
        flags.append(home._global_forward_hooks_always_called)
    return _add(home._global_forward_hooks, hook, flags)


def register_module_backward_hook(hook) -> RemovableHandle:
    """`Module.register_backward_hook` for every module; use
    `register_module_full_backward_hook`.
    """
    if home._global_is_full_backward_hook is True:
        raise RuntimeError(_BOTH_KINDS)
    home._global_is_full_backward_hook = False
    return _add(home._global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook) -> RemovableHandle:
    """Registers `hook(module, grad_output)` for every module's backward."""
    return _add(home._global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook) -> RemovableHandle:
    """Registers `hook(module, grad_input, grad_output)` for every module."""
    if home._global_is_full_backward_hook is False:
        raise RuntimeError(_BOTH_KINDS)
    home._global_is_full_backward_hook = True
    return _add(home._global_backward_hooks, hook)


def register_module_buffer_registration_hook(hook) -> RemovableHandle:
    """Registers `hook(module, name, buffer) -> None | buffer`, which sees every
    buffer that a module is given.
    """
    return add_hook(home._global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook) -> RemovableHandle:
    """Registers `hook(module, name, child) -> None | child`, which sees every
    child that a module is given.
    """
    return add_hook(home._global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook) -> RemovableHandle:
    """Registers `hook(module, name, param) -> None | param`, which sees every
    parameter that a module is given.
    """
    return add_hook(home._global_parameter_registration_hooks, hook)


def registered(hooks: dict, module, name: str, value):
    """The value that the hooks make of one that is registered."""
    for hook in hooks.values():
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value


def _add(hooks: dict, hook, flags=()) -> RemovableHandle:
    home.Module._hooked = True
    return add_hook(hooks, hook, flags=flags)
