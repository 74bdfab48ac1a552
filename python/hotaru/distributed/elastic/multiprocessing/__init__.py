"""Options of the processes that a launcher starts."""

from __future__ import annotations

import signal
from enum import IntFlag

from . import errors
from .errors import ProcessFailure

__all__ = [
    "DefaultLogsSpecs",
    "LogsSpecs",
    "ProcessFailure",
    "SignalException",
    "Std",
    "errors",
    "to_map",
]


class SignalException(Exception):  # noqa: N818
    """A signal that ends the launcher, and so its processes."""

    def __init__(self, msg: str, sigval: signal.Signals) -> None:
        super().__init__(msg)
        self.sigval = sigval


class Std(IntFlag):
    """Outputs of a process."""

    NONE = 0
    OUT = 1
    ERR = 2
    ALL = OUT | ERR

    @classmethod
    def from_str(cls, vm: str):
        """Outputs of a number, or of each process: "0:1,1:3".

        ValueError: it is neither.
        """
        if vm.isdigit():
            return cls._of(vm)
        pairs = [word.partition(":") for word in vm.split(",")]
        if not all(r.strip().isdigit() and colon for r, colon, _ in pairs):
            raise ValueError(
                f"{vm} does not match: <^\\d:[0123],|^[0123]$>: expected a "
                "number, or LOCAL_RANK:NUMBER,..."
            )
        return {int(rank): cls._of(v.strip()) for rank, _, v in pairs}

    @classmethod
    def _of(cls, text: str) -> Std:
        if text not in ("0", "1", "2", "3"):
            raise ValueError(f"{text} is none of 0, 1, 2, 3")
        return cls(int(text))


def to_map(val_or_map, local_world_size: int) -> dict:
    """The outputs of every process, of one for all or a dictionary."""
    if isinstance(val_or_map, Std):
        return dict.fromkeys(range(local_world_size), val_or_map)
    return {i: val_or_map.get(i, Std.NONE) for i in range(local_world_size)}


class LogsSpecs:
    """Outputs that are written to files, and those that are shown as well.

    Args:
        log_dir: the folder; None for one of temporary files.
        local_ranks_filter: processes whose outputs are shown; all.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        redirects=Std.NONE,
        tee=Std.NONE,
        local_ranks_filter: set | None = None,
    ) -> None:
        self._root_log_dir = log_dir
        self._redirects, self._tee = redirects, tee
        self._local_ranks_filter = local_ranks_filter

    @property
    def root_log_dir(self) -> str | None:
        """The folder."""
        return self._root_log_dir


class DefaultLogsSpecs(LogsSpecs):
    """The launcher's own form."""
