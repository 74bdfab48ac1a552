"""Handles returned by every `register_*_hook`."""

from __future__ import annotations

import warnings
import weakref
from abc import ABCMeta

from .. import _C
from .._late import lent
from .._own_names import no_attribute


def unserializable_hook(f):
    """Marks a hook of which one knows that it is not written to files nor sent
    to processes with its tensor, as no hook is.
    """
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor) -> None:
    """Warns of each backward hook of a tensor that is to be written: it is
    not, unless it is marked as `unserializable_hook`.
    """
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If "
                "this is expected, you can decorate the function with "
                "@torch.utils.hooks.unserializable_hook to suppress this "
                "warning",
                stacklevel=2,
            )


class RemovableHandle(metaclass=ABCMeta):  # noqa: B024
    """Removes one hook from the mapping that it was registered in.

    Also a context manager: leaving the block removes the hook. The mapping is
    held weakly, so a handle keeps no module alive. Other handles, which files
    below this one have, are instances by their `_is_hook_handle`.
    """

    next_id = 0

    @classmethod
    def __subclasshook__(cls, kind):
        if cls is RemovableHandle and getattr(kind, "_is_hook_handle", False):
            return True
        return NotImplemented

    def __init__(self, hooks_dict: dict, *, extra_dict=None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = () if extra_dict is None else extra_dict
        if isinstance(extra, dict):
            extra = (extra,)
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra)

    def remove(self) -> None:
        """Removes the hook; does nothing the second time."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_) -> None:
        self.remove()

    # Weak references do not pickle: a copy refers to the mappings themselves.
    def __getstate__(self):
        extra = tuple(ref() for ref in self.extra_dict_ref)
        return (self.hooks_dict_ref(), self.id, extra)

    def __setstate__(self, state) -> None:
        hooks, self.id, extra = state
        # A mapping that had died is replaced by one that dies at once.
        self.hooks_dict_ref = weakref.ref(HookDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(
            weakref.ref(HookDict() if d is None else d) for d in extra
        )
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)


class HookDict(dict):
    """A dict that can be referred to weakly (plain dicts cannot)."""

    __slots__ = ("__weakref__",)


def add_hook(hooks: dict, hook, *, prepend: bool = False, flags=()) -> RemovableHandle:
    """Registers `hook` in `hooks`, and its id in each mapping of `flags`."""
    handle = RemovableHandle(hooks, extra_dict=flags)
    hooks[handle.id] = hook
    if prepend:
        later = [(key, value) for key, value in hooks.items() if key != handle.id]
        hooks.clear()
        hooks[handle.id] = hook
        hooks.update(later)
    for mapping in flags:
        mapping[handle.id] = True
    return handle


# The handles of tensors' and nodes' hooks are native; programs ask whether they
# are handles, and by which number they know them.
_C._HookHandle.id = property(id)
_C._HookHandle._is_hook_handle = True


TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._backward_hook import BackwardHook as BackwardHook
else:

    def __getattr__(name: str):
        if name == "BackwardHook":
            return globals().setdefault(name, lent(name))
        raise no_attribute(__name__, name)
