"""`import torch` gives hotaru: in a process, or in a whole environment."""

from __future__ import annotations

import sys
import types

import hotaru

from .. import _C, _overrides
from .._own_names import add_root
from .finder import AliasFinder, ModuleFinder
from .rename import rename_loaded

_PACKAGE = __package__.partition(".")[0]
_IN_EXTENSION = (
    "_distributed_c10d",
    "_distributed_rpc",
    "_fft",
    "_functorch",
    "_linalg",
    "_nn",
    "_sparse",
    "_special",
)
# PyTorch's wheel brings this package, too.
_FUNCTORCH = ("functorch", "_functorch.face")


class _InExtension(types.ModuleType):
    """A module of operators that the extension has, which is no package: what
    pickles of PyTorch's functions import.
    """

    def __getattr__(self, name: str):
        if name.startswith("__"):  # the import system asks for some
            raise AttributeError(name)
        place = getattr(_C, self.__name__.rpartition(".")[2])
        return getattr(place, name)


def is_installed(alias: str = "torch") -> bool:
    """Tells whether `import torch` gives hotaru in this process."""
    return any(isinstance(f, AliasFinder) and f.alias == alias for f in sys.meta_path)


def install(alias: str = "torch") -> None:
    """Makes `import torch` give hotaru from now on, in this process.

    Modules, classes and functions of the package say `torch.…` of where they
    come from, those that are loaded already, too.

    RuntimeError if another package of that name is imported already.
    """
    if is_installed(alias):
        return
    present = sys.modules.get(alias)
    if present is not None and present is not hotaru:
        raise RuntimeError(
            f"cannot make 'import {alias}' give hotaru: {alias} is imported "
            f"already, from {getattr(present, '__file__', 'an unknown place')}"
        )
    sys.meta_path.insert(0, AliasFinder(alias, _PACKAGE))
    name, module = _FUNCTORCH
    if not any(isinstance(f, ModuleFinder) for f in sys.meta_path):
        sys.meta_path.insert(1, ModuleFinder(name, f"{_PACKAGE}.{module}"))
    for name in _IN_EXTENSION:
        full = f"{alias}._C.{name}"
        sys.modules[full] = _InExtension(full)
    add_root(alias)
    rename_loaded(alias, _PACKAGE)
    # Functions say by which name they are reached.
    _overrides.use_root(alias)
