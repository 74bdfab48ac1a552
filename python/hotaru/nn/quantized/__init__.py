"""An older name of `torch.ao.nn.quantized`."""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module

from ...ao.nn.quantized import *
from ...ao.nn.quantized import __all__ as __all__

for _name in ("dynamic", "functional", "modules"):
    _module = _import_module(f"...ao.nn.quantized.{_name}", __name__)
    _sys.modules[f"{__name__}.{_name}"] = _module
    globals()[_name] = _module
