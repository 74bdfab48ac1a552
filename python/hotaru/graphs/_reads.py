"""Reads amid a capture that no walk finds: clocks, files, random bytes, what
comes from other threads and processes; and what code does to these.

Calls of such functions are noticed while the captured function runs, by the
interpreter's own profiling, and end the capture: a replay would have what they
gave then, and do nothing.
"""

from __future__ import annotations

import io
import os
import sys
import threading
import types

from .._late import loaded
from .._own_names import is_own
from . import _state

_USES = "the call uses {}, which no graph would do again"
_FILES, _CLOCK, _BYTES = "a file", "a clock", "random bytes"
_THREAD = "which thread it is"
_PROCESS, _OTHERS = "the state of the process", "what comes from elsewhere"
# Functions of the interpreter's own modules, and what they read.
_SYSTEM = {
    "open": _FILES,
    "read": _FILES,
    "pread": _FILES,
    "readv": _FILES,
    "stat": _FILES,
    "lstat": _FILES,
    "fstat": _FILES,
    "access": _FILES,
    "listdir": _FILES,
    "scandir": _FILES,
    "readlink": _FILES,
    "urandom": _BYTES,
    "getrandom": _BYTES,
    "times": _CLOCK,
    "getcwd": _PROCESS,
    "getcwdb": _PROCESS,
    "getloadavg": _PROCESS,
    "getppid": _PROCESS,
    "umask": _PROCESS,
    "get_terminal_size": _PROCESS,
    "waitpid": _OTHERS,
    **dict.fromkeys(
        (
            "write",
            "pwrite",
            "writev",
            "truncate",
            "ftruncate",
            "fsync",
            "remove",
            "unlink",
            "rename",
            "replace",
            "link",
            "symlink",
            "mkdir",
            "rmdir",
            "chmod",
            "chown",
            "utime",
        ),
        _FILES,
    ),
    **dict.fromkeys(("chdir", "putenv", "unsetenv"), _PROCESS),
    **dict.fromkeys(("kill", "system", "fork"), _OTHERS),
}
_FUNCTIONS = {
    "posix": _SYSTEM,
    "nt": _SYSTEM,
    "io": {"open": _FILES},
    "_io": {"open": _FILES},
    "builtins": {"input": _OTHERS},
    "time": dict.fromkeys(
        (
            "time",
            "time_ns",
            "perf_counter",
            "perf_counter_ns",
            "monotonic",
            "monotonic_ns",
            "process_time",
            "process_time_ns",
            "thread_time",
            "thread_time_ns",
            "clock_gettime",
            "clock_gettime_ns",
            "localtime",
            "gmtime",
            "ctime",
            "strftime",
            "sleep",
        ),
        _CLOCK,
    ),
    "_uuid": {"generate_time_safe": _BYTES, "UuidCreate": _BYTES},
    "_thread": dict.fromkeys(("get_ident", "get_native_id"), _THREAD),
    "_posixsubprocess": {"fork_exec": _OTHERS},
    "_winapi": {"CreateProcess": _OTHERS},
    "sys": dict.fromkeys(("getrecursionlimit", "getswitchinterval"), _PROCESS),
    "select": dict.fromkeys(("select", "poll"), _OTHERS),
}
# Methods of objects, by the module of their class.
_METHODS = {
    "datetime": dict.fromkeys(("now", "utcnow", "today"), _CLOCK),
    "_thread": {"locked": "a lock"},
    "_queue": dict.fromkeys(
        ("get", "get_nowait", "put", "put_nowait", "qsize", "empty"), "a queue"
    ),
    "_socket": dict.fromkeys(
        (
            "recv",
            "recv_into",
            "recvfrom",
            "recvmsg",
            "send",
            "sendall",
            "sendto",
            "sendmsg",
        ),
        _OTHERS,
    ),
}
_OF_FILES = {
    "read",
    "read1",
    "readall",
    "readinto",
    "readinto1",
    "readline",
    "readlines",
    "peek",
    "tell",
    "seek",
    "write",
    "writelines",
    "truncate",
    "getvalue",
    "getbuffer",
}
_NAMES = {
    name
    for table in (*_FUNCTIONS.values(), *_METHODS.values(), _OF_FILES)
    for name in table
}
# Modules that load others or tell people something: that is nobody's value.
_ASIDE = {"importlib", "linecache", "logging", "tokenize", "traceback", "warnings"}
# They ask for the thread while they write an object down.
_TEXTS = {"dataclasses", "reprlib"}


