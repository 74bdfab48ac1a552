"""Pipes whose items are got by keys."""

from .pipes import BatcherMapDataPipe as Batcher
from .pipes import ConcaterMapDataPipe as Concater
from .pipes import MapperMapDataPipe as Mapper
from .pipes import SequenceWrapperMapDataPipe as SequenceWrapper
from .pipes import ShufflerIterDataPipe as Shuffler
from .pipes import ZipperMapDataPipe as Zipper

__all__ = [
    "Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper",
]  # fmt: skip
