"""Sliding blocks: where PyTorch has them."""

from .reshaping import Fold, Unfold

__all__ = ["Fold", "Unfold"]
