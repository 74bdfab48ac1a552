"""The name by which the system shows the thread that calls (Linux)."""

from __future__ import annotations

import ctypes
import os

_SET_NAME, _GET_NAME = 15, 16  # of prctl(2)
_SIZE = 16  # with the zero behind it


def _prctl(option: int, buffer) -> None:
    """OSError where the system refuses, or is none that has it."""
    try:
        call = ctypes.CDLL(None, use_errno=True).prctl
    except (AttributeError, OSError, TypeError):
        raise OSError("names of threads need Linux") from None
    if call(option, buffer, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _set_thread_name(name: str) -> None:
    """Names the thread; the system keeps the first 15 bytes."""
    _prctl(_SET_NAME, ctypes.create_string_buffer(name.encode()[: _SIZE - 1]))


def _get_thread_name() -> str:
    """The thread's name."""
    buffer = ctypes.create_string_buffer(_SIZE)
    _prctl(_GET_NAME, buffer)
    return buffer.value.decode(errors="replace")
