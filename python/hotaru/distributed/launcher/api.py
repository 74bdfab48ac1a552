"""`elastic_launch`: a function as several processes of this machine.

The launcher of programs, which has many machines meet, is
`torch.distributed.run`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ... import multiprocessing
from ...numa.binding import NumaOptions
from ..elastic.multiprocessing import DefaultLogsSpecs, LogsSpecs, Std
from ..elastic.multiprocessing.errors import ChildFailedError, ProcessFailure, record
from ..stores import TCPStore

__all__ = ["LaunchConfig", "elastic_launch", "launch_agent"]


@dataclass
class LaunchConfig:
    """Numbers of machines and processes, where they meet, how often failed
    ones start again.
    """

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: LogsSpecs | None = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "etcd"
    rdzv_configs: dict[str, Any] = field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str | None = None
    metrics_cfg: dict[str, str] = field(default_factory=dict)
    local_addr: str | None = None
    event_log_handler: str = "null"
    numa_options: NumaOptions | None = None
    signals_to_handle: str = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
    duplicate_stdout_filters: list[str] | None = None
    duplicate_stderr_filters: list[str] | None = None
    virtual_local_rank: bool = False
    shutdown_timeout: int | None = None

    def __post_init__(self) -> None:
        default_timeout = 900
        if self.rdzv_timeout != -1:
            self.rdzv_configs["timeout"] = self.rdzv_timeout
        else:
            self.rdzv_configs.setdefault("timeout", default_timeout)
        if self.logs_specs is None:
            self.logs_specs = DefaultLogsSpecs()


class elastic_launch:  # noqa: N801
    """Runs a function, or a command, as several processes.

    The processes find their ranks and each other in their environment, as
    those of `torch.distributed.run` do.

    Args:
        config: numbers of processes and of starts.
        entrypoint: a function of what this object is called with, or the path
            of a program, whose arguments these are.

    Raises:
        NotImplementedError: more than one machine, processors for each
            process, or outputs in files.
    """

    def __init__(self, config: LaunchConfig, entrypoint: Callable | str | None) -> None:
        self._config, self._entrypoint = config, entrypoint
        if config.max_nodes > 1:
            raise NotImplementedError(
                "elastic_launch: more than one machine; start the program by "
                "torch.distributed.run --nnodes on each"
            )
        if config.numa_options is not None:
            raise NotImplementedError(
                "elastic_launch: numa_options; start the program by numactl"
            )
        logs = config.logs_specs
        if logs._redirects not in (Std.NONE, {}) or logs._tee not in (Std.NONE, {}):
            raise NotImplementedError(
                "elastic_launch: outputs in files; torch.distributed.run "
                "--redirects or --tee has them"
            )

    def __call__(self, *args) -> dict[int, Any]:
        """Results of the processes by rank; of a command None.

        ChildFailedError: a process failed, in every try.
        """
        return launch_agent(self._config, self._entrypoint, list(args))


def launch_agent(
    config: LaunchConfig, entrypoint: Callable | str | None, args: list
) -> dict[int, Any]:
    """Runs the processes of `elastic_launch`."""
    if entrypoint is None:
        raise ValueError("launch_agent: expected a function or a command")
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    folder = Path(tempfile.mkdtemp(prefix="torchelastic_"))
    kept = False
    try:
        for attempt in range(config.max_restarts + 1):
            run = _Run(config, entrypoint, args, store.port, folder, attempt)
            failures = run.finish()
            if not failures:
                return run.results()
        # Programs read the reports after this has ended.
        kept = True
        name = getattr(entrypoint, "__qualname__", None) or str(entrypoint)
        raise ChildFailedError(name=name, failures=failures)
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


class _Run:
    """One try: processes that run beside each other."""

    def __init__(
        self, config, entrypoint, args, port: int, folder: Path, attempt: int
    ) -> None:
        self._config = config
        self._folder = folder / f"attempt_{attempt}"
        self._folder.mkdir()
        job = config.run_id or uuid.uuid4().hex
        # By local rank, which is the rank: there is one machine.
        self._processes: dict[int, _Process] = {}
        try:
            for rank in range(config.nproc_per_node):
                report = self._folder / f"{rank}.json"
                environment: dict[str, str] = {}
                environment.update(
                    LOCAL_RANK=str(rank),
                    RANK=str(rank),
                    GROUP_RANK="0",
                    ROLE_RANK=str(rank),
                    ROLE_NAME=config.role,
                    LOCAL_WORLD_SIZE=str(config.nproc_per_node),
                    WORLD_SIZE=str(config.nproc_per_node),
                    GROUP_WORLD_SIZE="1",
                    ROLE_WORLD_SIZE=str(config.nproc_per_node),
                    MASTER_ADDR=config.local_addr or "127.0.0.1",
                    MASTER_PORT=str(port),
                    TORCHELASTIC_RESTART_COUNT=str(attempt),
                    TORCHELASTIC_MAX_RESTARTS=str(config.max_restarts),
                    TORCHELASTIC_RUN_ID=job,
                    TORCHELASTIC_USE_AGENT_STORE="True",
                    TORCHELASTIC_ERROR_FILE=str(report),
                )
                self._processes[rank] = _Process(
                    config, entrypoint, args, environment, self._result(rank)
                )
        except BaseException:
            self._end()
            raise

    def _result(self, rank: int) -> Path:
        return self._folder / f"{rank}.result"

    def finish(self) -> dict[int, ProcessFailure]:
        """Waits for all, or for the first that fails: the others are ended."""
        try:
            while True:
                codes = {r: p.code() for r, p in self._processes.items()}
                failed = {r: c for r, c in codes.items() if c}
                if failed:
                    return {
                        rank: ProcessFailure(
                            local_rank=rank,
                            pid=self._processes[rank].pid,
                            exitcode=code,
                            error_file=str(self._folder / f"{rank}.json"),
                        )
                        for rank, code in failed.items()
                    }
                if None not in codes.values():
                    return {}
                time.sleep(self._config.monitor_interval)
        finally:
            self._end()

    def results(self) -> dict[int, Any]:
        """The functions' results."""
        found: dict[int, Any] = {}
        for rank in self._processes:
            path = self._result(rank)
            found[rank] = None
            if path.exists():
                with path.open("rb") as file:
                    found[rank] = pickle.load(file)
        return found

    def _end(self) -> None:
        patience = self._config.shutdown_timeout
        until = time.monotonic() + (30 if patience is None else patience)
        for process in self._processes.values():
            process.stop(kill=False)
        for process in self._processes.values():
            while process.code() is None and time.monotonic() < until:
                time.sleep(0.01)
            process.stop(kill=True)


