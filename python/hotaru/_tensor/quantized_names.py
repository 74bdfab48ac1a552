"""The methods by which quantised tensors are reached: of other tensors they
are errors that say so.
"""

from __future__ import annotations

from importlib import import_module

_NAMES = (
    "dequantize", "int_repr", "q_per_channel_axis", "q_per_channel_scales",
    "q_per_channel_zero_points", "q_scale", "q_zero_point",
)  # fmt: skip


def _lazy(name: str):
    def method(self):
        return getattr(import_module("hotaru._quantized.create"), name)(self)

    method.__name__ = name
    return method


def qscheme(self):
    """NotImplementedError: the tensor is not quantised."""
    answers = import_module("hotaru._quantized.answers")
    raise answers.not_quantized("qscheme", self)


globals().update({name: _lazy(name) for name in _NAMES})
