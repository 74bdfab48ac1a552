"""Names that PyTorch keeps here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._plan import wholes
from ._attention import context_parallel

__all__ = ["context_parallel", "implicit_replication"]


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Inside, plain tensors beside DTensors count as whole in each rank."""
    with wholes(""):
        yield
