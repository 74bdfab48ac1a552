"""The worker processes of one iterator, seen from the parent."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
import warnings
import weakref
from collections import deque
from pickle import PicklingError

from ....cpu import synchronize
from .channel import Channel, pair
from .worker import Job, main

# How long workers may finish what they do when nobody needs it any more.
_PATIENCE_S = 5.0

# The parent's ends. A forked worker closes those that it inherits, or it would
# keep other workers from seeing that the parent is gone.
_open_channels: weakref.WeakSet[Channel] = weakref.WeakSet()


class Pool:
    """Starts the workers, passes messages, notices when one dies.

    Args:
        context: of multiprocessing.
        job: what each worker does.
        timeout: seconds that `receive` waits at most; 0 has no limit.
    """

    def __init__(self, context, job: Job, timeout: float) -> None:
        self._timeout = timeout
        self._pid = os.getpid()
        self.failed = False  # whether a worker was found dead
        self._closed = False
        self.processes = []
        self._channels: list[Channel] = []
        self._backlog = [deque() for _ in range(job.num_workers)]
        synchronize()  # what is queued on streams does not survive a fork
        try:
            for worker in range(job.num_workers):
                self._start(context, job, worker)
        except BaseException:
            self.shutdown()
            raise
        self._watches = [_Watch(process) for process in self.processes]

    def _start(self, context, job: Job, worker: int) -> None:
        ours, theirs = pair()
        channel = Channel(ours)
        self._channels.append(channel)
        _open_channels.add(channel)
        forked = context.get_start_method() == "fork"
        process = context.Process(
            target=main,
            args=(job, worker, theirs, _open_channels if forked else ()),
            daemon=True,
        )
        try:
            with _interrupts_blocked():
                process.start()
        except (TypeError, AttributeError, PicklingError):
            warnings.warn(
                "Got pickle error when attempting to start a worker Process. "
                "This might be because the worker Process arguments are not "
                "picklable. Python 3.14+ changed the multiprocessing start "
                "method in non-Mac POSIX platforms to 'forkserver', which "
                "requires the worker Process arguments to be picklable. You "
                "can also try multiprocessing.set_start_method('fork').",
                stacklevel=6,
            )
            raise
        finally:
            theirs.close()
        self.processes.append(process)

    def send(self, worker: int, message) -> None:
        """Sends to one worker.

        That it is dead is told by whoever waits for its answer, so that what
        it had sent before is not lost.
        """
        channel = self._channels[worker]

        def wait_for_room():
            # The worker may be waiting for room itself, so read meanwhile.
            events = self._poll({channel: select.POLLIN | select.POLLOUT})
            if events[channel] & select.POLLIN:
                self._backlog[worker].append(self._take(worker))

        with contextlib.suppress(ConnectionError):
            channel.send(message, wait_for_room)

    def receive(self, workers: list[int]):
        """The next message of any of these workers, and whose it is.

        Raises:
            RuntimeError: a worker is dead, or none has answered in time.
        """
        while True:
            for worker in workers:
                if self._backlog[worker]:
                    return worker, self._backlog[worker].popleft()
                with contextlib.suppress(BlockingIOError):
                    return worker, self._take(worker)
            self._poll({self._channels[i]: select.POLLIN for i in workers})

    def _take(self, worker: int):
        try:
            return self._channels[worker].receive(block=False)
        except EOFError:
            self._report([worker])

    def _poll(self, wanted: dict[Channel, int]) -> dict[Channel, int]:
        """Waits for events on channels, or for the death of any worker."""
        poll = select.poll()
        for channel, events in wanted.items():
            poll.register(channel, events)
        for watch in self._watches:
            poll.register(watch, select.POLLIN)
        limit = None if self._timeout <= 0 else self._timeout * 1000
        ready = dict(poll.poll(limit))
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        found = {c: ready.get(c.fileno(), 0) for c in wanted}
        # A dead worker's last messages come first.
        if not any(found.values()):
            dead = [i for i, w in enumerate(self._watches) if w.fileno() in ready]
            self._report(dead)
        return found

    def _report(self, workers: list[int]):
        """Raises what is known about dead workers."""
        self.failed = True
        dead = [self.processes[worker] for worker in workers]
        for process in dead:
            process.join(_PATIENCE_S)
        pids = ", ".join(str(process.pid) for process in dead)
        raise RuntimeError(
            f"DataLoader worker (pid(s) {pids}) exited unexpectedly"
        ) from _cause(dead[0])

    def shutdown(self) -> None:
        """Ends the workers and waits for them; may be called again.

        They get five seconds to notice before they are killed. In a process
        that was forked it only closes what that inherited.
        """
        if self._closed:
            return
        self._closed = True
        mine = os.getpid() == self._pid
        for channel in self._channels:
            channel.end() if mine else channel.close()
        if not mine:
            return
        end = time.monotonic() + _PATIENCE_S
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))
        for stop in ("terminate", "kill"):
            left = [p for p in self.processes if p.is_alive()]
            for process in left:
                getattr(process, stop)()
            for process in left:
                process.join(_PATIENCE_S)


@contextlib.contextmanager
def _interrupts_blocked():
    """Holds SIGINT back, also in a process that is started meanwhile.

    The worker lets it in again when it is ready to end quietly.
    """
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


class _Watch:
    """A descriptor that becomes readable when a process ends.

    The process's sentinel would not while a child of it lives.
    """

    def __init__(self, process) -> None:
        self._sentinel = process.sentinel
        self._own = -1
        with contextlib.suppress(AttributeError, OSError):
            self._own = os.pidfd_open(process.pid)

    def fileno(self) -> int:
        return self._sentinel if self._own < 0 else self._own

    def __del__(self) -> None:
        if self._own >= 0:
            os.close(self._own)


def _cause(process) -> RuntimeError | None:
    """How a process ended, as far as that is known."""
    code = process.exitcode
    who = f"DataLoader worker (pid {process.pid})"
    if code is None:
        return None
    if code < 0:
        name = signal.strsignal(-code) or f"number {-code}"
        return RuntimeError(f"{who} is killed by signal: {name}. ")
    return RuntimeError(
        f"{who} exited unexpectedly with exit code {code}. Details are lost "
        "due to multiprocessing. Rerunning with num_workers=0 may give better "
        "error trace."
    )
