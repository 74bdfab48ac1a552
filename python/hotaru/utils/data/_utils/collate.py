"""From a list of samples to a batch."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

from .... import (
    Tensor,
    as_tensor,
    float64,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    stack,
    tensor,
)
from . import worker
from .containers import is_named_tuple, is_sequence, like_mapping, like_sequence

# Numpy's names of dtypes whose elements are texts or objects.
np_str_obj_array_pattern = re.compile(r"[SaUO]")

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, "
    "dicts or lists; found {}"
)


def collate(batch, *, collate_fn_map: dict | None = None):
    """Makes a batch of samples by a table of functions for their types.

    Args:
        batch: the samples.
        collate_fn_map: from a type, or a tuple of types, to a function
            `f(samples, *, collate_fn_map)`. The sample's own type is looked
            up first, then its bases in the table's order. Containers that the
            table does not know are collated item by item.

    Raises:
        TypeError: samples of a type that is neither in the table nor a
            container.
        RuntimeError: sequences of different lengths.
    """
    first = batch[0]
    if collate_fn_map is not None:
        function = _find(type(first), first, collate_fn_map)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)

    def deeper(samples):
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        columns = {k: deeper([sample[k] for sample in batch]) for k in first}
        return like_mapping(first, columns)
    if is_named_tuple(first):
        return type(first)(*map(deeper, zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [deeper(column) for column in zip(*batch)]
        if isinstance(first, tuple):
            return columns
        return like_sequence(first, columns)
    raise _unknown(type(first))


def _find(kind: type, first, table: dict):
    if kind in table:
        return table[kind]
    # numpy's types are in every table, without importing numpy.
    of_numpy = any(base.__module__ == "numpy" for base in kind.__mro__)
    if of_numpy and not isinstance(first, (str, bytes)):
        if issubclass(kind, sys.modules["numpy"].ndarray):
            return collate_numpy_array_fn
        return collate_numpy_scalar_fn
    for base, function in table.items():
        if isinstance(first, base):
            return function
    return None


def _unknown(what) -> TypeError:
    return TypeError(default_collate_err_msg_format.format(what))


def _unsupported(kind: str) -> RuntimeError:
    return RuntimeError(
        f"Batches of {kind} tensors are not currently supported by the default "
        "collate_fn; please provide a custom collate_fn to handle them "
        "appropriately."
    )


def collate_tensor_fn(batch, *, collate_fn_map: dict | None = None) -> Tensor:
    """Stacks; in a worker straight into memory that the parent sees.

    RuntimeError for nested and sparse tensors: what a batch of them is, only
    the program knows.
    """
    if batch[0].is_nested:
        raise _unsupported("nested")
    if batch[0].layout in (sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc):
        raise _unsupported("sparse")
    out = worker.shared_stack(batch)
    return stack(tuple(batch), 0) if out is None else out


def collate_numpy_array_fn(batch, *, collate_fn_map: dict | None = None):
    """Stacks arrays. TypeError for those of texts and objects."""
    if np_str_obj_array_pattern.search(batch[0].dtype.str):
        raise _unknown(batch[0].dtype)
    tensors = [as_tensor(sample) for sample in batch]
    return collate(tensors, collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map: dict | None = None) -> Tensor:
    """A tensor of numpy's numbers."""
    return as_tensor(batch)


def collate_float_fn(batch, *, collate_fn_map: dict | None = None) -> Tensor:
    """A float64 tensor."""
    return tensor(batch, dtype=float64)


def collate_int_fn(batch, *, collate_fn_map: dict | None = None) -> Tensor:
    """An int64 or bool tensor."""
    return tensor(batch)


def collate_str_fn(batch, *, collate_fn_map: dict | None = None):
    """Texts stay as they are."""
    return batch


# Programs add their own types to it.
default_collate_fn_map: dict = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch):
    """Stacks samples along a new first axis, inside of containers too.

    Tensors and arrays are stacked, numbers become a tensor, texts stay,
    containers are kept (tuples become lists).

    Raises:
        TypeError: samples of another type.
        RuntimeError: samples of different sizes.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data):
    """Turns arrays into tensors, inside of containers too; the rest stays."""
    if isinstance(data, Tensor):
        return data
    kind = type(data)
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "bytes_"):
        text = kind.__name__ == "ndarray" and np_str_obj_array_pattern.search(
            data.dtype.str
        )
        return data if text else as_tensor(data)
    if isinstance(data, Mapping):
        return like_mapping(data, {k: default_convert(data[k]) for k in data})
    if is_named_tuple(data):
        return kind(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if is_sequence(data):
        return like_sequence(data, [default_convert(item) for item in data])
    return data
