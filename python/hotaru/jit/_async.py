"""`fork` and `wait` where Python runs, rather than TorchScript."""

from __future__ import annotations

from ..futures import Future, check_some

__all__ = ["Future", "_fork", "_wait", "fork", "wait"]


def fork(func, *args, **kwargs) -> Future:
    """Calls `func` now; returns a complete future of its result.

    In TorchScript the same name starts `func` on the pool, to run beside its
    caller. An exception of `func` is raised here.
    """
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future):
    """The value of a future, once it is there; raises its exception.

    RuntimeError for None, TypeError for anything else but a future.
    """
    check_some(future)
    if not isinstance(future, Future):
        raise TypeError(f"wait(): expected a Future, not '{type(future).__name__}'")
    return future.wait()


_fork = fork
_wait = wait
