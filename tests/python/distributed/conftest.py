"""Worlds of several processes, forked from the test's own."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from datetime import timedelta

import hotaru.distributed as dist
import pytest


class FailedRankError(Exception):
    """Error that a rank raised, as text."""


class World:
    """Runs f(rank) in as many processes, which have a default group."""

    def __init__(self, folder) -> None:
        self._folder = folder
        self._worlds = 0

    def __call__(self, size: int, f, timeout: float = 30, **kwargs) -> list:
        """Returns what each rank did; AssertionError if one raised or died."""
        outcomes = self.outcomes(size, f, timeout, **kwargs)
        for rank, outcome in enumerate(outcomes):
            assert not isinstance(outcome, FailedRankError), f"rank {rank}: {outcome}"
        return outcomes

    def outcomes(self, size: int, f, timeout: float = 30, **kwargs) -> list:
        """The same, with FailedRankError for a rank that raised or died."""
        self._worlds += 1
        path = str(self._folder / f"store{self._worlds}")
        children = []
        for rank in range(size):
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(read)
                self._run(rank, size, path, f, timeout, write, kwargs)
            os.close(write)
            children.append((pid, read))
        return [self._collect(*child) for child in children]

    def _run(self, rank, size, path, f, timeout, write, kwargs) -> None:
        """In the child, which ends here, whatever happens."""
        try:
            # A test that hangs ends here, without the other tests' handlers.
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            try:
                outcome = (True, self._in_world(rank, size, path, f, timeout, kwargs))
            except BaseException:
                outcome = False, traceback.format_exc()
            with os.fdopen(write, "wb") as pipe:
                pickle.dump(outcome, pipe)
        finally:
            os._exit(0)

    def _in_world(self, rank, size, path, f, timeout, kwargs):
        dist.init_process_group(
            "gloo",
            store=dist.FileStore(path, size),
            rank=rank,
            world_size=size,
            timeout=timedelta(seconds=timeout),
            **kwargs,
        )
        result = f(rank)
        if dist.is_initialized():
            dist.destroy_process_group()
        return result

    def _collect(self, pid: int, read: int):
        with os.fdopen(read, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(pid, 0)
        if not data:
            return FailedRankError(f"ended with status {status}")
        well, value = pickle.loads(data)
        return value if well else FailedRankError(value)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)
