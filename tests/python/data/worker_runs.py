"""Programs with worker processes, and the traces that they could leave."""

from __future__ import annotations

import gc
import multiprocessing
import os
import select
import subprocess
import sys

SECONDS = 120  # until a test counts as hanging

# One core is enough; that it is few for two workers need not be said.
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.path.dirname(__file__),
    "PYTHONWARNINGS": "ignore",
}


def run(program: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=ENVIRONMENT,
        **options,
    )


def _blocks() -> int:
    """Blocks of shared memory that this process maps."""
    with open("/proc/self/maps") as maps:
        return sum("memfd:hotaru" in line for line in maps)


def traces() -> tuple:
    """Traces that a loader could leave behind."""
    gc.collect()
    return (
        len(multiprocessing.active_children()),
        len(os.listdir("/proc/self/fd")),
        _blocks(),
    )


def named_memory() -> set[str]:
    """Names of shared memory and semaphores, of every program's."""
    return set(os.listdir("/dev/shm"))


def ended(pid: int) -> bool:
    """Waits until a process that is not a child of this one is gone."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(SECONDS * 1000))
    finally:
        os.close(handle)
