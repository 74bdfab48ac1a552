"""Hooks of a module: registration, and the call that runs them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ....utils.hooks import RemovableHandle, add_hook
from . import global_hooks as _global_hooks


class HookMixin:
    """Registration of hooks, and the call with hooks, of `Module`."""

    # True once a hook was registered, on the instance or (here) for all
    # modules: until then a call goes straight to `forward`.
    _hooked = False

    def register_forward_pre_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Registers `hook(module, args) -> None | args` to run before forward.

        With `with_kwargs` the hook is `hook(module, args, kwargs)` and returns
        None or `(args, kwargs)`. `prepend` puts it before existing hooks.
        """
        self._hooked = True
        flags = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return add_hook(self._forward_pre_hooks, hook, prepend=prepend, flags=flags)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Registers `hook(module, args, output) -> None | output`.

        With `with_kwargs` the hook is `hook(module, args, kwargs, output)`.
        With `always_call` it also runs when forward or another hook raises.
        """
        self._hooked = True
        flags = []
        if with_kwargs:
            flags.append(self._forward_hooks_with_kwargs)
        if always_call:
            flags.append(self._forward_hooks_always_called)
        return add_hook(self._forward_hooks, hook, prepend=prepend, flags=flags)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Registers `hook(module, grad_output) -> None | grad_output`."""
        self._hooked = True
        return add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def _take_backward_hooks(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward "
                "hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = full

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Registers a hook on the gradients of the module's inputs.

        It is `hook(module, grad_input, grad_output) -> None | grad_input`; the
        gradients are tuples, with None for what is no tensor.
        """
        self._take_backward_hooks(full=True)
        self._hooked = True
        return add_hook(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Registers a backward hook on the node of the module's output.

        Kept for old programs: its `grad_input` are the inputs of the last
        operation, not of the module. Use `register_full_backward_hook`.
        """
        self._take_backward_hooks(full=False)
        self._hooked = True
        return add_hook(self._backward_hooks, hook)

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> Any:
        """Runs forward between its hooks; see the `register_*` methods."""
        call = _Call(self, args, kwargs)
        try:
            return call.run()
        except Exception:
            call.run_always_called()
            raise


class _Call:
    """One call of a module with hooks: what it got and gave so far."""

    def __init__(self, module, args: tuple, kwargs: dict) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result = None
        # Keys of the forward hooks that ran, or raised.
        self.finished: set = set()

    def run(self):
        """The module's result, as the hooks leave it."""
        self._run_pre_hooks()
        full, plain, pre = self._backward_hooks()
        watch = None
        if full or pre:
            from .backward_hooks import BackwardWatch

            watch = BackwardWatch(self.module, full, pre)
            self.args = watch.wrap_inputs(self.args)
        self.result = self.module.forward(*self.args, **self.kwargs)
        for key, hook, with_kwargs, _ in self._forward_hooks():
            self.finished.add(key)
            self._run_forward_hook(hook, with_kwargs)
        if watch is not None:
            self.result = watch.wrap_outputs(self.result)
        if plain:
            from .backward_hooks import hook_output_node

            hook_output_node(self.module, self.args, self.result, plain)
        return self.result

    def _backward_hooks(self) -> tuple[list, list, list]:
        """Full hooks, those of the output's node, and pre-hooks."""
        home, module = _global_hooks.home, self.module
        full, plain = [], []
        for is_full, hooks in (
            (home._global_is_full_backward_hook, home._global_backward_hooks),
            (module._is_full_backward_hook, module._backward_hooks),
        ):
            (plain if is_full is False else full).extend(hooks.values())
        pre = [
            *home._global_backward_pre_hooks.values(),
            *module._backward_pre_hooks.values(),
        ]
        return full, plain, pre

    def _forward_hooks(self):
        """Key, hook, whether it takes keyword arguments, and whether it runs
        behind errors, too.
        """
        home, module = _global_hooks.home, self.module
        kinds = (
            (
                home._global_forward_hooks,
                home._global_forward_hooks_with_kwargs,
                home._global_forward_hooks_always_called,
            ),
            (
                module._forward_hooks,
                module._forward_hooks_with_kwargs,
                module._forward_hooks_always_called,
            ),
        )
        return [
            (key, hook, key in with_kwargs, key in always)
            for hooks, with_kwargs, always in kinds
            for key, hook in hooks.items()
        ]

    def _run_forward_hook(self, hook, with_kwargs: bool) -> None:
        if with_kwargs:
            changed = hook(self.module, self.args, self.kwargs, self.result)
        else:
            changed = hook(self.module, self.args, self.result)
        if changed is not None:
            self.result = changed

    def _run_pre_hooks(self) -> None:
        module = self.module
        of_all = _global_hooks.home._global_forward_pre_hooks
        for key, hook in (*of_all.items(), *module._forward_pre_hooks.items()):
            if key not in module._forward_pre_hooks_with_kwargs:
                changed = hook(module, self.args)
                if changed is not None:
                    is_tuple = isinstance(changed, tuple)
                    self.args = changed if is_tuple else (changed,)
                continue
            changed = hook(module, self.args, self.kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    "forward pre-hook must return None or a tuple of "
                    f"(new_args, new_kwargs), but got {changed}."
                )
            self.args, self.kwargs = changed

    def run_always_called(self) -> None:
        """After an error: runs the always-called hooks that had not run."""
        own = self.module._forward_hooks
        for key, hook, with_kwargs, always in self._forward_hooks():
            if not always or key in self.finished:
                continue
            try:
                self._run_forward_hook(hook, with_kwargs)
            except Exception as error:
                what = "" if key in own else "global "
                warnings.warn(
                    f"{what}module forward hook with ``always_call=True`` "
                    "raised an exception that was silenced as another error "
                    f"was raised in forward: {error}",
                    stacklevel=4,
                )
