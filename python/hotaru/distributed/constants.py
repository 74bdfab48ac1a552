"""How long collectives take at most, unless a group says otherwise."""

from __future__ import annotations

from datetime import timedelta

from .process_group import default_pg_timeout

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]

default_pg_nccl_timeout = timedelta(minutes=10)
