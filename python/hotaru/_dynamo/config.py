"""Switches that programs set by PyTorch's names for them."""

from __future__ import annotations

# Whether fake tensors remember what results look like, for each mode.
fake_tensor_cache_enabled: bool = True
# Whether they compute results nevertheless, and compare.
fake_tensor_cache_crosscheck_enabled: bool = False
