"""Observers of activations and weights, and those that are used by default."""

from __future__ import annotations

import re
import warnings
from collections import OrderedDict

import hotaru

from ._fake_quantize_base import FakeQuantizeBase
from ._histogram import HistogramObserver
from ._observing import (
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    ObserverBase,
    PerChannelMinMaxObserver,
    UniformQuantizationObserverBase,
)
from ._observing import _PartialWrapper as _PartialWrapper
from ._observing import _with_args as _with_args

__all__ = [
    "FixedQParamsObserver",
    "HistogramObserver",
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "NoopObserver",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "PlaceholderObserver",
    "RecordingObserver",
    "ReuseInputObserver",
    "UniformQuantizationObserverBase",
    "default_affine_fixed_qparams_observer",
    "default_debug_observer",
    "default_dynamic_quant_observer",
    "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_observer",
    "default_float_qparams_observer",
    "default_float_qparams_observer_4bit",
    "default_histogram_observer",
    "default_observer",
    "default_per_channel_weight_observer",
    "default_placeholder_observer",
    "default_reuse_input_observer",
    "default_symmetric_fixed_qparams_observer",
    "default_weight_observer",
    "get_observer_state_dict",
    "load_observer_state_dict",
    "per_channel_weight_observer_range_neg_127_to_127",
    "weight_observer_range_neg_127_to_127",
]


class FixedQParamsObserver(ObserverBase):
    """Looks at nothing: scale and zero point are known, as a sigmoid's are."""

    def __init__(
        self,
        scale,
        zero_point,
        dtype=hotaru.quint8,
        qscheme=hotaru.per_tensor_affine,
        quant_min=0,
        quant_max=255,
        is_dynamic=False,
        **kwargs,
    ) -> None:
        if is_dynamic:
            raise NotImplementedError(
                "FixedQParamsObserver doesn't support dynamic quantization"
            )
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.quant_min = quant_min
        self.quant_max = quant_max
        self.register_buffer("scale", hotaru.tensor([scale], dtype=hotaru.float))
        self.register_buffer(
            "zero_point", hotaru.tensor([zero_point], dtype=hotaru.int)
        )
        self.dtype = dtype
        self.qscheme = qscheme

    def forward(self, X):
        return X

    def calculate_qparams(self):
        return self.scale, self.zero_point


class PlaceholderObserver(ObserverBase):
    """Looks at nothing: it says which dtype its input is to have."""

    _finds_qparams = False

    def __init__(
        self,
        dtype=hotaru.float32,
        custom_op_name="",
        compute_dtype=None,
        quant_min=None,
        quant_max=None,
        qscheme=None,
        eps=None,
        is_dynamic=False,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        if qscheme is None:
            qscheme = hotaru.per_tensor_affine
        if eps is None:
            eps = hotaru.finfo(hotaru.float32).eps
        self.dtype = dtype
        self.qscheme = qscheme
        self.quant_min = quant_min
        self.quant_max = quant_max
        self.eps = eps
        self.custom_op = custom_op_name
        if compute_dtype:
            is_dynamic = True
            warnings.warn(
                "Please use `is_dynamic` instead of `compute_dtype`.           "
                "          `compute_dtype` will be deprecated in a future "
                "release                     of PyTorch.",
                stacklevel=2,
            )
            self.is_dynamic = True

    def forward(self, x):
        return x

    def extra_repr(self) -> str:
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def calculate_qparams(self):
        raise Exception(
            "calculate_qparams should not be called for PlaceholderObserver"
        )


class RecordingObserver(ObserverBase):
    """Keeps a copy of each input, for debugging."""

    def __init__(self, dtype=hotaru.quint8) -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val: list = []

    def forward(self, x):
        self.tensor_val.append(x.clone())
        return x

    def calculate_qparams(self):
        raise Exception("calculate_qparams should not be called for RecordingObserver")

    def get_tensor_value(self) -> list:
        """The inputs so far."""
        return self.tensor_val


class NoopObserver(ObserverBase):
    """Looks at nothing and quantises nothing; for float16."""

    def __init__(self, dtype=hotaru.float16, custom_op_name="") -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.dtype = dtype
        self.custom_op = custom_op_name

    def forward(self, x):
        return x

    def calculate_qparams(self):
        raise Exception("calculate_qparams should not be called for NoopObserver")


class ReuseInputObserver(ObserverBase):
    """Looks at nothing: the output has the scale of the input."""

    def __init__(self) -> None:
        super().__init__(hotaru.quint8, is_dynamic=False)

    def forward(self, x):
        return x

    def calculate_qparams(self):
        raise Exception("calculate_qparams should not be called for ReuseInputObserver")


def _is_observer_script_module(mod, obs_type_name: str) -> bool:
    """True if it is a compiled observer of that class."""
    if not isinstance(mod, hotaru.jit.RecursiveScriptModule):
        return False
    name = re.sub(r"\.___torch_mangle_\d+", "", getattr(mod, "original_name", ""))
    return obs_type_name.rpartition(".")[2] in name


def _is_activation_post_process(module) -> bool:
    """True if it observes or imitates quantisation."""
    return isinstance(
        module, (ObserverBase, FakeQuantizeBase)
    ) or _is_observer_script_module(module, "quantization.observer")


def _is_per_channel_script_obs_instance(module) -> bool:
    return _is_observer_script_module(
        module, "quantization.observer.PerChannelMinMaxObserver"
    ) or _is_observer_script_module(
        module, "quantization.observer.MovingAveragePerChannelMinMaxObserver"
    )


def get_observer_state_dict(mod) -> OrderedDict:
    """Part of a model's state that its observers keep."""
    found = OrderedDict()
    for name, value in mod.state_dict().items():
        if "observer" in name or "activation_post_process" in name:
            found[name] = value
    return found


def load_observer_state_dict(mod, obs_dict) -> None:
    """Gives the observers of a model their state again.

    RuntimeError for state of observers that the model does not have, or that
    is missing.
    """
    missing: list = []
    unexpected: list = []
    errors: list = []
    for name, module in mod.named_modules():
        if _is_activation_post_process(module):
            module._load_from_state_dict(
                dict(obs_dict),
                name + "." if name else "",
                {},
                False,
                missing,
                unexpected,
                errors,
            )
    missing = [
        name
        for name in missing
        if "observer" in name or "activation_post_process" in name
    ]
    for names, kind in ((missing, "Missing"), (unexpected, "Unexpected")):
        if names:
            raise RuntimeError(f"{kind} keys for observer {names} in state_dict")


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer = MinMaxObserver.with_args(
    dtype=hotaru.qint8, qscheme=hotaru.per_tensor_symmetric
)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(
    dtype=hotaru.qint8,
    qscheme=hotaru.per_tensor_symmetric,
    quant_min=-127,
    quant_max=127,
    eps=2**-12,
)
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=hotaru.qint8, qscheme=hotaru.per_channel_symmetric
)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    dtype=hotaru.qint8,
    qscheme=hotaru.per_channel_symmetric,
    quant_min=-127,
    quant_max=127,
    eps=2**-12,
)
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=hotaru.quint8, quant_min=0, quant_max=255, is_dynamic=True
)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=hotaru.quint8, qscheme=hotaru.per_channel_affine_float_qparams, ch_axis=0
)
default_float_qparams_observer_4bit = PerChannelMinMaxObserver.with_args(
    dtype=hotaru.quint4x2, qscheme=hotaru.per_channel_affine_float_qparams, ch_axis=0
)
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=hotaru.quint8, quant_min=0, quant_max=255
)
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=hotaru.quint8, quant_min=0, quant_max=255
)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver
