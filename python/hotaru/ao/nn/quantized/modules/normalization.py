"""Norms and dropout of quantised tensors."""

from __future__ import annotations

import hotaru

from ..... import nn
from ....._quantized.norms import normed
from .utils import output_qparams

__all__ = [
    "BatchNorm2d",
    "BatchNorm3d",
    "Dropout",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
]


class _Normed:
    """A norm in floats between dequantisation and quantisation; `scale` and
    `zero_point` are those of the output.
    """

    def _keep(self, scale, zero_point, weight, bias, options) -> None:
        self.weight = weight
        self.bias = bias
        self.register_buffer("scale", hotaru.tensor(scale, **options))
        self.register_buffer("zero_point", hotaru.tensor(zero_point))

    def forward(self, input):
        numbers = super().forward(input.dequantize())
        return hotaru.quantize_per_tensor(
            numbers, self.scale, self.zero_point, input.dtype
        )

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"


class LayerNorm(_Normed, nn.LayerNorm):
    """A norm over the last dimensions, with the scale of its output."""

    def __init__(
        self,
        normalized_shape,
        weight,
        bias,
        scale,
        zero_point,
        eps=1e-5,
        elementwise_affine=True,
        device=None,
        dtype=None,
    ) -> None:
        options = {"device": device, "dtype": dtype}
        super().__init__(
            normalized_shape, eps=eps, elementwise_affine=elementwise_affine, **options
        )
        self._keep(scale, zero_point, weight, bias, options)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        return cls(
            mod.normalized_shape,
            mod.weight,
            mod.bias,
            *output_qparams(mod),
            mod.eps,
            mod.elementwise_affine,
        )


class GroupNorm(_Normed, nn.GroupNorm):
    """A norm over groups of channels, with the scale of its output."""

    def __init__(
        self,
        num_groups,
        num_channels,
        weight,
        bias,
        scale,
        zero_point,
        eps=1e-5,
        affine=True,
        device=None,
        dtype=None,
    ) -> None:
        options = {"device": device, "dtype": dtype}
        super().__init__(num_groups, num_channels, eps, affine, **options)
        self._keep(scale, zero_point, weight, bias, options)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        return cls(
            mod.num_groups,
            mod.num_channels,
            mod.weight,
            mod.bias,
            *output_qparams(mod),
            mod.eps,
            mod.affine,
        )


class _InstanceNorm(_Normed):
    def __init__(
        self,
        num_features,
        weight,
        bias,
        scale,
        zero_point,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
    ) -> None:
        options = {"device": device, "dtype": dtype}
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, **options
        )
        self._keep(scale, zero_point, weight, bias, options)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        return cls(
            mod.num_features,
            mod.weight,
            mod.bias,
            *output_qparams(mod),
            mod.eps,
            affine=mod.affine,
        )


class InstanceNorm1d(_InstanceNorm, nn.InstanceNorm1d):
    """A norm over each sequence, with the scale of its output."""


class InstanceNorm2d(_InstanceNorm, nn.InstanceNorm2d):
    """A norm over each picture, with the scale of its output."""


class InstanceNorm3d(_InstanceNorm, nn.InstanceNorm3d):
    """A norm over each volume, with the scale of its output."""


class _BatchNorm:
    _rectified = False

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, device=None, dtype=None
    ) -> None:
        options = {"device": device, "dtype": dtype}
        super().__init__(num_features, eps, momentum, True, True, **options)
        self.register_buffer("scale", hotaru.tensor(1.0, **options))
        self.register_buffer("zero_point", hotaru.tensor(0, device=device))

    def forward(self, input):
        return normed(
            input,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            self.eps,
            float(self.scale),
            int(self.zero_point),
            self._rectified,
        )

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        scale, zero_point = output_qparams(mod)
        bn = mod[0] if isinstance(mod, nn.Sequential) else mod
        made = cls(bn.num_features, bn.eps)
        made.weight = bn.weight
        made.bias = bn.bias
        made.running_mean = bn.running_mean
        made.running_var = bn.running_var
        made.scale.fill_(scale)
        made.zero_point.fill_(zero_point)
        return made


class BatchNorm2d(_BatchNorm, nn.BatchNorm2d):
    """A norm by running statistics, with the scale of its output."""


class BatchNorm3d(_BatchNorm, nn.BatchNorm3d):
    """A norm by running statistics, with the scale of its output."""


class Dropout(nn.Dropout):
    """Nothing: quantised models do not train."""

    def forward(self, input):
        return input

    def _get_name(self) -> str:
        return "QuantizedDropout"

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module."""
        return cls(mod.p, mod.inplace)
