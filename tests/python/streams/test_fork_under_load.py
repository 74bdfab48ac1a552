"""Processes that are forked while other threads compute.

A child has only the thread that forked. Whatever the others held then, its own
calls go through or fail at once: draws, gradients, graphs, compiled programs.
"""

import os
import signal
import threading
import time
import traceback

import pytest

import hotaru as torch
from hotaru import nn

FORKS = 12
SECONDS = 30


def _draws():
    torch.empty(200_000).normal_()
    torch.randperm(1000)


def _gradients():
    x = WEIGHT * 2
    (x @ x).sum().backward()
    WEIGHT.grad = None


def _graph():
    GRAPHED(torch.ones(8, 8))


def _capture():
    torch.compile(lambda x: x * 2 + 1)(torch.ones(4))


def _plus_one(x: int) -> int:
    return x + 1


def _script():
    torch.jit.script(_plus_one)(1)


def _queue():
    with torch.cpu.stream(torch.cpu.Stream()):
        torch.ones(100) * 2
    torch.cpu.synchronize()


def _parallel():
    torch.ones(1 << 20).sum()


def _printing():
    repr(torch.ones(3))


WEIGHT = torch.rand(8, 8, requires_grad=True)
GRAPHED = torch.compile(nn.Linear(8, 8).requires_grad_(False))
WORK = {
    f.__name__.strip("_"): f
    for f in (
        _draws,
        _gradients,
        _graph,
        _capture,
        _script,
        _queue,
        _parallel,
        _printing,
    )
}


def _leave_lost_calls():
    """Calls that were queued at the fork are lost, and that is said once."""
    try:
        torch.cpu.synchronize()
    except RuntimeError as error:
        if "fork" not in str(error):
            raise


def _ends(pid):
    """Waits for the child's end by itself; returns its status."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        threading.Event().wait(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "hangs"


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("name", WORK)
def test_children_of_a_busy_process(name):
    """Each kind of work goes on in another thread while children are made."""
    work = WORK[name]
    work()
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            work()

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(FORKS):
            pid = os.fork()
            if not pid:
                status = 1
                try:
                    _leave_lost_calls()
                    for other in WORK.values():
                        other()
                    status = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(status)
            assert _ends(pid) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_nothing_is_lost_of_a_stream_that_was_waited_for():
    """Its worker lingers a while for more, which is no work."""
    stream = torch.cpu.Stream()
    for _ in range(5 * FORKS):
        with torch.cpu.stream(stream):
            torch.ones(200, 200) @ torch.ones(200, 200)
        stream.synchronize()
        pid = os.fork()
        if not pid:
            status = 1
            try:
                stream.synchronize()
                status = 0
            finally:
                os._exit(status)
        assert _ends(pid) == 0
