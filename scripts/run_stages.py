"""Runs independent stages of a check side by side, so that no core idles.

Reads a table from standard input, a stage a line: its name, how long it may
take in seconds (an estimate, for the order) and its command, divided by tabs.
Stages run JOBS at a time, the longest first by what they took when they last
ran on this machine. What a stage prints goes to LOGS/NAME.log; one that fails
has its end shown. Exits with 1 if a stage failed.

With SECONDS, what matters most comes first: an empty line divides the table
into groups, which run in their order. A stage that would not end within
SECONDS is left out, which LOGS/../left_out says, and the next run on this
machine begins with it. What never ran here is expected to take its estimate,
times how much slower than theirs the stages before it were.

    python scripts/run_stages.py JOBS LOGS [SECONDS] <TABLE
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hotaru"
TOOK = CACHE / "stage_seconds.json"
OWED = CACHE / "stages_owed.json"
SHOWN = 60  # lines of a stage that failed


@dataclass
class Stage:
    """One command of the table."""

    name: str
    command: str
    group: int
    estimate: float
    took: float | None  # when it last ran here


def read_table(lines: list[str], took: dict[str, float]) -> list[Stage]:
    """The stages, in the order of the table."""
    stages, group = [], 0
    for line in lines:
        if not line.strip():
            group += 1
            continue
        name, estimate, command = line.rstrip("\n").split("\t", 2)
        stages.append(Stage(name, command, group, float(estimate), took.get(name)))
    return stages


def in_order(stages: list[Stage], limited: bool, owed: list[str]) -> list[Stage]:
    """Sorts what is owed first, then the longest; where time is limited, the
    first group comes first.
    """
    return sorted(
        stages,
        key=lambda s: (
            s.name not in owed,
            s.group if limited else 0,
            -(s.took or s.estimate),
        ),
    )


class Runner:
    """Takes stages from one list in several threads, until it is empty or none
    of it would end before `until`.
    """

    def __init__(self, stages: list[Stage], logs: Path, until: float) -> None:
        self.waiting = stages
        self.logs = logs
        self.until = until
        self.lock = threading.Lock()
        self.took: dict[str, float] = {}
        self.estimates = 0.0  # of the stages that ended
        self.failed: list[str] = []
        self.ended: list[float] = []

    def expected(self, stage: Stage) -> float:
        """How long the stage will take, in seconds."""
        if stage.took is not None:
            return stage.took
        if not self.estimates:
            return stage.estimate
        slower = sum(self.took.values()) / self.estimates
        return stage.estimate * max(1.0, slower)

    def next_stage(self) -> Stage | None:
        left = self.until - time.monotonic()
        for at, stage in enumerate(self.waiting):
            if self.expected(stage) <= left:
                return self.waiting.pop(at)
        return None

    def work(self) -> None:
        while True:
            with self.lock:
                stage = self.next_stage()
                if stage is None:
                    self.ended.append(time.monotonic())
                    return
            self.run(stage)

    def run(self, stage: Stage) -> None:
        log = self.logs / f"{stage.name}.log"
        began = time.monotonic()
        with log.open("wb") as out:
            status = subprocess.run(
                ["bash", "-c", stage.command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        seconds = time.monotonic() - began
        with self.lock:
            self.took[stage.name] = round(seconds, 1)
            self.estimates += stage.estimate
            verdict = "done" if status == 0 else f"FAILED, status {status}"
            print(f"  {stage.name}: {verdict}, {seconds:.0f} s", flush=True)
            if status:
                self.failed.append(stage.name)
                lines = log.read_text(errors="replace").splitlines()[-SHOWN:]
                print("\n".join(f"    | {x}" for x in lines), flush=True)


def remembered(path: Path, otherwise):
    """Reads what an earlier run wrote."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return otherwise


def remember(path: Path, value) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1))


def leave_out(runner: Runner, owed: list[str]) -> None:
    """Says which stages had no time, and has the next run begin with them."""
    names = [stage.name for stage in runner.waiting]
    rest = [name for name in owed if name not in runner.took]
    remember(OWED, list(dict.fromkeys([*names, *rest])))
    if names:
        with (runner.logs.parent / "left_out").open("a") as out:
            print("no time was left for", *names, "(next run begins there)", file=out)


def main() -> int:
    jobs, logs = int(sys.argv[1]), Path(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else float("inf")
    logs.mkdir(parents=True, exist_ok=True)
    took, owed = remembered(TOOK, {}), remembered(OWED, [])
    stages = read_table(list(sys.stdin), took)
    stages = in_order(stages, seconds != float("inf"), owed)
    runner = Runner(stages, logs, time.monotonic() + seconds)
    threads = [threading.Thread(target=runner.work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    idle = sum(max(runner.ended) - end for end in runner.ended)
    print(f"  {idle:.0f} core seconds idle at the end", flush=True)
    remember(TOOK, {**took, **runner.took})
    leave_out(runner, owed)
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
