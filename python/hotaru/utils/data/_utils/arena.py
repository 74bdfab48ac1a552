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
    has to be sent. What nobody needs is unmapped on both sides.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._limit = 32  # blocks to keep, busy and idle
        self._blocks: dict[int, _C._SharedMemory] = {}
        self._numbers: dict[int, int] = {}  # by address
        self._next = 0
        # Numbers that the receiver may forget with the next message.
        self.dropped: list[int] = []

    def empty(self, shape, dtype):
        """A tensor in a block of its own; None if the system has no more."""
        nbytes = math.prod(shape) * dtype.itemsize
        for block in self._blocks.values():
            if block.idle and nbytes <= block.nbytes <= 2 * nbytes + 4096:
                return block.tensor(dtype, shape)
        self._make_room()
        try:
            block = _C._SharedMemory.create(nbytes)
        except RuntimeError:
            return None
        self._blocks[self._next] = block
        self._numbers[block.address] = self._next
        self._next += 1
        return block.tensor(dtype, shape)

    def find(self, tensor) -> tuple[int, _C._SharedMemory] | None:
        """Number and block of a tensor that fills its block's beginning."""
        number = self._numbers.get(tensor._storage_ptr())
        if number is None:
            return None
        whole = tensor.storage_offset() == 0 and tensor.is_contiguous()
        return (number, self._blocks[number]) if whole else None

    def expect(self, blocks: int) -> None:
        """Makes room for messages of so many blocks."""
        self._limit = max(self._limit, 8 * blocks)

    def _make_room(self) -> None:
        while len(self._blocks) >= self._limit:
            idle = (n for n, block in self._blocks.items() if block.idle)
            # Busy blocks live on in the receiver's tensors.
            number = next(idle, next(iter(self._blocks)))
            block = self._blocks.pop(number)
            del self._numbers[block.address]
            self.dropped.append(number)
