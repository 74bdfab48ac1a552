"""The pipe that begins a pipeline."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Sized

from ..datapipe import IterDataPipe

__all__ = ["IterableWrapperIterDataPipe"]


class IterableWrapperIterDataPipe(IterDataPipe):
    """Gives the items of an iterable, of a deep copy unless told otherwise."""

    def __init__(self, iterable: Iterable, deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:  # generators and the like
                warnings.warn(
                    "The input iterable can not be deepcopied, please be aware "
                    "of in-place modification would affect source data.",
                    stacklevel=2,
                )
        yield from source

    def __len__(self) -> int:
        if isinstance(self.iterable, Sized):
            return len(self.iterable)
        raise self._no_length()
