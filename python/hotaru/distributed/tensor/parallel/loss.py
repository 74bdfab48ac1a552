"""The cross entropy of logits whose classes lie in parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._plan import wholes

__all__ = ["loss_parallel"]


@contextmanager
def loss_parallel() -> Iterator[None]:
    """Around `cross_entropy` of logits in `Shard(1)` and its backward pass: the
    target may be a plain tensor, whole in each rank.

    Ranks sum over their own classes, inside of it and outside: a DTensor's
    cross entropy never puts the classes together where that can be helped.
    """
    with wholes("cross_entropy_loss"):
        yield
