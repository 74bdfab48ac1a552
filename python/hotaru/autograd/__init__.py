"""Automatic differentiation from Python.

The engine is native. This package adds functions that are written in Python
(`Function`), the entry points `backward` and `grad`, what can be asked of the
graph (`graph`), anomaly mode, and `gradcheck`.
"""

from __future__ import annotations

from .. import _C, enable_grad, inference_mode, no_grad, set_grad_enabled
from .._own_names import part
from .._tensor.views import _force_original_view_tracking, is_view_replay_enabled
from . import forward_ad, function, functional, grad_mode, graph
from ._entry import _calculate_shape, _is_checkpoint_valid, backward, grad
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .grad_mode import is_multithreading_enabled, set_multithreading_enabled
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable

SavedTensor = _C._autograd.SavedTensor

__all__ = [
    "Function",
    "GradcheckError",
    "SavedTensor",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_PROFILER = (
    "_profiler_enabled",
    "_record_function_with_args_enter",
    "_record_function_with_args_exit",
    "kineto_available",
    "profiler",
)


def __getattr__(name: str):
    """`profiler` and what comes from it, when first asked for."""
    if name in _PROFILER:
        import importlib

        profiler = importlib.import_module(f"{__name__}.profiler")
        return profiler if name == "profiler" else getattr(profiler, name)
    return part(__name__, name, ("_functions", "profiler_util"))
