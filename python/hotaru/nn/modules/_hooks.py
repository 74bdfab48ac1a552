"""Hooks of a module: registration, and the call that runs them."""

from __future__ import annotations

from collections import OrderedDict

from ...utils.hooks import RemovableHandle, add_hook

# Hooks of every module, by kind.
_forward_pre: dict = OrderedDict()
_forward: dict = OrderedDict()
_forward_with_kwargs: dict = OrderedDict()
_forward_always: dict = OrderedDict()
_backward_pre: dict = OrderedDict()
_backward: dict = OrderedDict()


def register_module_forward_pre_hook(hook) -> RemovableHandle:
    """Registers `hook(module, args)` to run before every module's forward."""
    return _add_global(_forward_pre, hook)


def register_module_forward_hook(
    hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Registers `hook(module, args, output)` to run after every forward."""
    flags = []
    if with_kwargs:
        flags.append(_forward_with_kwargs)
    if always_call:
        flags.append(_forward_always)
    return _add_global(_forward, hook, flags)


def register_module_full_backward_pre_hook(hook) -> RemovableHandle:
    """Registers `hook(module, grad_output)` for every module's backward."""
    return _add_global(_backward_pre, hook)


def register_module_full_backward_hook(hook) -> RemovableHandle:
    """Registers `hook(module, grad_input, grad_output)` for every module."""
    return _add_global(_backward, hook)


def _add_global(hooks: dict, hook, flags=()) -> RemovableHandle:
    HookMixin._hooked = True
    return add_hook(hooks, hook, flags=flags)


class HookMixin:
    """Registration of hooks, and the call with hooks, of `Module`."""

    # True once a hook was registered, on the instance or (here) for all
    # modules: until then a call goes straight to `forward`.
    _hooked = False

    def register_forward_pre_hook(
        self, hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Registers `hook(module, args) -> None | args` to run before forward.

        With `with_kwargs` the hook is `hook(module, args, kwargs)` and returns
        None or `(args, kwargs)`. `prepend` puts it before existing hooks.
        """
        self._hooked = True
        flags = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return add_hook(
            self._forward_pre_hooks, hook, prepend=prepend, flags=flags
        )

    def register_forward_hook(
        self,
        hook,
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
        self, hook, prepend: bool = False
    ) -> RemovableHandle:
        """Registers `hook(module, grad_output) -> None | grad_output`."""
        self._hooked = True
        return add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(
        self, hook, prepend: bool = False
    ) -> RemovableHandle:
        """Registers a hook on the gradients of the module's inputs.

        It is `hook(module, grad_input, grad_output) -> None | grad_input`; the
        gradients are tuples, with None for what is no tensor.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward "
                "hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = True
        self._hooked = True
        return add_hook(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook) -> RemovableHandle:
        """Registers a backward hook on the node of the module's output.

        Kept for old programs: its `grad_input` are the inputs of the last
        operation, not of the module. Use `register_full_backward_hook`.
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward "
                "hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = False
        self._hooked = True
        return add_hook(self._backward_hooks, hook)

    def _call_with_hooks(self, args: tuple, kwargs: dict):
        """Runs forward between its hooks; see the `register_*` methods."""
        finished = set()
        try:
            return self._run_hooks(args, kwargs, finished)
        except Exception:
            self._run_always_called(args, kwargs, finished)
            raise

    def _run_hooks(self, args: tuple, kwargs: dict, finished: set):
        args, kwargs = self._run_pre_hooks(args, kwargs)

        full, plain = [], []
        if self._is_full_backward_hook is False:
            plain.extend(self._backward_hooks.values())
        else:
            full.extend(self._backward_hooks.values())
        full = [*_backward.values(), *full]
        pre = [*_backward_pre.values(), *self._backward_pre_hooks.values()]
        watch = None
        if full or pre:
            from ._backward_hooks import BackwardWatch

            watch = BackwardWatch(self, full, pre)
            args = watch.wrap_inputs(args)

        result = self.forward(*args, **kwargs)

        for key, hook in (*_forward.items(), *self._forward_hooks.items()):
            finished.add(key)
            if (
                key in self._forward_hooks_with_kwargs
                or key in _forward_with_kwargs
            ):
                changed = hook(self, args, kwargs, result)
            else:
                changed = hook(self, args, result)
            if changed is not None:
                result = changed

        if watch is not None:
            result = watch.wrap_outputs(result)
        if plain:
            from ._backward_hooks import hook_output_node

            hook_output_node(self, result, plain)
        return result

    def _run_pre_hooks(self, args: tuple, kwargs: dict):
        hooks = (*_forward_pre.items(), *self._forward_pre_hooks.items())
        for key, hook in hooks:
            if key in self._forward_pre_hooks_with_kwargs:
                changed = hook(self, args, kwargs)
                if changed is None:
                    continue
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of "
                        f"(new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def _run_always_called(
        self, args: tuple, kwargs: dict, finished: set
    ) -> None:
        """After an error: runs the always-called hooks that had not run."""
        always = (
            (_forward, _forward_always, _forward_with_kwargs),
            (
                self._forward_hooks,
                self._forward_hooks_always_called,
                self._forward_hooks_with_kwargs,
            ),
        )
        for hooks, called, with_kwargs in always:
            for key, hook in hooks.items():
                if key not in called or key in finished:
                    continue
                try:
                    if key in with_kwargs:
                        hook(self, args, kwargs, None)
                    else:
                        hook(self, args, None)
                except Exception as error:
                    import warnings

                    warnings.warn(
                        "module forward hook with ``always_call=True`` raised "
                        "an exception that was silenced as another error was "
                        f"raised in forward: {error}",
                        stacklevel=4,
                    )
