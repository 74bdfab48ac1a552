"""Convolutions whose weights imitate quantised ones."""

from __future__ import annotations

from ..... import nn
from .....nn.modules.conv import _ConvNd as _FloatConvNd
from ...intrinsic.modules.fused import _FusedModule
from ._floats import check_float, geometry, need, take_parameters, take_values


class _ConvNd(_FloatConvNd):
    """Parts that the convolutions of this file share."""

    _FLOAT_MODULE: type
    _FLOAT_CONV_MODULE: type
    _FLOAT_RELU_MODULE: type | None = None
    _FLOAT_BN_MODULE: type | None = None

    def __init__(self, *args, qconfig=None, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        need(qconfig)
        self.qconfig = qconfig
        options = {k: kwargs.get(k) for k in ("device", "dtype")}
        self.weight_fake_quant = qconfig.weight(factory_kwargs=options)

    def forward(self, input):
        weight = self.weight_fake_quant(self.weight)
        return self._conv_forward(input, weight, self.bias)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """A trainable form of a float module, whose parameters it takes."""
        check_float(cls, mod)
        qconfig = mod.qconfig
        if issubclass(type(mod), _FusedModule):
            mod = mod[0]
        made = cls(*geometry(mod), qconfig=qconfig)
        take_parameters(made, mod)
        return made

    def to_float(self):
        """The convolution without quantisation, with its rectifier if any."""
        cls = type(self)
        made = cls._FLOAT_CONV_MODULE(*geometry(self))
        take_values(made, self)
        if issubclass(cls, _FusedModule):
            parts = [made]
            if cls._FLOAT_RELU_MODULE is not None:
                parts.append(cls._FLOAT_RELU_MODULE())
            made = cls._FLOAT_MODULE(*parts)
        made.train(self.training)
        return made


class Conv1d(_ConvNd, nn.Conv1d):
    """A convolution with `weight_fake_quant`, made by the qconfig."""

    _FLOAT_MODULE = nn.Conv1d
    _FLOAT_CONV_MODULE = nn.Conv1d


class Conv2d(_ConvNd, nn.Conv2d):
    """A convolution with `weight_fake_quant`, made by the qconfig."""

    _FLOAT_MODULE = nn.Conv2d
    _FLOAT_CONV_MODULE = nn.Conv2d


class Conv3d(_ConvNd, nn.Conv3d):
    """A convolution with `weight_fake_quant`, made by the qconfig."""

    _FLOAT_MODULE = nn.Conv3d
    _FLOAT_CONV_MODULE = nn.Conv3d
