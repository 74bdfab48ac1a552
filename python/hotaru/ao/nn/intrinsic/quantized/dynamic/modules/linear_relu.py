"""A linear map and a rectifier with scales of each call."""

from __future__ import annotations

from .....quantized.dynamic.modules.linear import Linear
from ....modules import fused as nni


class LinearReLU(Linear):
    """A linear map in integers and a rectifier, of floats and in floats."""

    _FLOAT_MODULE = nni.LinearReLU
    _rectified = True

    def forward(self, x):
        return super().forward(x).relu()

    def _get_name(self) -> str:
        return "DynamicQuantizedLinearReLU"
