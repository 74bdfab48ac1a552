"""Rectified convolutions of quantised tensors."""

from __future__ import annotations

from ....quantized.modules import conv as _conv
from ...modules import fused as nni


class ConvReLU1d(_conv.Conv1d):
    """A convolution along one axis and a rectifier."""

    _FLOAT_MODULE = nni.ConvReLU1d
    _rectified = True


class ConvReLU2d(_conv.Conv2d):
    """A convolution of pictures and a rectifier."""

    _FLOAT_MODULE = nni.ConvReLU2d
    _rectified = True


class ConvReLU3d(_conv.Conv3d):
    """A convolution along three axes and a rectifier."""

    _FLOAT_MODULE = nni.ConvReLU3d
    _rectified = True
