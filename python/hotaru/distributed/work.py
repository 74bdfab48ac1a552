"""A collective that was begun."""

from __future__ import annotations

from datetime import timedelta

from .. import _C
from .._C import Tensor
from .options import milliseconds


class Work:
    """A collective that was begun.

    `wait` and every use of the tensors return when it is done.
    """

    def __init__(self, handle=None, result=(), after=()) -> None:
        self._handle = handle if handle is not None else _C._CollectiveWork()
        self._result = list(result)
        self._after = after  # events

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True when it is done; its error, or RuntimeError after `timeout`."""
        count = milliseconds(timeout)
        if count < 0:
            self._handle.wait()
        elif not self._handle.wait_for(timeout):
            raise RuntimeError("Operation timed out!")
        for event in self._after:
            event.synchronize()
        return True

    def synchronize(self) -> None:
        """The same as `wait`."""
        self.wait()

    def is_completed(self) -> bool:
        """True if it is done, or has failed."""
        return self._handle.done() and all(e.query() for e in self._after)

    def exception(self) -> BaseException | None:
        """Its error, once it is done."""
        if self.is_completed():
            try:
                self.wait()
            except Exception as error:
                return error
        return None

    def is_success(self) -> bool:
        """True if it is done and has not failed."""
        return self.is_completed() and self.exception() is None

    def result(self) -> list[Tensor]:
        """The tensors that are written."""
        return self._result

    def source_rank(self) -> int:
        """The rank of the group that a message came from."""
        return self._handle.source()

    def _source_rank(self) -> int:
        return self.source_rank()

    def get_future(self):
        """A Future of the tensors that are written."""
        if self._after:
            self.wait()
        return self._handle.future(self._result)
