"""Gradients for each sample of a batch, beside `backward`."""

from . import conv_expanded_weights, layer_expanded_weights, rnn_expanded_weights
from .expanded_weights_impl import ExpandedWeight

__all__ = [
    "ExpandedWeight",
    "conv_expanded_weights",
    "layer_expanded_weights",
    "rnn_expanded_weights",
]
