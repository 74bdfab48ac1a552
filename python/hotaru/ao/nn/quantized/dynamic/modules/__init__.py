"""Modules of floats that compute in integers, with scales of each call."""

from __future__ import annotations

from .linear import Linear
from .rnn import GRU, LSTM
from .rnn_cell import GRUCell, LSTMCell, RNNCell

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "Linear", "RNNCell"]
