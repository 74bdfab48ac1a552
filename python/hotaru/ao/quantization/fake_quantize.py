"""Modules that imitate quantisation while a model trains."""

from __future__ import annotations

import re

import hotaru

from ._fake_quantize_base import FakeQuantizeBase
from .observer import (
    HistogramObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
)
from .utils import is_per_channel, is_per_tensor

__all__ = [
    "FakeQuantize",
    "FakeQuantizeBase",
    "FixedQParamsFakeQuantize",
    "FusedMovingAvgObsFakeQuantize",
    "default_affine_fixed_qparams_fake_quant",
    "default_dynamic_fake_quant",
    "default_embedding_fake_quant",
    "default_embedding_fake_quant_4bit",
    "default_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant",
    "default_fixed_qparams_range_neg1to1_fake_quant",
    "default_fused_act_fake_quant",
    "default_fused_per_channel_wt_fake_quant",
    "default_fused_wt_fake_quant",
    "default_histogram_fake_quant",
    "default_per_channel_weight_fake_quant",
    "default_symmetric_fixed_qparams_fake_quant",
    "default_weight_fake_quant",
    "disable_fake_quant",
    "disable_observer",
    "enable_fake_quant",
    "enable_observer",
    "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
    "fused_wt_fake_quant_range_neg_127_to_127",
]


def _is_float_qparams(qscheme) -> bool:
    return qscheme is hotaru.per_channel_affine_float_qparams


def _is_symmetric_quant(qscheme) -> bool:
    return qscheme in (hotaru.per_tensor_symmetric, hotaru.per_channel_symmetric)


class FakeQuantize(FakeQuantizeBase):
    """Fake quantisation with the scale and zero point that an observer finds.

    Args:
        observer: a class of observers.
        quant_min, quant_max: the integers to use, by default the observer's.
        observer_kwargs: for the observer.
    """

    def __init__(
        self,
        observer=MovingAverageMinMaxObserver,
        quant_min=None,
        quant_max=None,
        is_dynamic=False,
        **observer_kwargs,
    ) -> None:
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError(
                    "quant_min must be less than or equal to quant_max"
                )
            dtype = observer_kwargs.get("dtype", hotaru.quint8)
            if hasattr(observer, "p"):
                keywords = getattr(observer.p, "keywords", {})
                dtype = keywords.get("dtype", dtype)
            low, high = _limits(dtype)
            if quant_min < low:
                raise AssertionError("quant_min out of bound")
            if quant_max > high:
                raise AssertionError("quant_max out of bound")
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        observer_kwargs["is_dynamic"] = is_dynamic
        self.activation_post_process = observer(**observer_kwargs)
        observed = self.activation_post_process
        self.quant_min = observed.quant_min
        self.quant_max = observed.quant_max
        self.is_dynamic = observed.is_dynamic
        floats = _is_float_qparams(observed.qscheme)
        self.register_buffer("scale", hotaru.tensor([1.0], dtype=hotaru.float))
        self.register_buffer(
            "zero_point",
            hotaru.tensor([0], dtype=hotaru.float if floats else hotaru.int),
        )
        self.dtype = observed.dtype
        self.qscheme = observed.qscheme
        self.ch_axis = getattr(observed, "ch_axis", -1)
        if not (is_per_channel(self.qscheme) or is_per_tensor(self.qscheme)):
            raise AssertionError(
                "Only per channel and per tensor quantization are supported in "
                f"fake quantize got qscheme: {self.qscheme}"
            )
        self.is_per_channel = is_per_channel(self.qscheme)

    def calculate_qparams(self):
        return self.activation_post_process.calculate_qparams()

    def forward(self, X):
        if self.observer_enabled[0] == 1:
            self.activation_post_process(X.detach())
            for place, value in zip(
                (self.scale, self.zero_point), self.calculate_qparams()
            ):
                if place.shape != value.shape:
                    place.resize_(value.shape)
                place.copy_(value)
        if self.fake_quant_enabled[0] != 1:
            return X
        ends = (self.quant_min, self.quant_max)
        if self.is_per_channel:
            return hotaru.fake_quantize_per_channel_affine(
                X, self.scale, self.zero_point, self.ch_axis, *ends
            )
        return hotaru.fake_quantize_per_tensor_affine(
            X, self.scale, self.zero_point, *ends
        )

    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled="
            f"{self.observer_enabled}, quant_min="
            f"{self.activation_post_process.quant_min}, quant_max="
            f"{self.activation_post_process.quant_max}, dtype={self.dtype}, "
            f"qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale="
            f"{self.scale}, zero_point={self.zero_point}"
        )

    def _load_from_state_dict(self, state_dict, prefix, *rest) -> None:
        for name in ("scale", "zero_point"):
            value = state_dict.get(prefix + name)
            if value is not None:
                getattr(self, name).resize_(value.shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _limits(dtype) -> tuple[int, int]:
    if hasattr(dtype, "storage"):
        dtype = dtype.storage
    info = hotaru.iinfo(dtype) if not dtype.is_floating_point else None
    info = info or hotaru.finfo(dtype)
    return info.min, info.max


class FixedQParamsFakeQuantize(FakeQuantize):
    """Fake quantisation with a scale that is known beforehand."""

    def __init__(self, observer) -> None:
        super().__init__(observer=observer)
        observed = self.activation_post_process
        if type(observed).__name__ != "FixedQParamsObserver":
            raise AssertionError(
                f"{type(self).__name__}'s observer must be a "
                f"FixedQParamsObserver, but got: {type(observed)}"
            )
        self._observer_ctr = observer
        self.scale = observed.scale
        self.zero_point = observed.zero_point
        if not is_per_tensor(self.qscheme):
            raise AssertionError(
                "Only per tensor quantization is supported "
                "FixedQParamsFakeQuantize module, got qscheme:" + str(self.qscheme)
            )

    def calculate_qparams(self):
        return self.scale, self.zero_point

    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled="
            f"{self.observer_enabled}, scale={self.scale}, zero_point="
            f"{self.zero_point}, dtype={self.dtype}, quant_min="
            f"{self.activation_post_process.quant_min}, quant_max="
            f"{self.activation_post_process.quant_max}, qscheme={self.qscheme}"
        )


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """A moving average of ranges and fake quantisation in one operator."""

    def __init__(
        self,
        observer=MovingAverageMinMaxObserver,
        quant_min: int = 0,
        quant_max: int = 255,
        **observer_kwargs,
    ) -> None:
        super().__init__(observer, quant_min, quant_max, **observer_kwargs)
        if not isinstance(
            self.activation_post_process,
            (MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver),
        ):
            raise AssertionError(
                "Fused observer+fake_quant module only works with "
                "MovingAverageMinMaxObserver"
            )
        for name in ("fake_quant_enabled", "observer_enabled"):
            self.register_buffer(name, hotaru.tensor([1], dtype=hotaru.long))
        self.is_symmetric_quant = _is_symmetric_quant(
            self.activation_post_process.qscheme
        )

    def calculate_qparams(self):
        return self.activation_post_process.calculate_qparams()

    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled="
            f"{self.observer_enabled}, scale={self.scale}, zero_point="
            f"{self.zero_point}, dtype={self.dtype}, quant_min="
            f"{self.activation_post_process.quant_min}, quant_max="
            f"{self.activation_post_process.quant_max}, qscheme={self.qscheme}"
            f", reduce_range={self.activation_post_process.reduce_range}"
        )

    def forward(self, X):
        observed = self.activation_post_process
        return hotaru.fused_moving_avg_obs_fake_quant(
            X,
            self.observer_enabled,
            self.fake_quant_enabled,
            observed.min_val,
            observed.max_val,
            self.scale,
            self.zero_point,
            observed.averaging_constant,
            observed.quant_min,
            observed.quant_max,
            self.ch_axis,
            self.is_per_channel,
            self.is_symmetric_quant,
        )


