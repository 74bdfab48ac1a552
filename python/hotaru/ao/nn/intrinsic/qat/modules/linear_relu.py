"""A linear map and a rectifier that train."""

from __future__ import annotations

from ...... import nn
from ....qat.modules.linear import Linear
from ...modules.fused import LinearReLU as _LinearReLU
from ...modules.fused import _FusedModule


class LinearReLU(Linear, _FusedModule):
    """A rectified linear map with `weight_fake_quant`."""

    _FLOAT_MODULE = _LinearReLU

    def forward(self, input):
        return nn.functional.relu(Linear.forward(self, input))

    def to_float(self):
        """The two modules without quantisation."""
        made = _LinearReLU(Linear.to_float(self), nn.ReLU())
        made.train(self.training)
        return made
