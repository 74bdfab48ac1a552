"""Modules that were loaded from packages, by their names.

They are not in `sys.modules`, where names of two packages would meet.
"""

from __future__ import annotations

import sys
from types import ModuleType
from weakref import WeakValueDictionary

modules: WeakValueDictionary[str, ModuleType] = WeakValueDictionary()


def module_of(name: str | None) -> ModuleType | None:
    """The loaded module of a name, a package's too, or None."""
    return sys.modules.get(name) or modules.get(name)
