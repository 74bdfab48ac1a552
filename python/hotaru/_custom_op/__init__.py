"""The oldest way to define operators; `library.custom_op` is the newest."""

from __future__ import annotations

from . import impl

__all__ = ["impl"]
