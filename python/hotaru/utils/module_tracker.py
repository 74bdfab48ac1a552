"""Which modules run, by name, forward and backward."""

from __future__ import annotations

import weakref

from .. import _C
from .._C import Tensor
from .._trees.flat import flatten
from ..autograd.graph import register_multi_grad_hook
from ..nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """Inside of its `with`, `parents` is the set of the modules that run.

    A module's name is its way from the module that was called first
    ("Net.body.0"); "Global" is always among them. In a backward pass modules
    count from the gradients of their results to those of their arguments, as
    far as any of them requires one. Not for passes in several threads at once.
    """

    def __init__(self) -> None:
        self.parents: set[str] = {"Global"}
        self._names = weakref.WeakKeyDictionary()
        self._hooks: list = []
        self._will_clear = False

    @property
    def is_bw(self) -> bool:
        """Tells whether a backward pass runs here."""
        return _C._current_graph_task_id() != -1

    def __enter__(self):
        self._handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._behind),
        ]
        return self

    def __exit__(self, *exception) -> None:
        for handle in (*self._handles, *self._hooks):
            handle.remove()
        self._hooks.clear()

    def _name(self, module) -> str:
        if module not in self._names:
            self._name_all(module, type(module).__name__)
        return self._names[module]

    def _name_all(self, module, name: str) -> None:
        """Names a module and, with it, all that are in it."""
        self._names[module] = name
        for child_name, child in module.named_children():
            if child not in self._names:
                self._name_all(child, f"{name}.{child_name}")

    def _before(self, module, args) -> None:
        name = self._name(module)
        self.parents.add(name)
        self._at_gradients(args, lambda _: self.parents.discard(name))

    def _behind(self, module, args, result) -> None:
        name = self._name(module)
        self.parents.discard(name)
        self._at_gradients(result, lambda _: self._enter_backward(name))

    def _at_gradients(self, value, function) -> None:
        """Calls the function when the gradients of all in `value` are there."""
        wanted = [
            x for x in flatten(value)[0] if isinstance(x, Tensor) and x.requires_grad
        ]
        if wanted:
            self._hooks.append(register_multi_grad_hook(wanted, function))

    def _enter_backward(self, name: str) -> None:
        if not self._will_clear:
            # Modules whose arguments need no gradient are never left.
            self._will_clear = True
            _C._queue_callback(self._clear)
        self.parents.add(name)

    def _clear(self) -> None:
        self.parents = {"Global"}
        self._will_clear = False
