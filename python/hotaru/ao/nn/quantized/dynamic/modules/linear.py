"""Linear maps of floats that compute in integers."""

from __future__ import annotations

import hotaru

from ......_quantized import products
from ......nn.modules.linear import NonDynamicallyQuantizableLinear
from ......nn.utils.parametrize import type_before_parametrizations
from ..... import nn as _ao_nn
from ...._qconfig import require_qconfig
from ....intrinsic.modules import fused as nni
from ...modules.linear import Linear as _Linear
from ...modules.utils import _quantize_weight
from . import _scripted

__all__ = ["Linear"]


class Linear(_Linear):
    """y = x Aᵀ + b of floats: x is quantised in each call, A is.

    Args:
        dtype: of the weight, qint8 or float16.
    """

    _version = 4
    _rectified = False

    def __init__(
        self, in_features, out_features, bias_=True, dtype=hotaru.qint8
    ) -> None:
        super().__init__(in_features, out_features, bias_, dtype=dtype)
        self.version = self._version

    def forward(self, x):
        return products.linear_dynamic(x, *self._weight_bias())

    def __prepare_scriptable__(self):
        weight, bias = self._weight_bias()
        whole = weight.dtype is hotaru.qint8
        kind = _scripted.Linear if whole else _scripted.HalfLinear
        return kind(weight, bias, self._rectified)

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def extra_repr(self) -> str:
        text = (
            f"in_features={self.in_features}, "
            f"out_features={self.out_features}, "
            f"dtype={self._packed_params.dtype}"
        )
        if self._packed_params.dtype is hotaru.qint8:
            text += f", qscheme={self.weight().qscheme()}"
        return text

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module with a qconfig, or that trained.

        RuntimeError for weights of other dtypes than qint8 and float16.
        """
        kinds = (
            _FLOATS[0],
            NonDynamicallyQuantizableLinear,
            nni.LinearReLU,
            _ao_nn.qat.dynamic.Linear,
        )
        if type_before_parametrizations(mod) not in kinds:
            raise AssertionError(
                "nn.quantized.dynamic.Linear.from_float only works for one of"
                + str([k.__name__ for k in kinds])
            )
        require_qconfig(mod)
        qconfig = mod.qconfig
        if isinstance(mod, nni._FusedModule):
            mod = mod[0]
        if qconfig is not None and qconfig.weight is not None:
            observer = qconfig.weight()
        else:
            from .....quantization.qconfig import default_dynamic_qconfig

            observer = default_dynamic_qconfig.weight()
        if observer.dtype not in (hotaru.qint8, hotaru.float16):
            raise AssertionError(
                "The only supported dtypes for dynamic quantized linear are "
                f"qint8 and float16 got: {observer.dtype}"
            )
        observer(mod.weight)
        weight = mod.weight.float()
        if observer.dtype is hotaru.qint8:
            weight = _quantize_weight(weight, observer)
        made = cls(mod.in_features, mod.out_features, dtype=observer.dtype)
        made.set_weight_bias(weight, mod.bias)
        return made


_FLOATS = _Linear._FLOAT_MODULE
