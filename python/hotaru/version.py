"""Versions."""

from __future__ import annotations

__version__ = "0.1.0"
hip = None
debug = False


def __getattr__(name: str):
    """`cuda`: the CUDA version that the driver supports, "13.0" for instance;
    ``None`` without a driver. Asking loads the driver.
    """
    if name == "cuda":
        return _cuda()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _cuda() -> str | None:
    from . import _C

    try:
        version = _C._cuda_driver_version()
    except AssertionError:  # built without CUDA
        return None
    return f"{version // 1000}.{version % 1000 // 10}" if version else None
