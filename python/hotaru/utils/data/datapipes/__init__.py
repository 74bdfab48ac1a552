"""Pipelines of data: pipes that take from pipes, an item at a time."""

from . import iter, map

__all__ = ["iter", "map"]
