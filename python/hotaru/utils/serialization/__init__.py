"""Settings of `save` and `load`, for the process."""

from . import config

__all__ = ["config"]
