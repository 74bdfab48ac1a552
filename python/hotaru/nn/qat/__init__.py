"""An older name of `torch.ao.nn.qat`."""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module

from ...ao.nn.qat import *
from ...ao.nn.qat import __all__ as __all__

for _name in ("dynamic", "modules"):
    _module = _import_module(f"...ao.nn.qat.{_name}", __name__)
    _sys.modules[f"{__name__}.{_name}"] = _module
    globals()[_name] = _module
