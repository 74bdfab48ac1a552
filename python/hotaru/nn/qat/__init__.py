"""An older name of `torch.ao.nn.qat`."""

from __future__ import annotations

from ..._own_names import share_parts as _share_parts
from ...ao.nn import qat as _home
from ...ao.nn.qat import *
from ...ao.nn.qat import __all__ as __all__

_share_parts(__package__, _home, ("dynamic", "modules"))
