"""An older name of `torch.ao.nn.quantized`."""

from __future__ import annotations

from ..._own_names import share_parts as _share_parts
from ...ao.nn import quantized as _home
from ...ao.nn.quantized import *
from ...ao.nn.quantized import __all__ as __all__

_share_parts(__package__, _home, ("dynamic", "functional", "modules"))
