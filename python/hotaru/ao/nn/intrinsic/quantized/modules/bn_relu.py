"""Rectified norms of quantised tensors."""

from __future__ import annotations

from ....quantized.modules.normalization import BatchNorm2d, BatchNorm3d
from ...modules import fused as nni


class BNReLU2d(BatchNorm2d):
    """A norm of pictures and a rectifier."""

    _FLOAT_MODULE = nni.BNReLU2d
    _rectified = True


class BNReLU3d(BatchNorm3d):
    """A norm of volumes and a rectifier."""

    _FLOAT_MODULE = nni.BNReLU3d
    _rectified = True