_ACTIVATION = {"quant_min": 0, "quant_max": 255}
_WEIGHT = {"quant_min": -128, "quant_max": 127, "dtype": hotaru.qint8}
_NARROW = {"quant_min": -127, "quant_max": 127, "dtype": hotaru.qint8}

default_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    **_ACTIVATION,
    dtype=hotaru.quint8,
    qscheme=hotaru.per_tensor_affine,
    reduce_range=True,
)
default_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    **_WEIGHT,
    qscheme=hotaru.per_tensor_symmetric,
    reduce_range=False,
)
default_dynamic_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    **_ACTIVATION,
    is_dynamic=True,
    dtype=hotaru.quint8,
    averaging_constant=1,
)
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_neg1to1_observer
)
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_0to1_observer
)
default_symmetric_fixed_qparams_fake_quant = (
    default_fixed_qparams_range_neg1to1_fake_quant
)
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    **_WEIGHT,
    qscheme=hotaru.per_channel_symmetric,
    reduce_range=False,
    ch_axis=0,
)
default_embedding_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    qscheme=hotaru.per_channel_affine_float_qparams,
    dtype=hotaru.quint8,
    **_ACTIVATION,
    ch_axis=0,
    averaging_constant=1,
)
default_embedding_fake_quant_4bit = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    qscheme=hotaru.per_channel_affine_float_qparams,
    ch_axis=0,
    dtype=hotaru.quint4x2,
    averaging_constant=1,
)
default_histogram_fake_quant = FakeQuantize.with_args(
    observer=HistogramObserver,
    **_ACTIVATION,
    dtype=hotaru.quint8,
    qscheme=hotaru.per_tensor_affine,
    reduce_range=True,
)
default_fused_act_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, **_ACTIVATION, dtype=hotaru.quint8
)
default_fused_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, **_WEIGHT, qscheme=hotaru.per_tensor_symmetric
)
default_fused_per_channel_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    **_WEIGHT,
    qscheme=hotaru.per_channel_symmetric,
)
fused_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    **_NARROW,
    qscheme=hotaru.per_tensor_symmetric,
    eps=2**-12,
)
fused_per_channel_wt_fake_quant_range_neg_127_to_127 = (
    FusedMovingAvgObsFakeQuantize.with_args(
        observer=MovingAveragePerChannelMinMaxObserver,
        **_NARROW,
        qscheme=hotaru.per_channel_symmetric,
        eps=2**-12,
    )
)


def _is_fake_quant_script_module(mod) -> bool:
    """True if it is a compiled module of this file."""
    if not isinstance(mod, hotaru.jit.RecursiveScriptModule):
        return False
    name = re.sub(r"___torch_mangle_\d+\.", "", mod.original_name)
    return name in ("FakeQuantize", "FusedMovingAvgObsFakeQuantize")


def _switch(name: str, text: str):
    def function(mod) -> None:
        if isinstance(mod, FakeQuantizeBase) or (_is_fake_quant_script_module(mod)):
            getattr(mod, name)()

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{text}, for `model.apply`."
    return function


disable_fake_quant = _switch(
    "disable_fake_quant", "Switches fake quantisation of a module off"
)
enable_fake_quant = _switch(
    "enable_fake_quant", "Switches fake quantisation of a module on"
)
disable_observer = _switch(
    "disable_observer", "Has a module keep its scale and zero point"
)
enable_observer = _switch(
    "enable_observer", "Has scale and zero point of a module follow its inputs"
)
