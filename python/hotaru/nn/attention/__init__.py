"""Which kinds of attention may be used; see `_extension.attention_kinds`."""

from __future__ import annotations

from ..._extension.attention_kinds import (
    SDPBackend,
    _cur_sdpa_kernel_backends,
    sdpa_kernel,
)

__all__ = ["SDPBackend", "sdpa_kernel"]
