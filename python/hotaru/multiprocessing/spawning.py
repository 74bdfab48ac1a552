"""Several processes that run one function, watched together."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import traceback
from multiprocessing.connection import wait


class ProcessException(Exception):  # noqa: N818  (PyTorch's name)
    """Base class: a process has failed.

    Attributes:
        error_index: which of the processes. pid: its id.
    """

    def __init__(self, text: str, error_index: int, pid: int) -> None:
        super().__init__(text)
        self.msg = text
        self.error_index = error_index
        self.pid = pid


class ProcessRaisedException(ProcessException):
    """The function raised; the text has the traceback."""


class ProcessExitedException(ProcessException):
    """The process ended with another code than 0, or by a signal.

    Attributes:
        exit_code: negative for a signal. signal_name: its name, or None.
    """

    def __init__(self, text, error_index, pid, exit_code, signal_name=None):
        super().__init__(text, error_index, pid)
        self.exit_code = exit_code
        self.signal_name = signal_name


def _run(function, index: int, arguments: tuple, errors) -> None:
    try:
        function(index, *arguments)
    except KeyboardInterrupt:
        pass
    except Exception:
        errors.send(traceback.format_exc())
        raise SystemExit(1) from None


class ProcessContext:
    """The processes that `spawn` has started."""

    def __init__(self, processes: list, errors: list) -> None:
        self.processes = processes
        self._errors = errors

    def pids(self) -> list[int]:
        """Their ids."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Waits for one to end; True once all have ended.

        Raises:
            ProcessRaisedException, ProcessExitedException: one has failed; the
                others have been ended.
        """
        running = [p for p in self.processes if p.exitcode is None]
        by_sentinel = {process.sentinel: process for process in running}
        for sentinel in wait(list(by_sentinel), timeout) if running else []:
            by_sentinel[sentinel].join()
        for index, process in enumerate(self.processes):
            if process.exitcode not in (None, 0):
                self._fail(index)
        return all(process.exitcode == 0 for process in self.processes)

    def _fail(self, index: int) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join()
        failed = self.processes[index]
        code, pid = failed.exitcode, failed.pid
        with contextlib.suppress(EOFError):  # it left no text
            text = self._errors[index].recv()
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n"
                f"{text}",
                index,
                pid,
            )
        if code < 0:
            name = signal.Signals(-code).name
            text = f"process {index} terminated with signal {name}"
            raise ProcessExitedException(text, index, pid, code, name)
        text = f"process {index} terminated with exit code {code}"
        raise ProcessExitedException(text, index, pid, code)


def spawn(
    fn,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs fn(i, *args) in process i for each i in [0, nprocs).

    Args:
        fn: a function that the new processes can import.
        args: further arguments; tensors are shared.
        join: wait for all; otherwise returns a ProcessContext.
        daemon, start_method: as multiprocessing takes them.

    Raises:
        ProcessRaisedException, ProcessExitedException: a process failed.
    """
    context = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for index in range(nprocs):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_run, args=(fn, index, args, theirs), daemon=daemon
        )
        process.start()
        theirs.close()
        processes.append(process)
        errors.append(ours)
    started = ProcessContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None
