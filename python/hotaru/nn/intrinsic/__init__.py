"""An older name of `torch.ao.nn.intrinsic`."""

from __future__ import annotations

from ..._own_names import share_parts as _share_parts
from ...ao.nn import intrinsic as _home
from ...ao.nn.intrinsic import *
from ...ao.nn.intrinsic import __all__ as __all__

_share_parts(__package__, _home, ("modules", "qat", "quantized"))
