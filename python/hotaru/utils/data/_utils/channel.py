"""Messages between the parent and one worker.

A channel is one end of a pair of Unix sockets that keep messages apart. The
memory of tensors, and of long messages, goes along as file descriptors; all
of it belongs to the kernel while under way, so a process may be killed at any
time and nothing is left over, and no lock is shared.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import pickle
import socket
import struct
import threading
from array import array
from multiprocessing.reduction import ForkingPickler

from .... import _C, Tensor
from ...._tensor.attributes import object_state, set_object_state
from ....cpu import synchronize
from ....multiprocessing.reductions import check_leaf, rebuilt
from ....nn.parameter import Parameter
from .arena import SMALL_BYTES, Arena

# A longer message travels in memory of its own.
_INLINE_BYTES = 1 << 15
# The kernel passes at most 253 descriptors with a message.
_MAX_DESCRIPTORS = 200

# Whether the message proper is in a descriptor, counts of new and of dropped
# blocks; their numbers follow.
_HEAD = struct.Struct("=BHI")

_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ETOOMANYREFS)

# The channel whose message this thread is unpickling.
_current = threading.local()


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets for two channels."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Channel:
    """One end. Only one thread may send, and one receive, at a time.

    Args:
        connection: the socket, which the channel owns from now on.
        arena: where tensors that are sent go; None sends their bytes.
    """

    def __init__(
        self, connection: socket.socket, arena: Arena | None = None
    ) -> None:
        self._socket = connection
        self._arena = arena
        self._blocks: dict[int, _C._SharedMemory] = {}
        self._known: set[int] = set()

    def fileno(self) -> int:
        """For select and poll; -1 once closed."""
        return self._socket.fileno()

    def close(self) -> None:
        """Closes this process's hold of the end."""
        self._socket.close()
        self._blocks.clear()

    def end(self) -> None:
        """Closes the channel for every process that holds this end."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.close()

    def send(self, message, wait=None) -> None:
        """Sends anything that can be pickled.

        Args:
            message: the value; tensors are shared or copied, never moved.
            wait: without it the call blocks while the pipe is full, with it
                `wait()` is called until there is room.

        Raises:
            OSError: the other end is closed.
            Exception: what pickling raises; nothing was sent then.
        """
        try:
            self._send(_Pickler(message, self._arena, self._known), wait)
        except OSError as error:
            if error.errno not in _OUT_OF_DESCRIPTORS:
                raise
            # Slower, but it works: everything in the message itself.
            self._send(_Pickler(message, None, self._known), wait)

    def _send(self, pickled: _Pickler, wait) -> None:
        dropped = self._arena.dropped if self._arena else []
        numbers = array("q", [*pickled.new, *dropped])
        descriptors = [block.descriptor for block in pickled.new.values()]
        long = len(pickled.data) > _INLINE_BYTES
        body = None
        try:
            parts = [_HEAD.pack(long, len(pickled.new), len(dropped)), numbers]
            if long:
                body = os.memfd_create("hotaru", os.MFD_CLOEXEC)
                _write_all(body, pickled.data)
                descriptors.insert(0, body)
            else:
                parts.append(pickled.data)
            self._transmit(parts, descriptors, wait)
        except BaseException:
            pickled.give_back()
            raise
        finally:
            if body is not None:
                os.close(body)
        for block in pickled.new.values():
            block.close_descriptor()
        self._known.update(pickled.new)
        self._known.difference_update(dropped)
        if self._arena:
            dropped.clear()
            self._arena.expect(len(pickled.taken))

    def _transmit(self, parts: list, descriptors: list[int], wait) -> None:
        extra = []
        if descriptors:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS)
            extra = [(*rights, array("i", descriptors))]
        flags = socket.MSG_NOSIGNAL
        if wait is not None:
            flags |= socket.MSG_DONTWAIT
        while True:
            try:
                self._socket.sendmsg(parts, extra, flags)
                return
            except BlockingIOError:
                wait()

    def receive(self, block: bool = True):
        """The next message.

        Raises:
            BlockingIOError: there is none, unless it is to wait.
            EOFError: the other end is closed or dead.
            RuntimeError: this process may open no more files.
            Exception: what unpickling raises.
        """
        flags = socket.MSG_CMSG_CLOEXEC | (0 if block else socket.MSG_DONTWAIT)
        room = _HEAD.size + _INLINE_BYTES + (1 << 16)
        ancillary = socket.CMSG_SPACE(4 * (_MAX_DESCRIPTORS + 1))
        try:
            data, extra, flags, _ = self._socket.recvmsg(room, ancillary, flags)
        except ConnectionError:
            raise EOFError from None
        if not data:
            raise EOFError
        descriptors = array("i")
        for _, _, rights in extra:
            descriptors.frombytes(rights)
        if flags & socket.MSG_CTRUNC:
            for descriptor in descriptors:
                os.close(descriptor)
            raise RuntimeError(
                "Too many open files. Communication with the workers is no "
                "longer possible. Please increase the limit using `ulimit -n` "
                "in the shell"
            )
        return self._unpack(memoryview(data), list(descriptors))

    def _unpack(self, data: memoryview, descriptors: list[int]):
        long, new, dropped = _HEAD.unpack_from(data)
        numbers = array("q")
        end = _HEAD.size + numbers.itemsize * (new + dropped)
        numbers.frombytes(data[_HEAD.size : end])
        body = descriptors.pop(0) if long else None
        for number, descriptor in zip(numbers[:new], descriptors):
            block = _C._SharedMemory.map(descriptor)
            block.close_descriptor()
            self._blocks[number] = block
        _current.blocks = self._blocks
        try:
            if body is None:
                return pickle.loads(data[end:])
            with open(body, "rb") as file:
                return pickle.load(file)
        finally:
            _current.blocks = None
            for number in numbers[new:]:
                self._blocks.pop(number, None)


def _write_all(descriptor: int, data) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    os.lseek(descriptor, 0, os.SEEK_SET)


class _Pickler(ForkingPickler):
    """A message in bytes, and the blocks that it refers to.

    `data` are the bytes, `new` the blocks whose descriptors must go along, by
    number, `taken` all blocks, which are counted as looked at by the receiver.
    """

    def __init__(self, message, arena: Arena | None, known: set[int]) -> None:
        buffer = io.BytesIO()
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self._arena = arena
        self._known = known
        self.taken: list[_C._SharedMemory] = []
        self._keep = []
        self.new: dict[int, _C._SharedMemory] = {}
        try:
            self.dump(message)
            if self.taken:
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

    def reducer_override(self, obj):
        """Tensors go into the arena, the rest as usual."""
        if not isinstance(obj, Tensor) or obj.device.type != "cpu":
            return NotImplemented
        if obj.layout is not _C.strided:  # its parts go one by one
            return NotImplemented
        if _C._dispatches(obj) or _reduces_itself(type(obj)):
            return NotImplemented
        check_leaf(obj)
        plain = obj.detach()
        order = _memory_order(plain)
        if order is not None:
            plain = plain.permute(order)
        state = object_state(obj) if type(obj) is not Tensor else None
        kind = (type(obj), obj.requires_grad, order, state)
        shared = self._share(plain)
        if shared is None:
            data = _C._tensor_bytes(plain.contiguous())
            return _from_bytes, (kind, obj.dtype, tuple(plain.shape), data)
        number, block = shared
        block.take()
        self.taken.append(block)
        return _from_block, (kind, obj.dtype, tuple(plain.shape), number)

    def _share(self, plain):
        """Number and block with the tensor's values, or None."""
        if self._arena is None:
            return None
        if plain.numel() * plain.dtype.itemsize <= SMALL_BYTES:
            return None
        shared = self._arena.find(plain)
        if shared is None and len(self.new) < _MAX_DESCRIPTORS:
            copy = self._arena.empty(plain.shape, plain.dtype)
            if copy is None:
                return None
            self._keep.append(copy.copy_(plain))
            shared = self._arena.find(copy)
        if shared is None:
            return None
        number, block = shared
        if number not in self._known:
            if len(self.new) >= _MAX_DESCRIPTORS and number not in self.new:
                return None
            self.new[number] = block
        return shared


