"""Logs that TensorBoard shows, written over the `tensorboard` package.

Raises:
    ModuleNotFoundError: on import, where that package isn't installed.
"""

import tensorboard
from tensorboard.summary.writer.record_writer import RecordWriter

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
