"""Collectives that tell nobody when they are done, so that they are asked."""

from __future__ import annotations

import time
from datetime import timedelta

from ..futures import Future


class Polled:
    """Methods `Work` takes of one: a class has `wait()` and `done()`, too."""

    def wait_for(self, timeout: timedelta) -> bool:
        """Waits, and tells whether it is done before that."""
        end = time.monotonic() + timeout.total_seconds()
        while not self.done():
            if time.monotonic() > end:
                return False
            time.sleep(0.0002)  # nobody tells: it is asked
        return True

    def future(self, result) -> Future:
        """Future of the result, when it is done: it is waited for."""
        made: Future = Future()
        try:
            self.wait()
            made.set_result(result)
        except Exception as error:
            made.set_exception(error)
        return made
