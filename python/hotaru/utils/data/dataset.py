"""Datasets: things with samples, by index or one after the other."""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeVar

from ... import Generator, Tensor, randperm

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic as _Subscriptable
else:

    class _Subscriptable:
        """Lets annotations write `Dataset[int]`; nothing looks at the parameter."""

        def __class_getitem__(cls, item):
            return cls


class Dataset(_Subscriptable[_T_co]):
    """Base class of datasets with samples by index.

    Subclasses define `__getitem__`, usually `__len__`, and may define
    `__getitems__`, which takes a list of indices.
    """

    def __getitem__(self, index) -> _T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[_T_co]) -> ConcatDataset[_T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co]):
    """Base class of datasets that are only iterated: define `__iter__`."""

    def __add__(self, other: Dataset[_T_co]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples are tuples of the tensors' entries along the first axis."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset):
    """Samples are tuples, or dicts, of the samples of several datasets."""

    def __init__(self, *args: Dataset, **kwargs: Dataset) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via "
                "``kwargs``) like input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = {len(dataset) for dataset in (args or kwargs.values())}
        if len(lengths) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = lengths.pop()

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list) -> list:
        """The samples of several indices, each dataset asked once if it can.

        Raises ValueError where a dataset gives another number of samples.
        """
        if isinstance(self.datasets, dict):
            names = list(self.datasets)
            columns = [_samples(d, indices) for d in self.datasets.values()]
            return [dict(zip(names, row)) for row in zip(*columns)]
        return list(zip(*(_samples(d, indices) for d in self.datasets)))

    def __len__(self) -> int:
        return self._length


def _samples(dataset: Dataset, indices: list):
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    found = dataset.__getitems__(indices)
    if len(found) != len(indices):
        raise ValueError(
            "Nested dataset's output size mismatch. "
            f"Expected {len(indices)}, got {len(found)}"
        )
    return found


class ConcatDataset(Dataset[_T_co]):
    """The samples of several datasets, one after the other."""

    def __init__(self, datasets: Iterable[Dataset[_T_co]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence) -> list[int]:
        """Where each item would end if they stood one after the other."""
        return list(accumulate(len(item) for item in sequence))

    @property
    def cummulative_sizes(self) -> list[int]:
        """Deprecated: `cumulative_sizes`."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`",
            FutureWarning,
            stacklevel=2,
        )
        return self.cumulative_sizes

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> _T_co:
        if index < 0:
            if -index > len(self):
                raise ValueError(
                    "absolute value of index should not exceed dataset length"
                )
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - start]


class ChainDataset(IterableDataset):
    """The samples of several iterable datasets, one after the other."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator:
        for dataset in self.datasets:
            _need_iterable(dataset)
            yield from dataset

    def __len__(self) -> int:
        for dataset in self.datasets:
            _need_iterable(dataset)
        return sum(len(dataset) for dataset in self.datasets)


def _need_iterable(dataset) -> None:
    if not isinstance(dataset, IterableDataset):
        raise AssertionError("ChainDataset only supports IterableDataset")


class Subset(Dataset[_T_co]):
    """The samples of a dataset at given indices."""

    def __init__(self, dataset: Dataset[_T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index) -> _T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[_T_co]:
        chosen = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[i] for i in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[_T],
    lengths: Sequence[int | float],
    generator: Generator | None = None,
) -> list[Subset[_T]]:
    """Splits a dataset at random.

    Args:
        dataset: what to split.
        lengths: sizes, or shares that sum up to 1; what rounding leaves over
            goes to the first ones in turn.
        generator: source of the permutation.

    Raises:
        ValueError: lengths that do not sum up.
    """
    lengths = list(lengths)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _sizes(lengths, len(dataset))
    if sum(lengths) != len(dataset):
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset!"
        )
    order = randperm(len(dataset), generator=generator).tolist()
    ends = accumulate(lengths)
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, lengths)]


def _sizes(shares: list[float], total: int) -> list[int]:
    sizes = []
    for i, share in enumerate(shares):
        if share < 0 or share > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        sizes.append(math.floor(total * share))
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    for i, size in enumerate(sizes):
        if size == 0:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an "
                "empty dataset.",
                stacklevel=3,
            )
    return sizes
