"""Reports of why a process failed: written by it, read by its launcher."""

from __future__ import annotations

import faulthandler
import functools
import json
import os
import random
import signal
import socket
import time
import traceback
from dataclasses import dataclass, field
from datetime import datetime

__all__ = [
    "ChildFailedError",
    "ErrorHandler",
    "ProcessFailure",
    "get_error_handler",
    "record",
]

_NOT_AVAILABLE = "<N/A>"
_HOW_TO = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"


@dataclass
class ProcessFailure:
    """A process that ended with an error, and its report, if it wrote one."""

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    error_file_data: dict = field(init=False)
    message: object = field(init=False)
    timestamp: int = field(init=False)

    def __post_init__(self) -> None:
        self.error_file_data = {
            "message": "<NONE>",
            "errorTraits": {
                "category": "system_terminated_error",
                "retryability": "False",
            },
        }
        self.message, self.timestamp = "", int(time.time())
        if os.path.isfile(self.error_file):
            with open(self.error_file) as file:
                self.error_file_data = json.load(file)
            self.message, self.timestamp = self._told()
        else:
            self.error_file = _NOT_AVAILABLE
        if not self.message:
            self.message = _HOW_TO
            if self.exitcode < 0:
                self.message = (
                    f"Signal {-self.exitcode} ({self.signal_name()}) received "
                    f"by PID {self.pid}"
                )

    def _told(self) -> tuple:
        """The report's message and time."""
        message = self.error_file_data["message"]
        if isinstance(message, str):
            stamp = self.error_file_data.get("timestamp", 0)
        else:
            stamp = message["extraInfo"]["timestamp"]
        return message, int(stamp)

    def signal_name(self) -> str:
        """Name of the signal that ended it, as "SIGKILL"."""
        if self.exitcode >= 0:
            return _NOT_AVAILABLE
        try:
            return signal.Signals(-self.exitcode).name
        except ValueError:
            return _NOT_AVAILABLE

    def timestamp_isoformat(self) -> str:
        """The time of the report, in this machine's."""
        return datetime.fromtimestamp(self.timestamp).isoformat(sep="_")


class ChildFailedError(Exception):
    """Processes of a launched program failed; the first one is the cause.

    Args:
        failures: by the processes' ranks.
    """

    def __init__(self, name: str, failures: dict) -> None:
        self.name, self.failures = name, failures
        if not failures:
            raise AssertionError("ChildFailedError: no process failed")
        super().__init__(self.format_msg())

    def get_first_failure(self) -> tuple:
        """The rank of the one that failed first, and its failure."""
        rank = min(self.failures, key=lambda r: self.failures[r].timestamp)
        return rank, self.failures[rank]

    def format_msg(self, boundary_delim="=", section_delim="-") -> str:
        """The text: the other failures, and the first."""
        root, _ = self.get_first_failure()
        others = [
            self._one(rank, i) for i, rank in enumerate(self.failures) if rank != root
        ]
        number = list(self.failures).index(root)
        title = f"{self.name} FAILED"
        width = max(len(title), 60)
        return "\n".join(
            [
                "",
                boundary_delim * width,
                title,
                section_delim * width,
                "Failures:",
                "\n".join(others) or "  <NO_OTHER_FAILURES>",
                section_delim * width,
                "Root Cause (first observed failure):",
                self._one(root, number),
                boundary_delim * width,
            ]
        )

    def _one(self, rank: int, number: int) -> str:
        failure = self.failures[rank]
        told = failure.message
        if isinstance(told, dict):
            told = told.get("extraInfo", {}).get("py_callstack", told)
        lines = str(told).split("\n")
        told = "\n".join([lines[0], *(f"    {line}" for line in lines[1:])])
        return (
            f"[{number}]:\n"
            f"  time      : {failure.timestamp_isoformat()}\n"
            f"  host      : {socket.getfqdn()}\n"
            f"  rank      : {rank} (local_rank: {failure.local_rank})\n"
            f"  exitcode  : {failure.exitcode} (pid: {failure.pid})\n"
            f"  error_file: {failure.error_file}\n"
            f"  traceback : {told}"
        )


class ErrorHandler:
    """Writer of a process's report into the file of $TORCHELASTIC_ERROR_FILE,
    if there is one.
    """

    def _path(self) -> str | None:
        return os.environ.get("TORCHELASTIC_ERROR_FILE")

    def initialize(self) -> None:
        """Has a crash of the process print where it was."""
        # Where standard error is no file of the system, it cannot.
        try:
            faulthandler.enable(all_threads=True)
        except (OSError, ValueError, AttributeError, RuntimeError):
            return

    def record_exception(self, e: BaseException) -> None:
        """Writes an exception with its stack."""
        path = self._path()
        if not path:
            return
        told = {
            "message": {
                "message": f"{type(e).__name__}: {e}",
                "extraInfo": {
                    "py_callstack": traceback.format_exc(),
                    "timestamp": str(int(time.time())),
                },
            }
        }
        with open(path, "w") as file:
            json.dump(told, file)

    def override_error_code_in_rootcause_data(
        self, rootcause_error_file: str, rootcause_error: dict, error_code=0
    ) -> None:
        """Puts the process's exit code into a report."""
        if "message" not in rootcause_error:
            return
        if isinstance(rootcause_error["message"], str):
            return
        rootcause_error["message"]["errorCode"] = error_code

    def dump_error_file(self, rootcause_error_file: str, error_code: int = 0) -> None:
        """Copies another process's report to this one's, or prints it."""
        with open(rootcause_error_file) as file:
            told = json.load(file)
        if error_code:
            self.override_error_code_in_rootcause_data(
                rootcause_error_file, told, error_code
            )
        path = self._path()
        if not path:
            print(json.dumps(told, indent=2))
            return
        if os.path.isfile(path):
            # One that is there already is kept beside it.
            os.replace(path, f"{path}.{random.randrange(2**32):08x}")
        with open(path, "w") as file:
            json.dump(told, file)


def get_error_handler() -> ErrorHandler:
    """A writer of reports."""
    return ErrorHandler()


def record(fn, error_handler: ErrorHandler | None = None):
    """The function, whose exceptions are also written for the launcher, and
    those of the processes that it launched handed on.
    """
    handler = error_handler or get_error_handler()

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as end:
            # Programs end so on purpose; with 0 the launcher goes on.
            if end.code == 0:
                return None
            raise
        except ChildFailedError as error:
            _, failure = error.get_first_failure()
            if failure.error_file != _NOT_AVAILABLE:
                handler.dump_error_file(failure.error_file, failure.exitcode)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise

    return wrapper
