"""Deprecated names: use ``torch.amp.autocast("cuda")`` and its like."""

from __future__ import annotations

from ... import amp, float16
from ...amp._deprecated import deprecated, warn

__all__ = [
    "GradScaler",
    "amp_definitely_not_available",
    "autocast",
    "custom_bwd",
    "custom_fwd",
]


_HERE = "torch.amp.{}(args..., device_type='cuda')"


def amp_definitely_not_available() -> bool:
    """True if there is no CUDA device."""
    from .. import is_available

    return not is_available()


def custom_fwd(fwd=None, *, cast_inputs=None):
    """Deprecated: ``torch.amp.custom_fwd(…, device_type="cuda")``."""
    warn("cuda", "custom_fwd", _HERE.format("custom_fwd"))
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd):
    """Deprecated: ``torch.amp.custom_bwd(…, device_type="cuda")``."""
    warn("cuda", "custom_bwd", _HERE.format("custom_bwd"))
    return amp.custom_bwd(bwd, device_type="cuda")


autocast, GradScaler = deprecated("cuda", __name__, float16)
