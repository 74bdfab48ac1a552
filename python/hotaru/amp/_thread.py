"""State of a thread's autocast: functions of the package itself."""

from __future__ import annotations

import warnings

from .. import _C

__all__ = [
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
]


# Devices that have autocast in PyTorch and that no tensor lies on here.
_ABSENT = {"hpu", "ipu", "maia", "mps", "mtia", "privateuseone", "xla", "xpu"}


def _check(function: str, name: str, position: int, value, kind) -> None:
    if not isinstance(value, kind):
        wanted = "torch.dtype" if kind is _C.dtype else kind.__name__
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be "
            f"{wanted}, not {type(value).__name__}"
        )


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """True if operators on the device are autocast in this thread."""
    _check("is_autocast_enabled", "device_type", 1, device_type, str)
    if device_type in _ABSENT:
        return False
    return _C._autocast_enabled(device_type)


def set_autocast_enabled(device_type, enabled=None) -> None:
    """Turns autocast on or off; without a device type for CUDA."""
    if enabled is None and isinstance(device_type, bool):
        device_type, enabled = "cuda", device_type
    _check("set_autocast_enabled", "device_type", 1, device_type, str)
    _check("set_autocast_enabled", "enabled", 2, enabled, bool)
    _C._set_autocast_enabled(device_type, enabled)


def get_autocast_dtype(device_type: str) -> _C.dtype:
    """The dtype that products are computed in where autocast is on."""
    _check("get_autocast_dtype", "device_type", 1, device_type, str)
    return _C._autocast_dtype(device_type)


def check_device_type(device_type) -> None:
    if not isinstance(device_type, str):
        raise ValueError(
            f"Expected `device_type` of type `str`, got: `{type(device_type)}`"
        )


def set_autocast_dtype(device_type: str, dtype: _C.dtype) -> None:
    """Chooses that dtype, for this thread."""
    _check("set_autocast_dtype", "device_type", 1, device_type, str)
    _check("set_autocast_dtype", "dtype", 2, dtype, _C.dtype)
    _C._set_autocast_dtype(device_type, dtype)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Sets whether casts of parameters are kept to the end of the scope."""
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    _C._set_autocast_cache_enabled(enabled)


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(
        f"torch.{name} is deprecated. Please use torch.{instead} instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def is_autocast_cpu_enabled() -> bool:
    """Deprecated: ``is_autocast_enabled("cpu")``."""
    _deprecated("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Deprecated: ``set_autocast_enabled("cpu", enabled)``."""
    _deprecated(
        "set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)"
    )
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> _C.dtype:
    """Deprecated: ``get_autocast_dtype("cpu")``."""
    _deprecated("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: _C.dtype) -> None:
    """Deprecated: ``set_autocast_dtype("cpu", dtype)``."""
    _deprecated("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> _C.dtype:
    """Deprecated: ``get_autocast_dtype("cuda")``."""
    _deprecated("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: _C.dtype) -> None:
    """Deprecated: ``set_autocast_dtype("cuda", dtype)``."""
    _deprecated("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)
