"""Settings beside `use_deterministic_algorithms`."""

from __future__ import annotations

import sys
import types

from .. import _C


class _Module(types.ModuleType):
    """The setting is the process's: it is kept where operators look."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Tells whether new memory is filled in deterministic mode."""
        return _C._get_deterministic_fill_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, fills: bool) -> None:
        _C._set_deterministic_fill_uninitialized_memory(fills)


sys.modules[__name__].__class__ = _Module
