"""Axes joined and split: where PyTorch has them."""

from .reshaping import Flatten, Unflatten

__all__ = ["Flatten", "Unflatten"]
