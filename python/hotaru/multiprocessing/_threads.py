"""Facts that the system knows of the calling thread: prctl(2) of Linux."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

_SET_NAME, _GET_NAME, _SET_DEATH_SIGNAL = 15, 16, 1  # of prctl(2)
_SIZE = 16  # with the zero behind it


def _prctl(option: int, argument) -> None:
    """OSError where the system refuses, or is none that has it."""
    try:
        call = ctypes.CDLL(None, use_errno=True).prctl
    except (AttributeError, OSError, TypeError):
        raise OSError("names of threads need Linux") from None
    if call(option, argument, 0, 0, 0):
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


def _prctl_pr_set_pdeathsig(number: int) -> None:
    """The process gets this signal when its parent ends; only on Linux."""
    with suppress(OSError):
        _prctl(_SET_DEATH_SIGNAL, number)
