"""An older name of `torch.ao.nn.intrinsic`."""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module

from ...ao.nn.intrinsic import *
from ...ao.nn.intrinsic import __all__ as __all__

for _name in ("modules", "qat", "quantized"):
    _module = _import_module(f"...ao.nn.intrinsic.{_name}", __name__)
    _sys.modules[f"{__name__}.{_name}"] = _module
    globals()[_name] = _module