class _Process:
    """A function or a program that runs with its own environment."""

    def __init__(
        self, config, entrypoint, args, environment: dict, result: Path
    ) -> None:
        self._command = self._child = None
        if isinstance(entrypoint, str):
            self._command = subprocess.Popen(
                [entrypoint, *map(str, args)], env={**os.environ, **environment}
            )
            self.pid = self._command.pid
            return
        context = multiprocessing.get_context(config.start_method)
        self._child = context.Process(
            target=_run_function,
            args=(entrypoint, tuple(args), environment, str(result)),
        )
        self._child.start()
        self.pid = self._child.pid

    def code(self) -> int | None:
        """The exit code; None while it runs."""
        if self._command is not None:
            return self._command.poll()
        return self._child.exitcode

    def stop(self, kill: bool) -> None:
        """Asks it to end, or ends it; then waits."""
        process = self._command or self._child
        if self.code() is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill() if kill else process.terminate()
        if kill:
            process.wait() if self._command is not None else process.join()


def _run_function(
    function: Callable, args: tuple, environment: dict, result: str
) -> None:
    """The body of a process."""
    os.environ.update(environment)

    @record
    @functools.wraps(function, assigned=("__name__",), updated=())
    def run():
        value = function(*args)
        with open(result, "wb") as file:
            pickle.dump(value, file)

    run()
    sys.stdout.flush()
