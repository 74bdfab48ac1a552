"""Lists of tensors as one tensor, and back: for what is sent in one piece."""

from __future__ import annotations

from collections import defaultdict

import hotaru

from .. import Tensor


def _flatten_dense_tensors(tensors) -> Tensor:
    """The elements of all, one tensor behind the other, as a line.

    One contiguous tensor gives a view of itself, anything else is copied.

    Raises:
        ValueError: no tensors.
    """
    lines = [tensor.contiguous().view(-1) for tensor in tensors]
    return lines[0] if len(lines) == 1 else hotaru.cat(lines)


def _unflatten_dense_tensors(flat: Tensor, tensors) -> tuple[Tensor, ...]:
    """Views of a line in the shapes of these tensors, one behind the other.

    Raises:
        RuntimeError: the line is too short.
    """
    found, start = [], 0
    for tensor in tensors:
        if tensor.numel() == 0:  # no view, whose memory it would keep
            found.append(flat.new_empty(tensor.size()))
            continue
        part = flat.narrow(0, start, tensor.numel())
        found.append(part.view(tensor.size()))
        start += tensor.numel()
    return tuple(found)


def _flatten_sparse_tensors(tensors) -> tuple[Tensor, Tensor]:
    """Lines of the indices and of the values of sparse COO tensors."""
    indices = [tensor._indices() for tensor in tensors]
    values = [tensor._values() for tensor in tensors]
    return _flatten_dense_tensors(indices), _flatten_dense_tensors(values)


def _unflatten_sparse_tensors(flat, tensors) -> tuple[Tensor, ...]:
    """Sparse COO tensors like these, of lines of indices and values."""
    indices = _unflatten_dense_tensors(flat[0], [t._indices() for t in tensors])
    values = _unflatten_dense_tensors(flat[1], [t._values() for t in tensors])
    return tuple(
        tensor.new(i, v, tensor.size())
        for tensor, i, v in zip(tensors, indices, values)
    )


def _reorder_tensors_as(tensors, ordered_tensors) -> tuple[Tensor, ...]:
    """The tensors, those of a type in their order, types as the others have."""
    of_type = defaultdict(list)
    for tensor in tensors:
        of_type[tensor.type()].append(tensor)
    takers = {name: iter(each) for name, each in of_type.items()}
    return tuple(next(takers[tensor.type()]) for tensor in ordered_tensors)


def _bytes_of(tensor: Tensor) -> int:
    if tensor.is_sparse:
        return sum(
            part.numel() * part.element_size()
            for part in (tensor._indices(), tensor._values())
        )
    return tensor.numel() * tensor.element_size()


def _take_tensors(tensors, size_limit: int):
    """Yields lists of tensors of one type, each as long as they have no more than
    `size_limit` bytes together; a greater tensor is alone.
    """
    waiting = defaultdict(lambda: [[], 0])
    for tensor in tensors:
        kind, size = tensor.type(), _bytes_of(tensor)
        held, total = waiting[kind]
        if held and total + size > size_limit:
            yield held
            held, total = [], 0
        waiting[kind] = [[*held, tensor], total + size]
    for held, _ in waiting.values():
        if held:
            yield held
