"""An older name of `torch.ao.quantization`."""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module

from ..ao.quantization import *
from ..ao.quantization import __all__ as __all__

for _name in (
    "fake_quantize", "fuse_modules", "fuser_method_mappings", "observer",
    "qconfig", "quant_type", "quantization_mappings", "quantize", "stubs",
    "utils",
):  # fmt: skip
    _module = _import_module(f"..ao.quantization.{_name}", __name__)
    _sys.modules[f"{__name__}.{_name}"] = _module
    globals().setdefault(_name, _module)
