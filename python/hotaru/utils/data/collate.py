"""From a list of samples to a batch."""

from __future__ import annotations

import copy

from ... import Tensor, as_tensor, float64, stack, tensor


def default_collate(batch: list):
    """Stacks samples along a new first axis, inside of containers too.

    Tensors and arrays are stacked, numbers become a tensor, strings stay a
    list, containers are kept (tuples become lists).

    Raises:
        TypeError: samples of another type.
        RuntimeError: samples of different sizes.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(batch, 0)
    if type(first).__module__ == "numpy" and not isinstance(
        first, (str, bytes)
    ):
        return _collate_numpy(first, batch)
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, dict) or hasattr(first, "keys"):
        return _rebuild_mapping(
            first,
            {
                k: default_collate([sample[k] for sample in batch])
                for k in first
            },
        )
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(column) for column in zip(*batch)))
    if isinstance(first, (list, tuple)):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError(
                "each element in list of batch should be of equal size"
            )
        columns = [default_collate(list(column)) for column in zip(*batch)]
        plain = isinstance(first, tuple) or type(first) is list
        return columns if plain else type(first)(columns)
    raise _unknown(type(first))


def _collate_numpy(first, batch: list):
    if first.dtype.kind in "SUO":
        raise _unknown(first.dtype)
    if first.shape == ():
        return as_tensor(batch)
    return default_collate([as_tensor(sample) for sample in batch])


def _rebuild_mapping(like, values: dict):
    """`values` in a mapping of the type of `like`, or in a plain dict."""
    if type(like) is dict:
        return values
    try:
        clone = copy.copy(like)
        clone.update(values)
        return clone
    except (AttributeError, TypeError):
        return values


def _unknown(what) -> TypeError:
    return TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, "
        f"dicts or lists; found {what}"
    )


def default_convert(data):
    """Turns arrays into tensors, inside of containers too; the rest stays."""
    if isinstance(data, (Tensor, str, bytes)):
        return data
    if type(data).__module__ == "numpy":
        return data if data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, dict):
        return _rebuild_mapping(
            data, {k: default_convert(v) for k, v in data.items()}
        )
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(v) for v in data))
    if isinstance(data, (list, tuple)):
        return [default_convert(v) for v in data]
    return data
