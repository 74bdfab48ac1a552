"""Pipes whose items are got by keys."""

from ....._own_names import add_parts as _add_parts
from .pipes import BatcherMapDataPipe as Batcher
from .pipes import ConcaterMapDataPipe as Concater
from .pipes import MapperMapDataPipe as Mapper
from .pipes import SequenceWrapperMapDataPipe as SequenceWrapper
from .pipes import ShufflerIterDataPipe as Shuffler
from .pipes import ZipperMapDataPipe as Zipper
from .pipes import _itself

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]

# One file of those that PyTorch has.
_add_parts(
    __package__,
    {
        "callable": {"MapperMapDataPipe": Mapper, "default_fn": _itself},
        "combinatorics": {"ShufflerIterDataPipe": Shuffler},
        "combining": {"ConcaterMapDataPipe": Concater, "ZipperMapDataPipe": Zipper},
        "grouping": {"BatcherMapDataPipe": Batcher},
        "utils": {"SequenceWrapperMapDataPipe": SequenceWrapper},
    },
)
