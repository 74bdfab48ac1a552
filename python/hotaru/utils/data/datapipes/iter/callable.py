"""Pipes that apply a function to each item."""

from __future__ import annotations

from collections.abc import Callable, Sized

from ..._utils.collate import default_collate
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import check_function, columns_of, validate_input_col

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """Applies a function to each item (functional name: ``map``).

    Args:
        datapipe: gives the items.
        fn: the function.
        input_col: an index or key, or a list of them: `fn` gets those parts of
            the item, and its result stands in the place of the first of them,
            the others being left out.
        output_col: where the result stands instead; -1 appends.

    Raises:
        ValueError: a function that takes another number of arguments.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> list(dp.iter.IterableWrapper(range(3)).map(lambda x: x * 10))
        [0, 10, 20]
    """

    def __init__(
        self, datapipe: IterDataPipe, fn: Callable, input_col=None, output_col=None
    ) -> None:
        self.datapipe = datapipe
        check_function(fn)
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.fn, self.input_col, self.output_col = fn, input_col, output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, data):
        result = columns_of(self.fn, data, self.input_col)
        if self.input_col is None:
            return result
        changed = list(data) if isinstance(data, tuple) else data
        if self.output_col == -1:
            changed.append(result)
        elif self.output_col is not None:
            changed[self.output_col] = result
        elif isinstance(self.input_col, (list, tuple)):
            changed[self.input_col[0]] = result
            for column in sorted(self.input_col[1:], reverse=True):
                del changed[column]
        else:
            changed[self.input_col] = result
        return tuple(changed) if isinstance(data, tuple) else changed

    def __iter__(self):
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self) -> int:
        if isinstance(self.datapipe, Sized):
            return len(self.datapipe)
        raise self._no_length()


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Makes tensors of each item, a batch (functional name: ``collate``).

    Args:
        datapipe: gives the batches.
        conversion: makes them tensors, by default `default_collate`.
        collate_fn: stands for `conversion`, if it is given.

    Example:
        >>> import hotaru.utils.data.datapipes as dp
        >>> list(dp.iter.IterableWrapper(range(4)).batch(2).collate())
        [tensor([0, 1]), tensor([2, 3])]
    """

    def __init__(
        self,
        datapipe: IterDataPipe,
        conversion: Callable = default_collate,
        collate_fn: Callable | None = None,
    ) -> None:
        super().__init__(datapipe, collate_fn or conversion)