def _reduces_itself(cls: type) -> bool:
    """Whether a class of tensors has a pickle of its own."""
    return cls not in (Tensor, Parameter) and (
        cls.__reduce_ex__ is not Tensor.__reduce_ex__
        or cls.__reduce__ is not Tensor.__reduce__
    )


def _memory_order(tensor) -> list[int] | None:
    """The dimensions from slow to fast, where that makes it contiguous."""
    if tensor.is_contiguous():
        return None
    order = sorted(range(tensor.dim()), key=lambda d: -tensor.stride(d))
    return order if tensor.permute(order).is_contiguous() else None


def _from_bytes(kind: tuple, dtype, shape: tuple, data: bytes):
    if not data:
        return _finish(kind, _C.ops.empty(shape, dtype=dtype))
    flat = _C.frombuffer(bytearray(data), dtype=dtype)
    return _finish(kind, flat.reshape(shape))


def _from_block(kind: tuple, dtype, shape: tuple, number: int):
    block = _current.blocks[number]
    return _finish(kind, block.tensor(dtype, shape, taken=True))


def _finish(kind: tuple, tensor):
    cls, requires_grad, order, state = kind
    if order is not None:
        inverse = sorted(range(len(order)), key=order.__getitem__)
        tensor = tensor.permute(inverse)
    made = rebuilt(cls, tensor, requires_grad)
    return set_object_state(made, state) if state else made
