"""The pipe that leaves items out."""

from __future__ import annotations

from collections.abc import Callable

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import StreamWrapper, check_function, columns_of, validate_input_col

__all__ = ["FilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """Gives items of which a function is True (functional name: ``filter``).

    Open files of what is left out are closed.

    Args:
        datapipe: gives the items.
        filter_fn: a function that returns a bool.
        input_col: the part of an item that it gets, or a list of them; by
            default the item.

    Raises:
        ValueError: the function returns anything else.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> list(dp.iter.IterableWrapper(range(5)).filter(lambda x: x > 2))
        [3, 4]
    """

    def __init__(
        self, datapipe: IterDataPipe, filter_fn: Callable, input_col=None
    ) -> None:
        self.datapipe = datapipe
        check_function(filter_fn)
        self.filter_fn, self.input_col = filter_fn, input_col
        validate_input_col(filter_fn, input_col)

    def __iter__(self):
        for item in self.datapipe:
            wanted = columns_of(self.filter_fn, item, self.input_col)
            if not isinstance(wanted, bool):
                raise ValueError(
                    "Boolean output is required for `filter_fn` of "
                    "FilterIterDataPipe, got",
                    type(wanted),
                )
            if wanted:
                yield item
            else:
                StreamWrapper.close_streams(item)
