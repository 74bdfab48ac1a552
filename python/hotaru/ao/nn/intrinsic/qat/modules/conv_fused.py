"""Convolutions with a norm, a rectifier or both behind them, that train."""

from __future__ import annotations

import hotaru

from ...... import nn
from ......nn.modules.linear import uniform_by_fan_in
from ......nn.parameter import Parameter
from ......nn.utils.fusion import fuse_conv_bn_weights
from ....qat.modules import conv as _qat
from ....qat.modules._floats import check_float, geometry, need, take_parameters
from ...modules import fused as _fused
from ...modules.fused import _FusedModule
from ._norms import FoldedNorm, freeze_bn_stats, take_folded, take_norm, update_bn_stats

__all__ = [
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "freeze_bn_stats",
    "update_bn_stats",
]

F = nn.functional


class _ConvBnNd(FoldedNorm, _FusedModule):
    """Parts that convolutions with a norm share; the class of convolutions is
    the other base.
    """

    _FLOAT_MODULE: type
    _FLOAT_CONV_MODULE: type
    _FLOAT_BN_MODULE: type
    _FLOAT_RELU_MODULE: type | None = None
    _FUSED_FLOAT_MODULE: type | None = None

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=None,
        padding_mode="zeros",
        eps=1e-05,
        momentum=0.1,
        freeze_bn=False,
        qconfig=None,
    ) -> None:
        self._FLOAT_CONV_MODULE.__init__(
            self,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            False,
            padding_mode,
        )
        if bias:
            self.bias = Parameter(hotaru.empty(out_channels))
        need(qconfig)
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn
        self.bn = self._FLOAT_BN_MODULE(out_channels, eps, momentum, True, True)
        self.weight_fake_quant = qconfig.weight()
        self.reset_bn_parameters()
        if self.training and not freeze_bn:
            self.update_bn_stats()
        else:
            self.freeze_bn_stats()

    def reset_bn_parameters(self) -> None:
        """The norm's and the bias as at first."""
        super().reset_bn_parameters()
        if self.bias is not None:
            uniform_by_fan_in(self.bias, self.weight)

    def _forward(self, input):
        return self._normed(
            input, lambda x, weight: self._conv_forward(x, weight, None)
        )

    def forward(self, input):
        made = self._forward(input)
        return made if self._FLOAT_RELU_MODULE is None else F.relu(made)

    def extra_repr(self) -> str:
        return self._FLOAT_CONV_MODULE.extra_repr(self)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """A trainable form of the modules, whose parameters it takes."""
        check_float(cls, mod)
        conv, bn = mod[0], mod[1]
        made = cls(*geometry(conv), bn.eps, bn.momentum, False, mod.qconfig)
        take_parameters(made, conv)
        take_norm(made, bn)
        return made

    def to_float(self):
        """The convolution with the norm in its weights, and its rectifier."""
        cls = type(self)
        made = cls._FLOAT_CONV_MODULE(*geometry(self, True))
        take_folded(made, self, fuse_conv_bn_weights)
        if cls._FLOAT_RELU_MODULE is not None:
            made = cls._FUSED_FLOAT_MODULE(made, cls._FLOAT_RELU_MODULE())
        made.train(self.training)
        return made


class ConvBn1d(_ConvBnNd, nn.Conv1d):
    """A convolution whose quantised weight has the norm behind it in it."""

    _FLOAT_MODULE = _fused.ConvBn1d
    _FLOAT_CONV_MODULE = nn.Conv1d
    _FLOAT_BN_MODULE = nn.BatchNorm1d


class ConvBn2d(_ConvBnNd, nn.Conv2d):
    """A convolution whose quantised weight has the norm behind it in it."""

    _FLOAT_MODULE = _fused.ConvBn2d
    _FLOAT_CONV_MODULE = nn.Conv2d
    _FLOAT_BN_MODULE = nn.BatchNorm2d


class ConvBn3d(_ConvBnNd, nn.Conv3d):
    """A convolution whose quantised weight has the norm behind it in it."""

    _FLOAT_MODULE = _fused.ConvBn3d
    _FLOAT_CONV_MODULE = nn.Conv3d
    _FLOAT_BN_MODULE = nn.BatchNorm3d


class ConvBnReLU1d(ConvBn1d):
    """The same, rectified."""

    _FLOAT_MODULE = _fused.ConvBnReLU1d
    _FLOAT_RELU_MODULE = nn.ReLU
    _FUSED_FLOAT_MODULE = _fused.ConvReLU1d


class ConvBnReLU2d(ConvBn2d):
    """The same, rectified."""

    _FLOAT_MODULE = _fused.ConvBnReLU2d
    _FLOAT_RELU_MODULE = nn.ReLU
    _FUSED_FLOAT_MODULE = _fused.ConvReLU2d


class ConvBnReLU3d(ConvBn3d):
    """The same, rectified."""

    _FLOAT_MODULE = _fused.ConvBnReLU3d
    _FLOAT_RELU_MODULE = nn.ReLU
    _FUSED_FLOAT_MODULE = _fused.ConvReLU3d


class _Rectified:
    """A rectifier behind the convolution that is the next base."""

    _FLOAT_RELU_MODULE = nn.ReLU

    def forward(self, input):
        return F.relu(super().forward(input))


class ConvReLU1d(_Rectified, _qat.Conv1d, _FusedModule):
    """A rectified convolution with `weight_fake_quant`."""

    _FLOAT_MODULE = _fused.ConvReLU1d


class ConvReLU2d(_Rectified, _qat.Conv2d, _FusedModule):
    """A rectified convolution with `weight_fake_quant`."""

    _FLOAT_MODULE = _fused.ConvReLU2d


class ConvReLU3d(_Rectified, _qat.Conv3d, _FusedModule):
    """A rectified convolution with `weight_fake_quant`."""

    _FLOAT_MODULE = _fused.ConvReLU3d
