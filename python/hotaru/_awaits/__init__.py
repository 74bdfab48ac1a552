"""Calls that wait until somebody asks for their result.

Compiled code has such values, too: Await[T].
"""

from __future__ import annotations

import threading
import types

from .._own_names import no_member

_OWN = ("_function", "_args", "_results", "_lock")
_NO_FUNCTION = "Await constructed as awaitable_nowait does not have fn"


class _Await:
    """A call whose result is asked for later, or a value that is there.

    Attributes that it has not are those of the result, which is then made.
    Any number of threads may wait for one; one of them calls.
    """

    __class_getitem__ = classmethod(types.GenericAlias)
    _hotaru_await = True  # how the extension knows it

    def __init__(self, function, args: tuple) -> None:
        self._function = function
        self._args = args
        self._results: list = [args[0]] if function is None else []
        self._lock = threading.RLock()

    def fn(self):
        """The function. RuntimeError: there is none."""
        if self._function is None:
            raise RuntimeError(_NO_FUNCTION)
        return self._function

    def args(self) -> tuple:
        """Arguments of the call; the value itself where no call waits."""
        return self._args

    def is_nowait(self) -> bool:
        """True if no call waits: the value was given."""
        return self._function is None

    def _wait(self):
        with self._lock:
            if not self._results:
                self._results.append(self._function(*self._args))
            return self._results[0]

    def __getattr__(self, name: str):
        if name.startswith("__") or name in _OWN:
            raise no_member(_Await, name)
        return getattr(_awaitable_wait(self), name)


def _awaitable(func, *args, **kwargs) -> _Await:
    """A call of `func` that is made once, by the first who waits.

    RuntimeError for keyword arguments.
    """
    if kwargs:
        raise RuntimeError("_awaitable: keyword arguments are not supported")
    return _Await(func, args)


def _awaitable_nowait(value) -> _Await:
    """A value as the result of a call that is over."""
    return _Await(None, (value,))


def _awaitable_wait(aw: _Await):
    """The result; raises what the call raises, which is made anew then.

    TypeError for anything else than an awaitable.
    """
    if not isinstance(aw, _Await):
        raise TypeError(
            f"_awaitable_wait(): expected an _Await, not '{type(aw).__name__}'"
        )
    return aw._wait()
