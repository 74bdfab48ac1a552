"""An older name of `torch.ao.quantization`."""

from __future__ import annotations

from .._own_names import share_parts as _share_parts
from ..ao import quantization as _home
from ..ao.quantization import *
from ..ao.quantization import __all__ as __all__

_share_parts(
    __package__,
    _home,
    (
        "fake_quantize",
        "fuse_modules",
        "fuser_method_mappings",
        "observer",
        "qconfig",
        "quant_type",
        "quantization_mappings",
        "quantize",
        "stubs",
        "utils",
    ),
)
