"""A message as bytes, and the memory that goes along with it."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import threading
from multiprocessing.reduction import ForkingPickler

from .... import _C, Tensor
from ...._tensor.attributes import object_state, set_object_state
from ....cpu import synchronize
from ....multiprocessing import reductions
from ....nn.parameter import Parameter
from ....storage._typed import UntypedStorage
from .arena import SMALL_BYTES, Arena
from .overlap import entangled, hull, span

# The kernel passes at most 253 descriptors with a message.
MAX_DESCRIPTORS = 200

# Where the memory of a group begins: any dtype's element may lie there.
_ALIGNMENT = 16

# State of what this thread is unpickling.
_current = threading.local()


def pickled(
    message, arena: Arena | None, known: set[int], share: bool = True
) -> Message:
    """The message in bytes.

    Tensors are copied one by one at first. Where it turns out that some have
    elements in common, it is done again, with one memory for all of them.

    Args:
        message: the value.
        arena: where tensors go; None for into the bytes.
        known: the numbers of the arena's blocks that the receiver has.
        share: whether descriptors of shared memory may go along.
    """
    made = Message(message, arena, known, share)
    places = made.places()
    if not places:
        return made
    made.give_back()
    return Message(message, arena, known, share, places)


@contextlib.contextmanager
def unpickling(blocks: dict[int, _C._SharedMemory], guests: list[int]):
    """While it lasts, this thread reads a message with that memory.

    Args:
        blocks: the sender's arena, by number.
        guests: descriptors of further memory, which belong to it from now on.
    """
    _current.blocks, _current.guests = blocks, list(guests)
    try:
        yield
    finally:
        for descriptor in _current.guests:
            if descriptor is not None:
                os.close(descriptor)
        _current.blocks = _current.guests = None


class _Memory:
    """Memory that is sent by itself; a storage where it arrives.

    Args:
        begin: where in the sender's storage it begins, in bytes.
        values: the bytes, to be copied; None for memory that is shared.
        where: of shared memory: which of the message's descriptors it is, its
            offset in that and its length.
    """

    def __init__(self, begin: int, values=None, where: tuple = ()) -> None:
        self.begin = begin
        self.values = values
        self.where = where


class Message(ForkingPickler):
    """A pickler of one message.

    Attributes:
        data: the bytes.
        new: the blocks of the arena whose descriptors must go along, by number.
        guests: blocks that the program shares; their descriptors go along.
        taken: the arena's blocks in it, counted as looked at by the receiver.
    """

    def __init__(
        self,
        message,
        arena: Arena | None,
        known: set[int],
        share: bool,
        places: dict | None = None,
    ) -> None:
        buffer = io.BytesIO()
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self._arena = arena
        self._known = known
        self._share = share
        self._places = places or {}
        self._seen: dict[int, list] = {}  # the tensors, by their storage
        self._met: list[list] = []  # those of them that are several
        self._guests: dict[tuple[int, int], _Memory] = {}
        self._keep = []
        self.taken: list[_C._SharedMemory] = []
        self.new: dict[int, _C._SharedMemory] = {}
        self.guests: list[_C._SharedMemory] = []
        try:
            self.dump(message)
            if self.taken or self.guests:
                synchronize()  # what a stream still writes into them
        except BaseException:
            self.give_back()
            raise
        self.data = buffer.getbuffer()

    def give_back(self) -> None:
        """Takes back what was counted for the receiver."""
        for block in self.taken:
            block.give_back()
        self.taken.clear()
        self._keep.clear()

    def places(self) -> dict[tuple, _Memory]:
        """The memory of each tensor that has elements in common with others.

        By what `_place` says; the rest is not in it.
        """
        found: dict[tuple, _Memory] = {}
        for tensors in self._met:
            for group in entangled(tensors):
                memory = self._memory(group)
                found.update((_place(t), memory) for t in group)
        return found

    def _memory(self, tensors: list) -> _Memory:
        begin, end = hull(tensors)
        whole = reductions.bytes_of(tensors[0].untyped_storage())
        if self._arena and self._arena.holds(whole):
            begin = 0  # a block that is sent as it is
        begin -= begin % _ALIGNMENT
        return _Memory(begin, whole[begin:end])

    def reducer_override(self, obj):
        """Tensors go into the arena, the rest as usual."""
        if not isinstance(obj, Tensor):
            return self._reduced_other(obj)
        if not obj.is_cpu or obj.layout is not _C.strided:
            return NotImplemented  # the parts of sparse ones go one by one
        cls = _C._answering_class(obj)
        state = None
        if cls is not Tensor:
            if _C._dispatches(obj) or _reduces_itself(cls):
                return NotImplemented
            state = object_state(obj)
        needs_grad = obj.requires_grad
        if needs_grad:
            reductions.check_leaf(obj)
        memory = self._common_memory(obj)
        if memory is not None:
            return self._inside(obj, (cls, needs_grad, state), memory)
        plain = obj if cls is Tensor and not needs_grad else obj.detach()
        order = None
        if not plain.is_contiguous():
            order = _memory_order(plain)
            if order is not None:
                plain = plain.permute(order)
            elif _meets_itself(plain):
                memory = self._memory([plain])
                return self._inside(obj, (cls, needs_grad, state), memory)
        return self._copied(plain, (cls, needs_grad, state, order))

    def _reduced_other(self, obj):
        if type(obj) is _Memory:
            if obj.values is None:
                return _from_guest, obj.where
            return self._copied(obj.values, None)
        if not isinstance(obj, UntypedStorage):
            return NotImplemented
        if obj.device.type != "cpu" or obj.nbytes() == 0:
            return NotImplemented
        plain = reductions.bytes_of(obj)
        memory = self._common_memory(plain) or self._memory([plain])
        return _part, (memory, -memory.begin, obj.nbytes())

    def _inside(self, tensor, kind: tuple, memory: _Memory):
        """A tensor as a view of memory that is sent by itself."""
        geometry = (
            (span(tensor)[0] - memory.begin) // tensor.dtype.itemsize,
            tuple(tensor.shape),
            tuple(tensor.stride()),
        )
        return _in_storage, (kind, memory, tensor.dtype, geometry)

    def _copied(self, plain, kind: tuple | None):
        shape = tuple(plain.shape)
        shared = self._place_in_arena(plain)
        if shared is None:
            data = _C._tensor_bytes(plain.contiguous())
            return _from_bytes, (kind, plain.dtype, shape, data)
        number, block = shared
        block.take()
        self.taken.append(block)
        return _from_block, (kind, plain.dtype, shape, number)

    def _common_memory(self, tensor) -> _Memory | None:
        """The memory that is sent once for all that look into it.

        None for what is copied; it is noted then, to be compared with others.
        """
        if self._places:
            memory = self._places.get(_place(tensor))
            if memory is not None:
                return memory
        block = _C._SharedMemory.of(tensor) if self._share else None
        if block is not None:
            memory = self._guest(block, tensor)
            if memory is not None:
                return memory
        others = self._seen.setdefault(tensor._storage_ptr(), [])
        others.append(tensor)
        if len(others) == 2:
            self._met.append(others)
        return None

    def _guest(self, block, tensor) -> _Memory | None:
        """Memory that the program shares; None where that cannot go along."""
        if block.descriptor < 0 or (self._arena and self._arena.holds(tensor)):
            return None
        storage = tensor.untyped_storage()
        at = storage.data_ptr(), storage.nbytes()
        if at not in self._guests:
            if len(self.new) + len(self.guests) >= MAX_DESCRIPTORS:
                return None
            offset = reductions.remember(block, storage)
            where = (len(self.guests), offset, storage.nbytes())
            self._guests[at] = _Memory(0, where=where)
            self.guests.append(block)
        return self._guests[at]

    def _place_in_arena(self, plain):
        """Number and block with the tensor's values, or None."""
        if self._arena is None:
            return None
        if plain.numel() * plain.dtype.itemsize <= SMALL_BYTES:
            return None
        shared = self._arena.find(plain)
        room = MAX_DESCRIPTORS - len(self.guests) - len(self.new)
        if shared is None and room > 0:
            copy = self._arena.empty(plain.shape, plain.dtype)
            if copy is None:
                return None
            self._keep.append(copy.copy_(plain))
            shared = self._arena.find(copy)
        if shared is None:
            return None
        number, block = shared
        if number not in self._known:
            if room <= 0 and number not in self.new:
                return None
            self.new[number] = block
        return shared


