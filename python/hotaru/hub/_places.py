"""Where downloads are kept."""

from __future__ import annotations

import logging
import os
import warnings

log = logging.getLogger("hotaru.hub")

_folder: str | None = None


def get_dir() -> str:
    """The folder of downloads.

    That of `set_dir`, else `hub` in $TORCH_HOME, by default
    $XDG_CACHE_HOME/torch, by default ~/.cache/torch.
    """
    if os.getenv("TORCH_HUB"):
        warnings.warn(
            "TORCH_HUB is deprecated, please use env TORCH_HOME instead", stacklevel=2
        )
    if _folder is not None:
        return _folder
    return os.path.join(_get_torch_home(), "hub")


def _get_torch_home() -> str:
    """$TORCH_HOME, by default $XDG_CACHE_HOME/torch (torchvision asks)."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike) -> None:
    """Keeps downloads in this folder from now on."""
    global _folder
    _folder = os.path.expanduser(d)
