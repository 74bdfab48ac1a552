"""Which tensors look into the same memory."""

from __future__ import annotations

# So many tensors are compared two by two, more are taken for entangled.
_COMPARED = 32


def span(tensor) -> tuple[int, int]:
    """The bytes of its storage from the first to behind the last it has."""
    size = tensor.element_size()
    begin = tensor.storage_offset() * size
    if tensor.is_contiguous() or tensor.numel() == 0:
        return begin, begin + tensor.numel() * size
    steps = zip(tensor.shape, tensor.stride())
    last = sum((length - 1) * step for length, step in steps)
    return begin, begin + (last + 1) * size


def entangled(tensors: list) -> list[list]:
    """Groups of tensors of one storage that have elements in common.

    Each has at least two members. Tensors that only lie between each other,
    as the columns of a matrix, are told apart unless they are many, or fill
    the memory that they reach: to keep that together costs nothing.
    """
    spans = [span(t) for t in tensors]
    if _ascend(sorted(spans)):
        return []  # as it is with the rows of a matrix
    groups = []
    chain: list = []
    end = -1
    for i in sorted(range(len(spans)), key=spans.__getitem__):
        start, stop = spans[i]
        if start == stop:
            continue
        if start >= end:
            groups += _parted(chain)
            chain = []
        chain.append(tensors[i])
        end = max(end, stop)
    groups += _parted(chain)
    return groups


def _ascend(spans: list[tuple[int, int]]) -> bool:
    end = 0
    for start, stop in spans:
        if start < end:
            return False
        end = stop
    return True


def hull(tensors: list) -> tuple[int, int]:
    """The bytes from the first to the last that any of the tensors has."""
    begins, ends = zip(*map(span, tensors))
    return min(begins), max(ends)


def _parted(chain: list) -> list[list]:
    """The groups of tensors whose spans overlap one after the other."""
    if len(chain) < 2:
        return []
    begin, end = hull(chain)
    total = sum(t.numel() * t.element_size() for t in chain)
    if end - begin <= 2 * total or len(chain) > _COMPARED:
        return [chain]
    groups: list[list] = []
    for tensor in chain:
        joined, rest = [tensor], []
        for group in groups:
            if any(_may_overlap(tensor, other) for other in group):
                joined += group
            else:
                rest.append(group)
        groups = [*rest, joined]
    return [group for group in groups if len(group) > 1]


def _may_overlap(a, b) -> bool:
    """Tells whether two tensors of one storage may have a byte in common.

    Told apart are those that look into different parts of each period, a
    step of either. Of others it says yes.
    """
    (a_begin, a_end), (b_begin, b_end) = span(a), span(b)
    if a_end <= b_begin or b_end <= a_begin:
        return False
    periods = {step for t in (a, b) for step, _ in _steps(t)}
    return not any(_apart(a, b, period) for period in periods)


def _steps(tensor) -> list[tuple[int, int]]:
    """Step in bytes and length of each dimension that goes on."""
    size = tensor.element_size()
    dims = zip(tensor.stride(), tensor.shape)
    return [(step * size, n) for step, n in dims if step and n > 1]


def _apart(a, b, period: int) -> bool:
    parts = []
    for tensor in (a, b):
        steps = _steps(tensor)
        if any(step % period for step, _ in steps if step >= period):
            return False
        inner = sum((n - 1) * step for step, n in steps if step < period)
        parts.append((span(tensor)[0], inner + tensor.element_size()))
    (a_begin, a_width), (b_begin, b_width) = parts
    return (b_begin - a_begin) % period >= a_width and (
        a_begin - b_begin
    ) % period >= b_width
