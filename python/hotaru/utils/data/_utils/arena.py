"""Shared memory that a worker's batches travel in."""

from __future__ import annotations

import math

from .... import _C

# Smaller tensors travel in the message itself.
SMALL_BYTES = 4096


class Arena:
    """Blocks of shared memory, each for one tensor at a time.

    The receiver keeps a block mapped. Once neither side has a tensor in it
    any more, it takes another tensor of about its size, and only its number
    has to be sent. What was not used for long is unmapped on both sides; what
    the receiver still looks at then lives on there.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._limit = 32  # blocks to keep, busy and idle
        # By number, the one used last at the end, with the time of that.
        self._blocks: dict[int, tuple[_C._SharedMemory, int]] = {}
        self._numbers: dict[int, int] = {}  # by address
        self._next = 0
        self._time = 0  # counts the tensors asked for
        # Numbers that the receiver may forget with the next message.
        self.dropped: list[int] = []

    def empty(self, shape, dtype):
        """A tensor in a block of its own; None if the system has no more."""
        nbytes = math.prod(shape) * dtype.itemsize
        self._time += 1
        self._drop_stale()
        # The block used last is the likeliest to lie in a cache, and those
        # that are too many become stale.
        for number in reversed(self._blocks):
            block, _ = self._blocks[number]
            if block.idle and nbytes <= block.nbytes <= 2 * nbytes + 4096:
                del self._blocks[number]
                return self._use(number, block, shape, dtype)
        try:
            block = _C._SharedMemory.create(nbytes)
        except RuntimeError:
            return None
        number, self._next = self._next, self._next + 1
        self._numbers[block.address] = number
        return self._use(number, block, shape, dtype)

    def _use(self, number: int, block: _C._SharedMemory, shape, dtype):
        self._blocks[number] = (block, self._time)
        return block.tensor(dtype, shape)

    def holds(self, tensor) -> bool:
        """Tells whether a tensor's memory is one of the blocks."""
        return tensor._storage_ptr() in self._numbers

    def find(self, tensor) -> tuple[int, _C._SharedMemory] | None:
        """Number and block of a tensor that fills its block's beginning."""
        number = self._numbers.get(tensor._storage_ptr())
        if number is None:
            return None
        whole = tensor.storage_offset() == 0 and tensor.is_contiguous()
        return (number, self._blocks[number][0]) if whole else None

    def expect(self, blocks: int) -> None:
        """Makes room for messages of so many blocks."""
        self._limit = max(self._limit, 8 * blocks)

    def _drop_stale(self) -> None:
        while self._blocks:
            number, (block, used) = next(iter(self._blocks.items()))
            kept = len(self._blocks)
            if kept < self._limit and self._time - used <= 4 * kept + 8:
                return
            del self._blocks[number]
            del self._numbers[block.address]
            self.dropped.append(number)
