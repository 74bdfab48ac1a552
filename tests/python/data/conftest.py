"""Fixtures of tests that start worker processes."""

from __future__ import annotations

import multiprocessing.forkserver
import multiprocessing.resource_tracker
import signal
import time

import pytest
from worker_runs import SECONDS, named_memory, traces


@pytest.fixture(scope="module")
def worker_helpers():
    """The helpers of "spawn" and "forkserver" stay until the program ends."""
    multiprocessing.resource_tracker.ensure_running()
    multiprocessing.forkserver.ensure_running()


@pytest.fixture
def nothing_left():
    """No test may hang or leave processes, files or memory behind."""

    def hang(*_):
        raise TimeoutError(f"still running after {SECONDS} s")

    old = signal.signal(signal.SIGALRM, hang)
    signal.alarm(SECONDS)
    before, names = traces(), named_memory()
    try:
        yield
        assert traces() == before
        # Memory of programs beside this one comes and goes; what is left here
        # stays until the alarm.
        while named_memory() - names:
            time.sleep(0.01)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
