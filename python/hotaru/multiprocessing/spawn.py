"""Several processes that run one function, watched together."""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
import traceback
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import wait
from pathlib import Path

from ._threads import _prctl_pr_set_pdeathsig

# Set to 1, fork servers are asked for all processes at once.
ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

_log = logging.getLogger("torch.multiprocessing.spawn")  # PyTorch's name
_log.addHandler(logging.NullHandler())
_PATIENCE = 30.0  # seconds for a process that was told to end


class ProcessException(Exception):  # noqa: N818  (PyTorch's name)
    """Base class: a process has failed.

    Attributes:
        msg: the text. error_index: which of the processes. error_pid: its id.
    """

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    @property
    def pid(self) -> int:
        """Older name of `error_pid`."""
        return self.error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised; the text has the traceback."""


class ProcessExitedException(ProcessException):
    """The process ended with another code than 0, or by a signal.

    Attributes:
        exit_code: negative for a signal. signal_name: its name, or None.
    """

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self):
        kind, arguments = super().__reduce__()
        return kind, (*arguments, self.exit_code, self.signal_name)


def _run(function, index: int, arguments: tuple, error_file: str) -> None:
    """Runs the function in a process, which ends when its parent does."""
    _prctl_pr_set_pdeathsig(signal.SIGINT)
    try:
        function(index, *arguments)
    except KeyboardInterrupt:
        pass
    except Exception:
        Path(error_file).write_text(traceback.format_exc(), "utf-8")
        raise SystemExit(1) from None


class ProcessContext:
    """The processes that `start_processes` has started.

    Args:
        processes: all started. error_files: where each leaves the traceback of
            what its function raises; no file stands for another end.
    """

    def __init__(self, processes: list, error_files: list[str]) -> None:
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {p.sentinel: i for i, p in enumerate(processes)}

    def pids(self) -> list[int]:
        """Their ids."""
        return [process.pid for process in self.processes]

    def join(
        self, timeout: float | None = None, grace_period: float | None = None
    ) -> bool:
        """Waits for one to end; True once all have ended.

        Args:
            timeout: at most so many seconds, without end by default.
            grace_period: where one has failed, so many seconds are left to the
                others before they are told to end, and then again before they
                are killed.

        Raises:
            ProcessRaisedException, ProcessExitedException: one has failed; the
                others have been ended.
        """
        if not self.sentinels:
            return True
        for sentinel in wait(list(self.sentinels), timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._end_all(grace_period)
                raise self._failure(index)
        return not self.sentinels

    def _end_all(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._join_all(grace_period)
        for process in filter(_is_alive, self.processes):
            _log.warning("Terminating process %s via signal SIGTERM", process.pid)
            process.terminate()
        # One that never runs Python's code does not see that signal.
        self._join_all(_PATIENCE if grace_period is None else grace_period)
        for process in filter(_is_alive, self.processes):
            _log.warning(
                "Unable to shutdown process %s via SIGTERM , forcefully "
                "exiting via SIGKILL",
                process.pid,
            )
            process.kill()
        for process in self.processes:
            process.join()

    def _join_all(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))

    def _failure(self, index: int) -> ProcessException:
        failed = self.processes[index]
        code, pid = failed.exitcode, failed.pid
        error_file = Path(self.error_files[index])
        if error_file.exists():
            text = (
                f"\n\n-- Process {index} terminated with the following error:\n"
                f"{error_file.read_text('utf-8')}"
            )
            return ProcessRaisedException(text, index, pid)
        if code >= 0:
            text = f"process {index} terminated with exit code {code}"
            return ProcessExitedException(text, index, pid, code)
        name = _signal_name(-code)
        text = f"process {index} terminated with signal {name}"
        return ProcessExitedException(text, index, pid, code, name)


def _is_alive(process) -> bool:
    return process.is_alive()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"<Unknown signal {number}>"


class SpawnContext(ProcessContext):
    """Older name of ProcessContext, with a warning."""

    def __init__(self, processes: list, error_files: list[str]) -> None:
        warnings.warn(
            "SpawnContext is renamed to ProcessContext since 1.4 release.", stacklevel=2
        )
        super().__init__(processes, error_files)


def start_processes(
    fn,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs fn(i, *args) in process i for each i in [0, nprocs).

    With the variable TORCH_MP_PARALLEL_START set to 1 and start_method
    "forkserver", processes are started all at once.

    Args:
        fn: a function; one that new processes can import, unless they fork.
        args: further arguments; tensors are shared.
        join: wait for all; otherwise returns a ProcessContext.
        daemon, start_method: as multiprocessing takes them.

    Raises:
        ProcessRaisedException, ProcessExitedException: a process failed.
    """
    context = multiprocessing.get_context(start_method)
    folder = tempfile.mkdtemp(prefix="hotaru-errors-")
    files = [os.path.join(folder, str(index)) for index in range(nprocs)]

    def start(index: int):
        process = context.Process(
            target=_run, args=(fn, index, args, files[index]), daemon=daemon
        )
        process.start()
        return process

    try:
        if start_method == "forkserver" and _starts_in_parallel():
            with ThreadPoolExecutor(max_workers=max(nprocs, 1)) as pool:
                processes = list(pool.map(start, range(nprocs)))
        else:
            processes = [start(index) for index in range(nprocs)]
    except BaseException:
        _remove(folder, os.getpid())
        raise
    started = ProcessContext(processes, files)
    weakref.finalize(started, _remove, folder, os.getpid())
    if not join:
        return started
    while not started.join():
        pass
    return None


def _starts_in_parallel() -> bool:
    return os.environ.get(ENV_VAR_PARALLEL_START, "0") == "1"


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # and not a process that was forked from it
        shutil.rmtree(folder, ignore_errors=True)


def spawn(
    fn,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """As `start_processes`, always in new processes.

    FutureWarning: another start method, which is not followed.
    """
    if start_method != "spawn":
        warnings.warn(
            "This method only supports start_method=spawn (got: "
            f"{start_method}).\nTo use a different start_method use:\n\t\t"
            " torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, "spawn")
