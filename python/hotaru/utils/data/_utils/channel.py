"""Messages between the parent and one worker.

A channel is one end of a pair of Unix sockets that keep messages apart. The
memory of tensors, and of long messages, goes along as file descriptors; all
of it belongs to the kernel while under way, so a process may be killed at any
time and nothing is left over, and no lock is shared.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import socket
import struct
from array import array

from .... import _C
from .arena import Arena
from .message import MAX_DESCRIPTORS, Message, pickled, unpickling

# A longer message travels in memory of its own.
_INLINE_BYTES = 1 << 15

# Head of a message: set if the message proper is in a descriptor, counts of
# new and of dropped blocks; their numbers follow. Descriptors of memory that
# the program shares come behind those of new blocks.
_HEAD = struct.Struct("=BHI")

_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ETOOMANYREFS)


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets for two channels."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Channel:
    """One end. Only one thread may send, and one receive, at a time.

    Args:
        connection: the socket, which the channel owns from now on.
        arena: where tensors that are sent go; None sends their bytes.
    """

    def __init__(self, connection: socket.socket, arena: Arena | None = None) -> None:
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
            message: the value; tensors are copied, never moved, and what is
                in shared memory already is shared. Those that share memory
                with each other do so at the receiver, too.
            wait: without it the call blocks while the pipe is full, with it
                `wait()` is called until there is room.

        Raises:
            OSError: the other end is closed.
            Exception: what pickling raises; nothing was sent then.
        """
        try:
            self._send(pickled(message, self._arena, self._known), wait)
        except OSError as error:
            if error.errno not in _OUT_OF_DESCRIPTORS:
                raise
            # Slower, but it works: everything in the message itself.
            self._send(pickled(message, None, self._known, False), wait)

    def _send(self, made: Message, wait) -> None:
        dropped = self._arena.dropped if self._arena else []
        numbers = array("q", [*made.new, *dropped])
        blocks = [*made.new.values(), *made.guests]
        descriptors = [block.descriptor for block in blocks]
        long = len(made.data) > _INLINE_BYTES
        body = None
        try:
            parts = [_HEAD.pack(long, len(made.new), len(dropped)), numbers]
            if long:
                body = os.memfd_create("hotaru", os.MFD_CLOEXEC)
                _write_all(body, made.data)
                descriptors.insert(0, body)
            else:
                parts.append(made.data)
            self._transmit(parts, descriptors, wait)
        except BaseException:
            made.give_back()
            raise
        finally:
            if body is not None:
                os.close(body)
        for block in made.new.values():
            block.close_descriptor()
        self._known.update(made.new)
        self._known.difference_update(dropped)
        if self._arena:
            dropped.clear()
            self._arena.expect(len(made.taken))

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
        ancillary = socket.CMSG_SPACE(4 * (MAX_DESCRIPTORS + 1))
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
                "Too many open files. "
                "Communication with the workers is no longer possible. "
                "Please increase the limit using `ulimit -n` in the shell"
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
        try:
            with unpickling(self._blocks, descriptors[new:]):
                if body is None:
                    return pickle.loads(data[end:])
                with open(body, "rb") as file:
                    return pickle.load(file)
        finally:
            for number in numbers[new:]:
                self._blocks.pop(number, None)


def _write_all(descriptor: int, data) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