def _place(tensor) -> tuple:
    """Place that a tensor looks at; equal for those that look at the same."""
    return (
        tensor._storage_ptr(),
        tensor.dtype,
        tensor.storage_offset(),
        tuple(tensor.shape),
        tuple(tensor.stride()),
    )


def _reduces_itself(cls: type) -> bool:
    """Tells whether a class of tensors has a pickle of its own."""
    return cls not in (Tensor, Parameter) and (
        cls.__reduce_ex__ is not Tensor.__reduce_ex__
        or cls.__reduce__ is not Tensor.__reduce__
    )


def _memory_order(tensor) -> list[int] | None:
    """The dimensions from slow to fast, where that makes it contiguous."""
    order = sorted(range(tensor.dim()), key=lambda d: -tensor.stride(d))
    return order if tensor.permute(order).is_contiguous() else None


def _meets_itself(tensor) -> bool:
    """True if it has more elements than the memory that it reaches."""
    begin, end = span(tensor)
    return tensor.numel() * tensor.dtype.itemsize > end - begin


def _from_bytes(kind: tuple | None, dtype, shape: tuple, data: bytes):
    if not data:
        return _finish(kind, _C.ops.empty(shape, dtype=dtype))
    flat = _C.frombuffer(bytearray(data), dtype=dtype)
    return _finish(kind, flat.reshape(shape))


def _from_block(kind: tuple | None, dtype, shape: tuple, number: int):
    block = _current.blocks[number]
    return _finish(kind, block.tensor(dtype, shape, taken=True))


def _from_guest(index: int, offset: int, nbytes: int):
    descriptor, _current.guests[index] = _current.guests[index], None
    return reductions.received(descriptor, offset, nbytes)


def _part(storage, begin: int, nbytes: int):
    whole = begin == 0 and nbytes == storage.nbytes()
    return storage if whole else storage[begin : begin + nbytes]


def _in_storage(kind: tuple, storage, dtype, geometry: tuple):
    plain = _C.ops.empty((0,), dtype=dtype)
    return _finish((*kind, None), plain.set_(storage, *geometry))


def _finish(kind: tuple | None, tensor):
    """The tensor as it was; without a kind, its memory."""
    if kind is None:
        return tensor.untyped_storage()[: tensor.numel()]
    cls, requires_grad, state, order = kind
    if order is not None:
        inverse = sorted(range(len(order)), key=order.__getitem__)
        tensor = tensor.permute(inverse)
    made = reductions.rebuilt(cls, tensor, requires_grad)
    return set_object_state(made, state) if state else made
