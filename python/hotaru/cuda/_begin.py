"""Calls that wait until a CUDA driver is known: seeds and generators' states.

Seeding must not load anything, as programs seed before they ask for a GPU, and
before they fork. What was asked for runs in its order as soon as Python learns
that there is a device.
"""

from __future__ import annotations

import os
import sys
import threading

from .. import _C

__all__ = ["DeferredCudaCallError", "begin", "device_count", "when_known"]


class DeferredCudaCallError(Exception):
    """A call that was put off failed; says where it was made."""


_lock = threading.RLock()
_waiting: list[tuple] = []
_known = False


def device_count() -> int:
    """Number of CUDA devices; 0 without a driver. Makes no context."""
    global _known
    count = _C._device_count("cuda")
    if count > 0 and (_waiting or not _known):
        _known = True
        _run_waiting()
    return count


# By a fork: whether the parent used CUDA already.
_forks = {"parent used": False, "bad": False}


def _before_fork() -> None:
    _forks["parent used"] = _C._cuda_initialized()


def _after_in_child() -> None:
    _forks["bad"] |= _forks["parent used"]


os.register_at_fork(before=_before_fork, after_in_child=_after_in_child)


def is_in_bad_fork() -> bool:
    """True in a process that was forked after CUDA began: it cannot use it."""
    return _forks["bad"]


def begin() -> None:
    """Uses the current device for the first time.

    Raises:
        RuntimeError: no driver, no device, or a process that was forked after
            CUDA began. AssertionError: this build has no CUDA back end.
    """
    global _known
    if not _C._cuda_initialized():
        _C._cuda_init()
    _known = True
    if _waiting:
        _run_waiting()


def when_known(call, replaces_all: bool = False) -> None:
    """Runs ``call`` now if a device is known, else when one is found.

    Args:
        call: takes no arguments.
        replaces_all: what waits until now has no effect after this call.
    """
    with _lock:
        if replaces_all:
            _waiting.clear()
        if (_known and _C._device_count("cuda") > 0) or _C._cuda_initialized():
            _run_waiting()
            call()
            return
        # Seeds of all devices cannot fail: they pay for no traceback.
        _waiting.append((call, None if replaces_all else _stack()))


def _stack() -> str:
    import traceback

    return "".join(traceback.format_stack()[:-3])


def _run_waiting() -> None:
    with _lock:
        calls = _waiting[:]
        _waiting.clear()
        for call, where in calls:
            try:
                call()
            except Exception as error:
                raise DeferredCudaCallError(
                    "CUDA call failed lazily at initialization with error: "
                    f"{error}\n\nCUDA call was originally invoked at:\n\n"
                    f"{where}"
                ) from error


# A generator that a program draws from before it asks `torch.cuda` anything.
def _began() -> None:
    global _known
    _known = True
    for folder in sys.path:
        if os.path.isdir(os.path.join(folder, "nvidia")):
            _C._cuda_add_library_root(folder)
    _run_waiting()


_C._when_cuda_begins(_began)
