"""How long collectives take at most, unless a group says otherwise."""

from __future__ import annotations

from .backends.nccl import DEFAULT_TIMEOUT as default_pg_nccl_timeout  # noqa: N811
from .process_group import default_pg_timeout

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]
