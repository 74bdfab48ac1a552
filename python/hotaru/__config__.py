"""How this build is configured."""

from __future__ import annotations

from . import _C


def parallel_info() -> str:
    """Threads and what decides their number."""
    return _C._parallel_info()


def show() -> str:
    """The build in a few lines."""
    from . import __version__

    return f"hotaru {__version__}\n{parallel_info()}"
