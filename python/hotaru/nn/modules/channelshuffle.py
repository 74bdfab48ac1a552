"""Channels mixed: where PyTorch has them."""

from .reshaping import ChannelShuffle

__all__ = ["ChannelShuffle"]
