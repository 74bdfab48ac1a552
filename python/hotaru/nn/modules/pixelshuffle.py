"""Channels as pixels: where PyTorch has them."""

from .reshaping import PixelShuffle, PixelUnshuffle

__all__ = ["PixelShuffle", "PixelUnshuffle"]
