"""Switches of PyTorch's script interpreter and its fusers.

hotaru's has neither a profiling executor nor such fusers: a switch keeps what
it was set to, for whoever asks, and changes nothing of what programs compute.
"""

from __future__ import annotations

import warnings

_set = {
    "profiling_executor": True,
    "profiling_mode": True,
    "fuse_on_cpu": False,
    "fuse_on_gpu": False,
    "texpr_fuser": False,
    "autocast_mode": True,
    "optimizes": True,
    "tracer_warns": True,
}


def _put(name: str, value: bool) -> bool:
    """Sets a switch; returns what it was before."""
    if not isinstance(value, bool):
        raise TypeError(f"expected a bool, got {type(value).__name__}")
    before, _set[name] = _set[name], value
    return before


def _jit_set_profiling_executor(value: bool) -> bool:
    return _put("profiling_executor", value)


def _jit_set_autocast_mode(value: bool) -> bool:
    return _put("autocast_mode", value)


def _set_graph_executor_optimize(value: bool) -> None:
    _put("optimizes", value)


def _get_graph_executor_optimize(value: bool | None = None) -> bool:
    """Reads the switch; sets it, too, if it is given a value."""
    return _set["optimizes"] if value is None else _put("optimizes", value)


def _jit_set_tracer_state_warn(value: bool) -> None:
    _put("tracer_warns", value)


def _jit_get_tracer_state_warn() -> bool:
    return _set["tracer_warns"]


def _jit_set_profiling_mode(value: bool) -> bool:
    return _put("profiling_mode", value)


def _jit_override_can_fuse_on_cpu(value: bool) -> None:
    _put("fuse_on_cpu", value)


def _jit_override_can_fuse_on_gpu(value: bool) -> None:
    _put("fuse_on_gpu", value)


def _jit_set_texpr_fuser_enabled(value: bool) -> None:
    _put("texpr_fuser", value)


def _jit_can_fuse_on_cpu() -> bool:
    return _set["fuse_on_cpu"]


def _jit_can_fuse_on_gpu() -> bool:
    return _set["fuse_on_gpu"]


def _jit_texpr_fuser_enabled() -> bool:
    return _set["texpr_fuser"]


def _no_nvfuser(name: str) -> None:
    warnings.warn(
        "nvfuser is no longer supported in torch script, use "
        f"_jit_{name} is deprecated and a no-op",
        stacklevel=3,
    )


def _jit_set_nvfuser_enabled(value: bool) -> None:
    _no_nvfuser("set_nvfuser_enabled")


def _jit_set_nvfuser_guard_mode(value: bool) -> None:
    _no_nvfuser("set_nvfuser_guard_mode")


def _jit_nvfuser_enabled() -> bool:
    return False
