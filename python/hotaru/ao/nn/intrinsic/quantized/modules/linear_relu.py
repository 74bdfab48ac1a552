"""Linear maps of quantised tensors with an activation."""

from __future__ import annotations

import hotaru

from ......_quantized import products
from ......nn import functional as F
from ....quantized.modules.linear import Linear
from ...modules import fused as nni


class LinearReLU(Linear):
    """A linear map and a rectifier."""

    _FLOAT_MODULE = nni.LinearReLU

    def forward(self, x):
        return products.linear(
            x, *self._weight_bias(), self.scale, self.zero_point, True
        )

    def _get_name(self) -> str:
        return "QuantizedLinearReLU"


class _Activated(Linear):
    def _activation(self, numbers):
        raise NotImplementedError

    def forward(self, x):
        weight, bias = self._weight_bias()
        sums = F.linear(products.levels(x), products.levels(weight))
        numbers = sums * (products.steps(weight, 0) * x.q_scale())
        if bias is not None:
            numbers = numbers + bias
        return hotaru.quantize_per_tensor(
            self._activation(numbers), self.scale, self.zero_point, x.dtype
        )

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"


class LinearLeakyReLU(_Activated):
    """A linear map and a leaky rectifier."""

    _FLOAT_MODULE = nni.LinearLeakyReLU

    def __init__(
        self,
        in_features,
        out_features,
        negative_slope=0.01,
        bias=True,
        dtype=hotaru.qint8,
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)
        self.negative_slope = negative_slope

    def _activation(self, numbers):
        return F.leaky_relu(numbers, self.negative_slope)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of the two modules, which were observed."""
        made = super().from_float(mod, use_precomputed_fake_quant)
        made.negative_slope = mod[1].negative_slope
        return made


class LinearTanh(_Activated):
    """A linear map and a hyperbolic tangent."""

    _FLOAT_MODULE = nni.LinearTanh

    def _activation(self, numbers):
        return hotaru.tanh(numbers)
