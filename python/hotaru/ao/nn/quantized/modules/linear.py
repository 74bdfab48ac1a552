"""Linear maps of quantised tensors."""

from __future__ import annotations

import hotaru

from ....._quantized import products
from .....nn import Module
from .....nn.modules.linear import Linear as _Linear
from .....nn.modules.linear import NonDynamicallyQuantizableLinear
from .....nn.utils.fusion import fuse_linear_bn_weights, with_norm
from .....nn.utils.parametrize import type_before_parametrizations
from ..._qconfig import require_qconfig
from ...intrinsic.modules.fused import _FusedModule
from .utils import (
    KeepsQparams,
    WeightedQuantizedModule,
    _quantize_weight,
    output_qparams,
    weight_observer_of,
)

__all__ = ["Linear", "LinearPackedParams"]


class LinearPackedParams(Module):
    """A quantised (or float16) weight and a bias, as one part of a state."""

    _version = 3

    def __init__(self, dtype=hotaru.qint8) -> None:
        super().__init__()
        self.dtype = dtype
        if dtype is hotaru.qint8:
            weight = hotaru._empty_affine_quantized(
                [1, 1], scale=1.0, zero_point=0, dtype=hotaru.qint8
            )
        else:
            weight = hotaru.zeros([1, 1], dtype=hotaru.float)
        self.set_weight_bias(weight, None)

    def set_weight_bias(self, weight, bias) -> None:
        """Keeps a weight, as float16 if that is the dtype, and a bias."""
        if self.dtype is hotaru.float16:
            weight = products.saturated_half(weight)
        elif self.dtype is not hotaru.qint8:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")
        bias = None if bias is None else bias.detach()
        self._packed_params = (weight, bias)

    def _weight_bias(self):
        return self._packed_params

    def forward(self, x):
        return x

    def _save_to_state_dict(self, destination, prefix, keep_vars) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        weight, bias = self._weight_bias()
        if self.dtype is hotaru.float16:
            weight = weight.to(hotaru.float32)
        destination[prefix + "_packed_params"] = (weight, bias)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, *rest
    ) -> None:
        version = local_metadata.get("version", None)
        if version is not None and version < 3:
            raise RuntimeError(
                f"{prefix}_packed_params: a state of version {version}, "
                "written before PyTorch 1.4, has another form; save it again "
                "with a newer PyTorch"
            )
        self.dtype = state_dict.pop(prefix + "dtype")
        self.set_weight_bias(*state_dict.pop(prefix + "_packed_params"))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)

    def __repr__(self) -> str:
        return repr(self._weight_bias())


class Linear(KeepsQparams, WeightedQuantizedModule):
    """y = x Aᵀ + b of a quantised tensor, with the scale of y.

    Args:
        dtype: of the weight.
    """

    _version = 3
    _FLOAT_MODULE: tuple = (_Linear, NonDynamicallyQuantizableLinear)

    def __init__(
        self, in_features, out_features, bias_=True, dtype=hotaru.qint8
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        if dtype is hotaru.qint8:
            weight = hotaru._make_per_tensor_quantized_tensor(
                hotaru.zeros(out_features, in_features, dtype=hotaru.int8), 1, 0
            )
        elif dtype is hotaru.float16:
            weight = hotaru.zeros(out_features, in_features)
        else:
            raise RuntimeError("Unsupported dtype specified for quantized Linear!")
        self._packed_params = LinearPackedParams(dtype)
        bias = hotaru.zeros(out_features) if bias_ else None
        self._packed_params.set_weight_bias(weight, bias)
        self.scale = 1.0
        self.zero_point = 0

    def _get_name(self) -> str:
        return "QuantizedLinear"

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, "
            f"out_features={self.out_features}, scale={self.scale}, "
            f"zero_point={self.zero_point}, qscheme={self.weight().qscheme()}"
        )

    def __repr__(self) -> str:
        # Without the numbers of the weight.
        return f"{self._get_name()}({self.extra_repr()})"

    def forward(self, x):
        return products.linear(x, *self._weight_bias(), self.scale, self.zero_point)

    def _weight_bias(self):
        return self._packed_params._weight_bias()

    def weight(self):
        """The quantised weight."""
        return self._weight_bias()[0]

    def bias(self):
        """The bias, in floats; None without one."""
        return self._weight_bias()[1]

    def set_weight_bias(self, w, b) -> None:
        """Takes another weight and bias."""
        self._packed_params.set_weight_bias(w, b)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed, or that trained."""
        kind = type_before_parametrizations(mod)
        if hasattr(mod, "weight_fake_quant"):
            observed = mod
            if hasattr(mod, "bn"):
                mod.weight, mod.bias = with_norm(mod, mod.bn, fuse_linear_bn_weights)
        else:
            kinds = cls._FLOAT_MODULE
            kinds = kinds if isinstance(kinds, tuple) else (kinds,)
            if kind not in kinds:
                names = ", ".join(k.__name__ for k in kinds)
                raise AssertionError(
                    f"nnq.{cls.__name__}.from_float only works for {names}, "
                    f"but got: {type(mod)}"
                )
            require_qconfig(mod)
            observed = mod
            if isinstance(mod, _FusedModule):
                mod = mod[0]
        scale, zero_point = output_qparams(observed)
        if not hasattr(mod, "qconfig"):
            mod.qconfig = observed.qconfig
        observer = weight_observer_of(mod, use_precomputed_fake_quant)
        if observer.dtype is not hotaru.qint8:
            raise AssertionError("Weight observer must have dtype torch.qint8")
        made = cls(mod.in_features, mod.out_features, dtype=observer.dtype)
        made.set_weight_bias(_quantize_weight(mod.weight.float(), observer), mod.bias)
        made.scale, made.zero_point = scale, zero_point
        return made
