"""Starting, watching and ending of the processes of one machine."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import timedelta
from pathlib import Path

from .stores import DistError, PrefixStore, TCPStore


class Failure(Exception):  # noqa: N818  (a program's, not this one's)
    """A process failed for good; the text says which and how."""


@dataclasses.dataclass
class Logs:
    """Where outputs go, by local rank: bit 1 is stdout, bit 2 stderr."""

    folder: Path | None = None
    redirected: dict[int | None, int] = dataclasses.field(default_factory=dict)
    shown: dict[int | None, int] = dataclasses.field(default_factory=dict)

    def bits(self, which: dict, rank: int) -> int:
        """For a rank."""
        return which.get(rank, which.get(None, 0))


def logs_of(folder: str | None, redirects: str, tee: str) -> Logs:
    """From the options; a folder is made where one is needed and not given."""
    chosen = _by_rank(redirects), _by_rank(tee)
    if not any(bits for which in chosen for bits in which.values()):
        return Logs()
    place = Path(folder or tempfile.mkdtemp(prefix="torchelastic_"))
    return Logs(place, *chosen)


def _by_rank(text: str) -> dict[int | None, int]:
    out: dict[int | None, int] = {}
    for part in str(text).split(","):
        rank, colon, bits = part.rpartition(":")
        value = int(bits)
        if not 0 <= value <= 3:
            raise ValueError(f"outputs are 0 to 3, not {value}")
        out[int(rank) if colon else None] = value
    return out


@dataclasses.dataclass
class Plan:
    """Plan of what to run, and where machines meet."""

    command: list[str]
    processes: int
    nodes: tuple[int, int]
    host: str
    port: int
    serves: bool
    node_rank: int | None
    job: str
    restarts: int = 0
    interval: float = 0.1
    patience: float = 30
    role: str = "default"
    logs: Logs = dataclasses.field(default_factory=Logs)
    meeting: timedelta = timedelta(minutes=15)
    last_call: float = 30


@dataclasses.dataclass
class Place:
    """This machine among the others."""

    node: int
    nodes: int
    first_rank: int
    world_size: int


class Worker:
    """One process of the program."""

    def __init__(
        self, plan: Plan, place: Place, local: int, attempt: int, errors: Path
    ):
        self.local_rank, self.rank = local, place.first_rank + local
        self.plan = plan
        self._files: list = []
        self._threads: list[threading.Thread] = []
        self.error_file = errors / f"attempt_{attempt}_rank_{local}.json"
        out, err = self._outputs(attempt)
        self.process = subprocess.Popen(
            plan.command, env=self._environment(place, attempt), stdout=out, stderr=err
        )
        self._show()

    def _environment(self, place: Place, attempt: int) -> dict[str, str]:
        plan = self.plan
        out = dict(os.environ)
        if plan.processes > 1:
            out.setdefault("OMP_NUM_THREADS", "1")
        out.update(
            LOCAL_RANK=str(self.local_rank),
            RANK=str(self.rank),
            GROUP_RANK=str(place.node),
            ROLE_RANK=str(self.rank),
            ROLE_NAME=plan.role,
            LOCAL_WORLD_SIZE=str(plan.processes),
            WORLD_SIZE=str(place.world_size),
            GROUP_WORLD_SIZE=str(place.nodes),
            ROLE_WORLD_SIZE=str(place.world_size),
            MASTER_ADDR=plan.host,
            MASTER_PORT=str(plan.port),
            TORCHELASTIC_RESTART_COUNT=str(attempt),
            TORCHELASTIC_MAX_RESTARTS=str(plan.restarts),
            TORCHELASTIC_RUN_ID=plan.job,
            TORCHELASTIC_USE_AGENT_STORE="True",
            TORCHELASTIC_ERROR_FILE=str(self.error_file),
        )
        return out

    def _outputs(self, attempt: int) -> list:
        """For stdout and stderr: inherited, a file, or a pipe to show, too."""
        logs, out = self.plan.logs, []
        for bit, name in ((1, "stdout"), (2, "stderr")):
            shown = logs.bits(logs.shown, self.local_rank) & bit
            if not shown and not (logs.bits(logs.redirected, self.local_rank) & bit):
                out.append(None)
                continue
            folder = logs.folder / self.plan.job / f"attempt_{attempt}"
            folder /= str(self.local_rank)
            folder.mkdir(parents=True, exist_ok=True)
            file = open(folder / f"{name}.log", "wb")  # noqa: SIM115
            self._files.append((name, file, shown))
            out.append(subprocess.PIPE if shown else file)
        return out

    def _show(self) -> None:
        for name, file, shown in self._files:
            if not shown:
                file.close()
                continue
            pipe = getattr(self.process, name)
            to = getattr(sys, name)
            prefix = f"[{self.plan.role}{self.local_rank}]:"
            thread = threading.Thread(
                target=_copy_lines, args=(pipe, file, to, prefix), daemon=True
            )
            thread.start()
            self._threads.append(thread)

    def finish(self) -> None:
        """After its end: what it wrote has been shown."""
        for thread in self._threads:
            thread.join()

    def reason(self) -> str:
        """How it failed, and what it wrote down of that."""
        code = self.process.returncode
        text = f"exitcode {code}"
        if code < 0:
            with contextlib.suppress(ValueError):
                text += f", {signal.Signals(-code).name}"
        try:
            said = json.loads(self.error_file.read_text())["message"]
            said = said["message"] if isinstance(said, dict) else said
            text += f": {said}"
        except (OSError, ValueError, KeyError):
            pass
        return (
            f"rank {self.rank} (local_rank {self.local_rank}, pid "
            f"{self.process.pid}): {text}"
        )


def _copy_lines(pipe, file, to, prefix: str) -> None:
    with pipe, file:
        for line in pipe:
            file.write(line)
            file.flush()
            to.write(prefix + line.decode(errors="replace"))
            to.flush()


class Agent:
    """Runs a plan. `run` is called once, in the main thread."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._stopped: int | None = None  # by which signal
        self._attempt = 0

    def run(self) -> None:
        """Until all processes of all machines have ended.

        Raises:
            Failure: one failed, and there are no restarts left.
        """
        before = {
            number: signal.signal(number, self._stop)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        }
        try:
            self._meet()
            # Folder of this user alone: nobody else can read or make its files.
            with tempfile.TemporaryDirectory(prefix="torchelastic_") as errors:
                while not self._run_once(Path(errors)):
                    self._attempt += 1
        except DistError as error:
            raise Failure(
                f"torch.distributed.run: the machines' store at "
                f"{self.plan.host}:{self.plan.port}: {error}"
            ) from error
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame) -> None:
        self._stopped = number

    def _meet(self) -> None:
        plan = self.plan
        store = TCPStore(
            plan.host,
            plan.port,
            is_master=plan.serves,
            timeout=plan.meeting,
            wait_for_workers=False,
        )
        plan.port = store.port
        self._store = PrefixStore(f"agents/{plan.job}", store)
        node = plan.node_rank
        if node is None:
            node = self._store.add("joined", 1) - 1
        else:
            self._store.add("joined", 1)
        self._store.set(f"node/{node}", str(plan.processes))
        count = self._count_nodes(node)
        if node >= count:
            raise Failure(
                f"torch.distributed.run: this is machine {node}, and the job "
                f"began with {count}"
            )
        sizes = [int(self._store.get(f"node/{i}")) for i in range(count)]
        self._place = Place(node, count, sum(sizes[:node]), sum(sizes))

    def _count_nodes(self, node: int) -> int:
        """How many machines take part: the first one says it."""
        least, most = self.plan.nodes
        if node == 0:
            begin = time.monotonic()
            while (joined := self._store.add("joined", 0)) < most:
                waited = time.monotonic() - begin
                if joined >= least and waited > self.plan.last_call:
                    break
                if waited > self.plan.meeting.total_seconds():
                    raise Failure(
                        f"torch.distributed.run: {joined} of {least} machines "
                        f"have come in {self.plan.meeting}"
                    )
                self._pause()
            self._store.set("count", str(min(joined, most)))
        return int(self._store.get("count"))

    def _pause(self) -> None:
        if self._stopped is not None:
            raise Failure(
                f"torch.distributed.run: ended by {signal.Signals(self._stopped).name}"
            )
        time.sleep(self.plan.interval)

    def _run_once(self, errors: Path) -> bool:
        """True if all went well; False if all are to be started again."""
        failed, done = f"failed/{self._attempt}", f"done/{self._attempt}"
        workers: list[Worker] = []
        try:
            for local in range(self.plan.processes):
                workers.append(
                    Worker(self.plan, self._place, local, self._attempt, errors)
                )
            told = False
            while True:
                codes = [w.process.poll() for w in workers]
                bad = [w for w, code in zip(workers, codes, strict=True) if code]
                if bad:
                    for worker in bad:
                        worker.finish()
                    # Who failed first is the cause of the others.
                    self._store.compare_set(
                        failed, "", "\n".join(w.reason() for w in bad)
                    )
                if self._store.check([failed]):
                    return self._start_again(self._store.get(failed).decode())
                if not told and all(code == 0 for code in codes):
                    told = True
                    self._store.add(done, 1)
                if told and self._store.add(done, 0) >= self._place.nodes:
                    self._leave()
                    return True
                self._pause()
        finally:
            self._end(workers)

    def _leave(self) -> None:
        """The store's machine goes last."""
        self._store.add("left", 1)
        while self.plan.serves and self._place.nodes > 1:
            if self._store.add("left", 0) >= self._place.nodes:
                break
            self._pause()

    def _start_again(self, reason: str) -> bool:
        left = self.plan.restarts - self._attempt
        text = f"torch.distributed.run: {reason}"
        if left <= 0:
            raise Failure(f"{text}\nThe other processes were ended.")
        print(f"{text}\nStarting again; {left - 1} more times.", file=sys.stderr)
        return False

    def _end(self, workers: list[Worker]) -> None:
        for worker in workers:
            if worker.process.poll() is None:
                worker.process.terminate()
        deadline = time.monotonic() + self.plan.patience
        for worker in workers:
            try:
                worker.process.wait(max(deadline - time.monotonic(), 0.01))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            worker.finish()
