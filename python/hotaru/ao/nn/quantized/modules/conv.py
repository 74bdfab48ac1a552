"""Convolutions of quantised tensors."""

from __future__ import annotations

import hotaru

from ..... import nn
from ....._quantized import products
from .....nn.modules import conv as _floats
from .....nn.modules._arguments import ntuple
from .....nn.utils.fusion import fuse_conv_bn_weights, with_norm
from .....nn.utils.parametrize import type_before_parametrizations
from ...intrinsic.modules import fused as nni
from ...qat.modules._floats import geometry
from .utils import (
    WeightedQuantizedModule,
    _quantize_weight,
    load_qparams,
    output_qparams,
    save_qparams,
    weight_observer_of,
)

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

F = nn.functional


class _ConvNd(WeightedQuantizedModule):
    """Base of all of them: the state, and how they are made.

    The weight is (out, in / groups, *kernel), transposed (in, out / groups,
    *kernel).
    """

    _axes = 0
    _transposed = False
    _rectified = False
    _FLOAT_MODULE: type

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        if padding_mode not in ("zeros", "reflect"):
            raise ValueError(
                f"'padding_mode' {padding_mode} is not supported by quantized "
                "convolution"
            )
        self._set(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            0,
            dilation,
            groups,
            bias,
            padding_mode,
            device,
        )

    def _set(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        bias,
        padding_mode,
        device,
    ) -> None:
        if in_channels % groups or out_channels % groups:
            which = "in" if in_channels % groups else "out"
            raise ValueError(f"{which}_channels must be divisible by groups")
        sizes = {
            "kernel_size": kernel_size,
            "stride": stride,
            "padding": padding,
            "dilation": dilation,
            "output_padding": output_padding,
        }
        for name, value in sizes.items():
            if not isinstance(value, str):
                value = ntuple(value, self._axes)
            setattr(self, name, value)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.transposed = self._transposed
        self.groups = groups
        self.padding_mode = padding_mode
        channels = (out_channels, in_channels // groups)
        if self._transposed:
            channels = (in_channels, out_channels // groups)
        weight = hotaru._empty_affine_quantized(
            [*channels, *self.kernel_size],
            scale=1.0,
            zero_point=0,
            dtype=hotaru.qint8,
            device=device,
        )
        self.set_weight_bias(
            weight, hotaru.zeros(out_channels, device=device) if bias else None
        )
        self.scale = 1.0
        self.zero_point = 0

    def _get_name(self) -> str:
        return f"Quantized{type(self)._text_name()}"

    @classmethod
    def _text_name(cls) -> str:
        return cls.__name__

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"scale={self.scale}, zero_point={self.zero_point}"
        )
        none = (0,) * self._axes
        for name, usual in (
            ("padding", none),
            ("dilation", (1,) * self._axes),
            ("output_padding", none),
            ("groups", 1),
        ):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text if self.bias() is not None else text + ", bias=False"

    # -- parameters --------------------------------------------------------

    def set_weight_bias(self, w, b) -> None:
        """Takes another quantised weight and a bias in floats."""
        self._parts = (w, None if b is None else b.detach())

    def _weight_bias(self):
        return self._parts

    def weight(self):
        """The quantised weight."""
        return self._parts[0]

    def bias(self):
        """The bias, in floats; None without one."""
        return self._parts[1]

    def _save_to_state_dict(self, destination, prefix, keep_vars) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "weight"], destination[prefix + "bias"] = self._parts
        save_qparams(self, destination, prefix)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, *rest
    ) -> None:
        self.set_weight_bias(
            *(state_dict.pop(prefix + name) for name in ("weight", "bias"))
        )
        load_qparams(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)

    # -- computing ---------------------------------------------------------

    def forward(self, input):
        if input.dim() != self._axes + 2:
            sizes = "N, C, " + ", ".join("DHW"[-self._axes :])
            sizes = "N, C, L" if self._axes == 1 else sizes
            raise ValueError(f"Input shape must be `({sizes})`!")
        return products.convolution(
            input, *self._parts, self._run, self.scale, self.zero_point, self._rectified
        )

    def _run(self, x, weight):
        """The convolution in floats, without a bias."""
        n = self._axes
        if self._transposed:
            run = getattr(F, f"conv_transpose{n}d")
            return run(
                x,
                weight,
                None,
                self.stride,
                self.padding,
                self.output_padding,
                self.groups,
                self.dilation,
            )
        padding = self.padding
        if self.padding_mode != "zeros":
            pads = [p for p in reversed(padding) for _ in range(2)]
            x, padding = F.pad(x, pads, mode=self.padding_mode), 0
        run = getattr(F, f"conv{n}d")
        return run(x, weight, None, self.stride, padding, self.dilation, self.groups)

    # -- making ------------------------------------------------------------

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed, or that trained."""
        observed = mod
        if hasattr(mod, "weight_fake_quant"):
            if hasattr(mod, "bn"):
                mod.weight, mod.bias = with_norm(mod, mod.bn, fuse_conv_bn_weights)
        else:
            kind = type_before_parametrizations(mod)
            if kind is not cls._FLOAT_MODULE:
                raise AssertionError(
                    f" nnq.{cls.__name__}.from_float only works for "
                    f"{cls._FLOAT_MODULE.__name__} but got:{type(mod)}"
                )
            if not hasattr(mod, "qconfig"):
                raise AssertionError("Input float module must have qconfig defined.")
            if isinstance(mod, nni._FusedModule):
                mod = mod[0]
        scale, zero_point = output_qparams(observed)
        if not hasattr(mod, "qconfig"):
            mod.qconfig = observed.qconfig
        observer = weight_observer_of(mod, use_precomputed_fake_quant)
        if observer.dtype is not hotaru.qint8:
            raise AssertionError("Weight observer must have a dtype of qint8")
        made = cls._like(mod)
        made.set_weight_bias(_quantize_weight(mod.weight.float(), observer), mod.bias)
        made.scale, made.zero_point = scale, zero_point
        return made

    @classmethod
    def _like(cls, mod):
        return cls(*geometry(mod))


class Conv1d(_ConvNd):
    """A convolution along one axis, with the scale of its output."""

    _axes = 1
    _FLOAT_MODULE = _floats.Conv1d


class Conv2d(_ConvNd):
    """A convolution of pictures, with the scale of its output."""

    _axes = 2
    _FLOAT_MODULE = _floats.Conv2d


class Conv3d(_ConvNd):
    """A convolution along three axes, with the scale of its output."""

    _axes = 3
    _FLOAT_MODULE = _floats.Conv3d


class _ConvTransposeNd(_ConvNd):
    """Transposed convolutions; their weights have one scale."""

    _transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ) -> None:
        WeightedQuantizedModule.__init__(self)
        if padding_mode != "zeros":
            raise ValueError(
                f"Only 'zeros' padding mode is supported for {type(self).__name__}"
            )
        self._set(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device,
        )

    @classmethod
    def _like(cls, mod):
        return cls(
            mod.in_channels,
            mod.out_channels,
            mod.kernel_size,
            mod.stride,
            mod.padding,
            mod.output_padding,
            mod.groups,
            mod.bias is not None,
            mod.dilation,
            mod.padding_mode,
        )


class ConvTranspose1d(_ConvTransposeNd):
    """A transposed convolution along one axis."""

    _axes = 1
    _FLOAT_MODULE = _floats.ConvTranspose1d


class ConvTranspose2d(_ConvTransposeNd):
    """A transposed convolution of pictures."""

    _axes = 2
    _FLOAT_MODULE = _floats.ConvTranspose2d


class ConvTranspose3d(_ConvTransposeNd):
    """A transposed convolution along three axes."""

    _axes = 3
    _FLOAT_MODULE = _floats.ConvTranspose3d
