"""`Tensor._backward_hooks`: hooks by a name of the program's."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict

from .. import _C

_local = threading.local()


class HooksNoted:
    """A context that notes the hooks that this thread gives tensors."""

    def __init__(self) -> None:
        self.handles: list = []

    def __enter__(self) -> HooksNoted:
        self._outer = getattr(_local, "now", None)
        _local.now = self
        return self

    def __exit__(self, *error) -> None:
        _local.now = self._outer


def noted(handle):
    """The handle of a tensor's new hook."""
    now = getattr(_local, "now", None)
    if now is not None:
        now.handles.append(handle)
    return handle


class HookTable(OrderedDict):
    """Hooks of a tensor; what is put in is registered, if the tensor requires
    gradients, and what is deleted is taken away.
    """

    def __init__(self, tensor) -> None:
        super().__init__()
        self._tensor, self._handles = weakref.ref(tensor), {}

    def __setitem__(self, name, hook) -> None:
        super().__setitem__(name, hook)
        tensor = self._tensor()
        if tensor is not None and tensor.requires_grad:
            self._handles[name] = tensor.register_hook(hook)

    def __delitem__(self, name) -> None:
        super().__delitem__(name)
        if name in self._handles:
            self._handles.pop(name).remove()


def get(self):
    """Returns what `register_hook` was given, in order; None without hooks."""
    known = self.__dict__.get("_hook_table")
    if known is not None:
        return known
    found = _C._hooks_of(self)
    return OrderedDict(enumerate(found)) if found else None


def put(self, hooks) -> None:
    """Hooks of a mapping, which are registered; None takes those away that
    were put here before.
    """
    known = self.__dict__.pop("_hook_table", {})
    for name in list(known):
        del known[name]
    if hooks is not None:
        self._hook_table = table = HookTable(self)
        for name, hook in hooks.items():
            table[name] = hook
