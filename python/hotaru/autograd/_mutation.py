"""Writing in place what the backward pass still needs."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator

from .. import _C, Tensor, no_grad

_OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' "
    "context in which the graph was originally recorded."
)


class _Handle:
    """Stands for a saved tensor as long as a graph keeps it."""

    __slots__ = ("__weakref__",)


def _memory(tensor: Tensor) -> tuple:
    return tensor._storage_ptr(), tensor._version


def _identity(tensor: Tensor) -> tuple:
    return (
        *_memory(tensor),
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.dtype,
    )


class _AllowMutationOnSavedContext:
    """The saved tensors of one context, and the copies it had to make."""

    def __init__(self) -> None:
        self.cloned: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self.original: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle: weakref.WeakValueDictionary = (
            weakref.WeakValueDictionary()
        )
        self._by_memory: dict[tuple, set[tuple]] = {}

    def clear(self) -> None:
        for kept in (
            self.cloned,
            self.original,
            self.tid_to_weakhandle,
            self._by_memory,
        ):
            kept.clear()

    def pack(self, tensor: Tensor) -> _Handle:
        identity = _identity(tensor)
        handle = self.tid_to_weakhandle.get(identity)
        if handle is None:
            handle = _Handle()
            self.tid_to_weakhandle[identity] = handle
            self.original[handle] = tensor.detach()
            self._by_memory.setdefault(_memory(tensor), set()).add(identity)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        found = self.cloned.get(handle)
        if found is None:
            found = self.original.get(handle)
        if found is None:
            raise AssertionError(_OUTSIDE)
        return found

    def before_write(self, tensor: Tensor) -> None:
        """Copies what is saved of the memory that is about to change."""
        if tensor.is_inference():
            return
        for identity in self._by_memory.pop(_memory(tensor), ()):
            handle = self.tid_to_weakhandle.get(identity)
            if handle is not None and handle in self.original:
                with no_grad():
                    self.cloned[handle] = self.original.pop(handle).clone()


_current: list[_AllowMutationOnSavedContext] = []


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Lets operators inside write tensors that a backward pass needs.

    What is about to be written is copied first, once, and only if a graph
    still keeps it. Passes over the graphs made inside must run inside.

    Raises:
        RuntimeError: within another such context.
        AssertionError: from a backward pass after the context's end.
    """
    if _current:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    hooks = _C._autograd
    hooks._push_saved_tensors_default_hooks(context.pack, context.unpack)
    _current.append(context)
    _C._set_write_listener(context.before_write)
    try:
        yield context
    finally:
        _C._set_write_listener(None)
        hooks._pop_saved_tensors_default_hooks()
        _current.clear()
        context.clear()
