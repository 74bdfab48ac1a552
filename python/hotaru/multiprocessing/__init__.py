"""Python's `multiprocessing`, with tensors that processes share.

The same names as the standard module. A tensor sent through a queue or a pipe,
or given to a process, is moved into shared memory and only its descriptor
travels: what either side writes, the other sees. The memory has no name; it
goes when the last process lets go of it, however that ends. A process that
sends a tensor has to live until the tensor was received.
"""

from __future__ import annotations

import multiprocessing as _standard
from multiprocessing import *

from .._alias.interpreter import is_installed as _is_installed
from . import reductions
from ._threads import _get_thread_name, _prctl_pr_set_pdeathsig, _set_thread_name
from .spawn import (
    ENV_VAR_PARALLEL_START,
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

reductions.register()


def _pass_the_alias_on() -> None:
    """Children that run this program's file again find its `torch`, too."""
    from multiprocessing import spawn as standard

    plain = standard.get_command_line

    def command(**arguments):
        line = plain(**arguments)
        at = line.index("-c")
        return [*line[:at], "-m", "hotaru", *line[at:]]

    standard.get_command_line = command
    _standard.set_forkserver_preload([f"{__package__}.aliased", "__main__"])


if _is_installed():
    _pass_the_alias_on()

__all__ = [
    *_standard.__all__,
    "ENV_VAR_PARALLEL_START",
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "_get_thread_name",
    "_prctl_pr_set_pdeathsig",
    "_set_thread_name",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]


def get_all_sharing_strategies() -> set[str]:
    """The names of the ways in which memory is passed on."""
    return {"file_descriptor", "file_system"}


_strategy = "file_descriptor"


def get_sharing_strategy() -> str:
    """The name that was set last."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Takes the names of PyTorch's ways; memory travels as a descriptor by
    either, and has no name in a file system that could be left behind.

    ValueError for anything else.
    """
    global _strategy
    if new_strategy not in get_all_sharing_strategies():
        raise ValueError(
            f"sharing strategy {new_strategy!r} is not supported; there are "
            "'file_descriptor' and 'file_system'"
        )
    _strategy = new_strategy
