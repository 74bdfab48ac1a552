"""CUDA streams and events.

A stream belongs to one device and is ordered; streams of a device run side by
side. An operator waits by itself for uses of its tensors on other streams
(unlike in PyTorch); events and `wait_stream` are for work beyond that. Methods
are thread-safe; which stream is current is each thread's own.
"""

from __future__ import annotations

from .. import _C
from .._extension.streams import StreamContext, check_stream, stream
from ._begin import begin as _lazy_init
from .devices import device_index

__all__ = [
    "Event",
    "ExternalStream",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "get_stream_from_external",
    "set_stream",
    "stream",
]

# Priorities of streams made with one; others have 0. By handle.
_priorities: dict[int, int] = {}


class Stream(_C.Stream):
    """A new stream on a device, by default the current one.

    Args:
        device: a device; ``None`` and negative indices mean the current one.
        priority: smaller numbers go first; what lies outside of
            `priority_range` is brought into it.

    Raises:
        RuntimeError: no driver, or no such device.
    """

    def __init__(self, device=None, priority: int = 0) -> None:
        _lazy_init()
        index = device_index(device, optional=True)
        if index < 0:
            index = _C._cuda_current_device()
        super().__init__(_C.device("cuda", index), priority)
        if priority:
            least, greatest = _C._cuda_priority_range()
            priority = min(max(priority, greatest), least)
        _priorities.pop(self.cuda_stream, None)
        if priority:
            _priorities[self.cuda_stream] = priority

    @property
    def cuda_stream(self) -> int:
        """The driver's handle; 0 for the default stream."""
        return _C._cuda_stream_handle(self)

    @property
    def _as_parameter_(self):
        import ctypes

        return ctypes.c_void_p(self.cuda_stream)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.cuda_stream

    @property
    def priority(self) -> int:
        """Priority that it was made with, within `priority_range`."""
        return _priorities.get(self.cuda_stream, 0)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The least and the greatest priority, (0, -5) for instance."""
        _lazy_init()
        return _C._cuda_priority_range()

    def wait_event(self, event: _C.Event) -> None:
        """Later work here runs after the event."""
        event.wait(self)

    def record_event(self, event: _C.Event | None = None) -> _C.Event:
        """Marks the work so far in ``event``, or in a new one; returns it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __repr__(self) -> str:
        return (
            f"<torch.cuda.Stream device={self.device} "
            f"cuda_stream={self.cuda_stream:#x}>"
        )


def _wrapped(stream: _C.Stream, cls: type = Stream) -> Stream:
    """The same stream as an object of the class."""
    result = cls.__new__(cls)
    _C.Stream.__init__(result, stream)
    return result


class ExternalStream(Stream):
    """A stream that another library made and keeps while this is used.

    Args:
        stream_ptr: the driver's handle, a ``cudaStream_t`` as a number.
        device: the device it was made on, by default the current one.
    """

    def __init__(self, stream_ptr: int, device=None) -> None:
        _lazy_init()
        index = device_index(device, optional=True)
        _C.Stream.__init__(self, _C._cuda_external_stream(index, stream_ptr))


class Event(_C.Event):
    """A point in a stream's work; made on the device of its first recording.

    Args:
        enable_timing: whether `elapsed_time` can use it.
        blocking: accepted: who waits sleeps in any case.
        interprocess, external: must be False.

    Raises:
        NotImplementedError: for ``interprocess`` and ``external``.
    """

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> None:
        if interprocess:
            raise NotImplementedError(
                "torch.cuda.Event(interprocess=True): events cannot be shared "
                "between processes; synchronize and send a message instead"
            )
        if external:
            raise NotImplementedError(
                "torch.cuda.Event(external=True): graphs record no events; "
                "record the event before or after the replay instead"
            )
        super().__init__(enable_timing=enable_timing)
        self._device = None

    @property
    def device(self):
        """The device it was recorded on; ``None`` before."""
        return self._device

    def record(self, stream: _C.Stream | None = None) -> None:
        """Marks the stream's work so far, the current stream's by default.

        Raises:
            RuntimeError: a stream of another device than before.
        """
        stream = current_stream() if stream is None else _checked(stream)
        device = stream.device
        if self._device is not None and self._device != device:
            raise RuntimeError(
                f"Event device {self._device.index} does not match recording "
                f"stream's device {device.index}."
            )
        super().record(stream)
        self._device = device

    def wait(self, stream: _C.Stream | None = None) -> None:
        """Later work of the stream runs after the event; by default of the
        current stream. The stream may be another device's.
        """
        super().wait(current_stream() if stream is None else stream)

    @classmethod
    def from_ipc_handle(cls, device, handle):
        """NotImplementedError: events stay in their process."""
        raise NotImplementedError(
            "torch.cuda.Event.from_ipc_handle: events cannot be shared between "
            "processes; synchronize and send a message instead"
        )

    def ipc_handle(self):
        """NotImplementedError: events stay in their process."""
        raise NotImplementedError(
            "torch.cuda.Event.ipc_handle: events cannot be shared between "
            "processes; synchronize and send a message instead"
        )

    def __repr__(self) -> str:
        if self._device is None:
            return "<torch.cuda.Event uninitialized>"
        return f"<torch.cuda.Event {id(self):#x}>"


def _checked(stream) -> _C.Stream:
    check_stream(stream)
    if stream.device.type != "cuda":
        raise ValueError(
            f"Expected a stream of a cuda device, but got one of: {stream.device}"
        )
    return stream


def _of_device(device) -> _C.device:
    _lazy_init()
    return _C.device("cuda", device_index(device, optional=True))


def current_stream(device=None) -> Stream:
    """The stream that this thread's operators on a device go to."""
    return _wrapped(_C._current_stream(_of_device(device)))


def default_stream(device=None) -> Stream:
    """The stream that is current on a device until another one is made so."""
    return _wrapped(_C._cuda_default_stream(_of_device(device).index))


def set_stream(stream: Stream | None) -> None:
    """Makes a stream, and its device, current for this thread; ``None``
    changes nothing. `stream` is the same for a ``with`` block.
    """
    if stream is None:
        return
    _checked(stream)
    _C._set_stream(stream)
    _C._cuda_set_device(stream.device_index)


def get_stream_from_external(data_ptr: int, device=None) -> Stream:
    """A stream from the driver's handle, which its maker keeps meanwhile."""
    index = _of_device(device).index
    return _wrapped(_C._cuda_external_stream(index, data_ptr))
