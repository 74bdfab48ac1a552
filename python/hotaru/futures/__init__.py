"""Futures: values that another thread provides."""

from __future__ import annotations

from .._C import Future, _collect_all

__all__ = ["Future", "collect_all", "wait_all"]

Future.__module__ = __name__


def _refuse_to_pickle(self, protocol):
    raise RuntimeError("Can not pickle torch.futures.Future")


Future.__reduce_ex__ = _refuse_to_pickle


def check_some(future) -> None:
    if future is None:
        raise RuntimeError("Future can't be None")


def collect_all(futures: list[Future]) -> Future[list[Future]]:
    """A future that is complete when all of the given ones are.

    Its value is the list of them. It fails with the exception of the first
    that fails, without waiting for the others. RuntimeError for None,
    TypeError for anything else but futures.
    """
    futures = list(futures)
    for future in futures:
        check_some(future)
        if not isinstance(future, Future):
            raise TypeError(
                f"collect_all(): expected Futures, not '{type(future).__name__}'"
            )
    return _collect_all(futures)


def wait_all(futures: list[Future]) -> list:
    """The values of all futures, in order.

    Raises the exception of the first that fails, as soon as it does.
    """
    return [future.wait() for future in collect_all(futures).wait()]
