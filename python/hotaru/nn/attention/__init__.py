"""Which kinds of attention may be used; see `_extension.attention_kinds`."""

from __future__ import annotations

from ..._extension.attention_kinds import (
    SDPBackend,
    _cur_sdpa_kernel_backends,
    sdpa_kernel,
)
from ..._own_names import part

__all__ = ["SDPBackend", "sdpa_kernel"]


def __getattr__(name: str):
    return part(__name__, name, ("bias", "flex_attention", "varlen"))
