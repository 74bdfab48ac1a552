"""Versions: of PyTorch's interface that this is, and of what is behind it."""

from __future__ import annotations

from ._own_names import no_attribute

__all__ = [  # `cuda` is found when it is asked for
    "__version__",
    "cuda",  # noqa: F822
    "debug",
    "git_version",
    "hip",
    "rocm",
    "xpu",
]

# The release of hotaru; pyproject.toml and CMakeLists.txt have it, too.
hotaru = "0.1.0"
# PyTorch's release whose names and behaviour these are comes first, so that
# programs that compare versions find what they know.
__version__ = f"2.13.0+hotaru.{hotaru}"
debug = False
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
# Which commit this was built from: not written down.
git_version = "Unknown"


def __getattr__(name: str):
    """`cuda`: the CUDA version that the driver supports, "13.0" for instance;
    ``None`` without a driver. Asking loads the driver.
    """
    if name == "cuda":
        return _cuda()
    raise no_attribute(__name__, name)


def _cuda() -> str | None:
    from . import _C

    try:
        version = _C._cuda_driver_version()
    except AssertionError:  # built without CUDA
        return None
    return f"{version // 1000}.{version % 1000 // 10}" if version else None
