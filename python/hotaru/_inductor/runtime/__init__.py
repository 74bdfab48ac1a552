"""Parts of PyTorch's compiler of kernels that programs ask for its folders."""

from __future__ import annotations

from . import cache_dir_utils

__all__ = ["cache_dir_utils"]