def _code_of_methods() -> dict:
    """Methods of the standard library that are written in Python."""
    found = {
        os._Environ.__getitem__.__code__: "the environment",
        os._Environ.__iter__.__code__: "the environment",
        os._Environ.__len__.__code__: "the environment",
    }
    for kind, names, what in (
        (threading.Event, ("is_set", "set", "clear"), "an event"),
        (threading.Semaphore, ("acquire", "release"), "a semaphore"),
        (threading.Thread, ("start",), "a thread"),
    ):
        found.update((getattr(kind, n).__code__, what) for n in names)
    optim = loaded("optim")
    if optim is not None:
        for base in (optim.Optimizer, optim.lr_scheduler.LRScheduler):
            for kind in _kinds_of(base):
                code = getattr(kind.state_dict, "__code__", None)
                found[code] = "the state of an optimizer"
    queues = sys.modules.get("queue")
    if queues is not None:
        names = ("get", "put", "qsize", "empty", "full")
        methods = [getattr(queues.Queue, name) for name in names]
        found.update((m.__code__, "a queue") for m in methods)
    return found


def _kinds_of(base: type):
    yield base
    for kind in base.__subclasses__():
        yield from _kinds_of(kind)


class Reads:
    """A context that raises an UnfitError in place of such calls.

    Args:
        environment: whether what the environment says is noticed otherwise.
    """

    def __init__(self, environment: bool) -> None:
        self._codes = _code_of_methods()
        if environment:
            self._codes = {
                code: what
                for code, what in self._codes.items()
                if what != "the environment"
            }
        self._found = ""

    def __enter__(self) -> Reads:
        self._before = sys.getprofile()
        # A profiler that is native cannot be brought back.
        if self._before is None or callable(self._before):
            sys.setprofile(self._see)
        return self

    def __exit__(self, *error) -> None:
        if self._before is None or callable(self._before):
            sys.setprofile(self._before)

    def check(self) -> None:
        """UnfitError again, should somebody have caught it."""
        if self._found:
            raise _state.UnfitError(_USES.format(self._found))

    def _see(self, frame, event: str, arg) -> None:
        what = None
        if event == "c_call":
            if arg.__name__ in _NAMES:
                what = _read_by(arg)
        elif event == "call":
            what = self._codes.get(frame.f_code)
            frame = frame.f_back if what else frame
        if what and not _is_aside(frame, what):
            self._found = what
            self.check()
        if self._before is not None:
            self._before(frame, event, arg)


def _read_by(function) -> str | None:
    """Tells what a native function or method reads."""
    owner, name = function.__self__, function.__name__
    if owner is None or isinstance(owner, types.ModuleType):
        return _FUNCTIONS.get(function.__module__, {}).get(name)
    if isinstance(owner, io.IOBase):
        # Texts that people are told are nobody's value.
        told = owner in (sys.stdout, sys.stderr) and name == "write"
        return _FILES if name in _OF_FILES and not told else None
    kind = owner if isinstance(owner, type) else type(owner)
    methods = [_METHODS.get(base.__module__, {}) for base in kind.__mro__]
    return next((m[name] for m in methods if name in m), None)


def _is_aside(frame, what: str) -> bool:
    """Tells whether a call is no business of the captured function: one of
    this package's own, unless it opens a file.
    """
    if frame.f_globals.get("__name__") in _TEXTS:
        return True
    # These run whenever there is garbage.
    callbacks = getattr(sys.modules.get("gc"), "callbacks", ())
    collecting = [getattr(c, "__code__", None) for c in callbacks]
    ours = None
    while frame is not None:
        top = (frame.f_globals.get("__name__") or "").partition(".")[0]
        if top in _ASIDE or frame.f_code in collecting:
            return True
        if ours is None and top not in sys.stdlib_module_names:
            ours = is_own(top)
            if ours and what != _FILES:
                return True
        frame = frame.f_back
    return False
