"""Which kinds of attention may be used; see `_extension.attention_kinds`."""

from __future__ import annotations

from ..._extension.attention_kinds import (
    SDPBackend,
    _cur_sdpa_kernel_backends,
    sdpa_kernel,
)

__all__ = ["SDPBackend", "sdpa_kernel"]


def __getattr__(name: str):
    if name in ("bias", "flex_attention"):
        from importlib import import_module

        return import_module(f"{__package__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
