"""PyTorch's store of compiled classes, by the Python class they are of.

Modules that are alike share a compiled class. A library that changes `forward`
of a class between two modules takes the class out of the store, and the next
module is compiled anew.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping

from .._script_module import _SHARED

__all__ = ["ConcreteTypeStore", "concrete_type_store"]


class _Types(MutableMapping):
    """Compiled classes by the class of the modules: what is compiled now."""

    def __getitem__(self, cls: type) -> list:
        found = [made.type for key, (made, _) in list(_SHARED.items()) if key[0] is cls]
        if not found:
            raise KeyError(cls)
        return found

    def __delitem__(self, cls: type) -> None:
        keys = [key for key in list(_SHARED) if key[0] is cls]
        if not keys:
            raise KeyError(cls)
        for key in keys:
            _SHARED.pop(key, None)

    def __setitem__(self, cls: type, types) -> None:
        """Only to drop all: `types` is empty. Nobody else compiles classes."""
        if types:
            raise TypeError("type_store: classes are compiled by torch.jit.script")
        self.pop(cls, None)

    def __iter__(self) -> Iterator[type]:
        return iter(dict.fromkeys(key[0] for key in list(_SHARED)))

    def __len__(self) -> int:
        return len(list(iter(self)))


class ConcreteTypeStore:
    """Holds the classes of compiled modules, `type_store`."""

    def __init__(self) -> None:
        self.type_store = _Types()


concrete_type_store = ConcreteTypeStore()
