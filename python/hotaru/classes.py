"""torch.classes: C++ classes by namespace, `torch.classes.space.Name`.

They are what libraries register with `torch::class_` (docs/cpp.md). Asking for
one that is not registered raises PyTorch's error. Classes compiled from Python
are those of `torch.jit.script`.
"""

from __future__ import annotations

import os

from . import _C
from ._library import shared as _shared
from ._own_names import no_attribute

__all__ = ["load_library", "loaded_libraries"]

loaded_libraries = _shared.loaded_libraries
_PREFIX = "__torch__.torch.classes."


def load_library(path: str | os.PathLike) -> None:
    """Loads a shared library, as `torch.ops.load_library` does.

    Raises:
        OSError: it cannot be loaded; the cause says why.
    """
    _shared.load_library(path)


class OwnClass:
    """A class that C++ registered: calling it makes an object, which is a
    `torch._C.ScriptObject`; its static methods are attributes.
    """

    def __init__(self, qualified_name: str) -> None:
        self._name = qualified_name
        self.__name__ = qualified_name.rpartition(".")[2]
        self.__doc__ = _C._own_class_doc(qualified_name)

    def __call__(self, *args, **kwargs):
        return _C._own_class_new(self._name, *args, **kwargs)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(f"no attribute {name!r}")
        return _C._own_class_static(self._name, name)

    def __repr__(self) -> str:
        return f"<torch.ScriptClass {self._name.removeprefix(_PREFIX)}>"


class ClassNamespace:
    """The classes of one namespace."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, attr: str):
        if attr.startswith("__"):
            raise AttributeError(f"no attribute {attr!r}")
        qualified = f"{_PREFIX}{self.name}.{attr}"
        if qualified not in _C._own_class_names():
            raise RuntimeError(
                f"Tried to instantiate class '{self.name}.{attr}', but it does "
                "not exist! Ensure that it is registered via torch::class_"
            )
        made = OwnClass(qualified)
        setattr(self, attr, made)
        return made

    def __repr__(self) -> str:
        return f"<torch.classes.{self.name}>"


def __getattr__(name: str) -> ClassNamespace:
    if name.startswith("__"):
        raise no_attribute(__name__, name)
    return globals().setdefault(name, ClassNamespace(name))
