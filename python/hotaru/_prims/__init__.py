"""PyTorch's primitive operators as functions, and `utils`, what checks for them.

They are those of `torch.ops.prims`: they take operands of one shape and dtype.
"""

from __future__ import annotations

from .. import _prims_common as utils
from .._own_names import no_attribute
from .._prims_common.dtypes import RETURN_TYPE
from . import rng_prims
from .operators import DEFINED, expand_dims

__all__ = ["RETURN_TYPE", "expand_dims", "rng_prims", "utils", *DEFINED]


def __getattr__(name: str):
    if name in DEFINED:
        return DEFINED[name][1]
    raise no_attribute(__name__, name)
