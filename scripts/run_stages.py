"""Runs independent stages of a check side by side, so that no core idles.

Reads a table from standard input, a stage a line: its name, how long it may
take in seconds (an estimate, for the order) and its command, divided by tabs.
Stages run JOBS at a time, the longest first by what they took when they last
ran on this machine. What a stage prints goes to LOGS/NAME.log; one that fails
has its end shown. Exits with 1 if a stage failed.

    python scripts/run_stages.py JOBS LOGS <TABLE
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

TOOK = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    / "hotaru"
    / "stage_seconds.json"
)
SHOWN = 60  # lines of a stage that failed


@dataclass
class Stage:
    """One command of the table."""

    name: str
    seconds: float
    command: str


def read_table(lines: list[str], took: dict[str, float]) -> list[Stage]:
    """The stages, the longest first."""
    stages = []
    for line in filter(str.strip, lines):
        name, estimate, command = line.rstrip("\n").split("\t", 2)
        seconds = took.get(name, float(estimate))
        stages.append(Stage(name, seconds, command))
    return sorted(stages, key=lambda stage: -stage.seconds)


class Runner:
    """Takes stages from one list until it is empty, in several threads."""

    def __init__(self, stages: list[Stage], logs: Path) -> None:
        self.waiting = stages
        self.logs = logs
        self.lock = threading.Lock()
        self.took: dict[str, float] = {}
        self.failed: list[str] = []
        self.ended: list[float] = []

    def work(self) -> None:
        while True:
            with self.lock:
                if not self.waiting:
                    self.ended.append(time.monotonic())
                    return
                stage = self.waiting.pop(0)
            self.run(stage)

    def run(self, stage: Stage) -> None:
        log = self.logs / f"{stage.name}.log"
        began = time.monotonic()
        with log.open("wb") as out:
            status = subprocess.run(
                ["bash", "-c", stage.command],
                stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, check=False,
            ).returncode  # fmt: skip
        seconds = time.monotonic() - began
        with self.lock:
            self.took[stage.name] = round(seconds, 1)
            verdict = "done" if status == 0 else f"FAILED, status {status}"
            print(f"  {stage.name}: {verdict}, {seconds:.0f} s", flush=True)
            if status:
                self.failed.append(stage.name)
                lines = log.read_text(errors="replace").splitlines()[-SHOWN:]
                print("\n".join(f"    | {x}" for x in lines), flush=True)


def known_times() -> dict[str, float]:
    try:
        return json.loads(TOOK.read_text())
    except (OSError, ValueError):
        return {}


def main() -> int:
    jobs, logs = int(sys.argv[1]), Path(sys.argv[2])
    logs.mkdir(parents=True, exist_ok=True)
    runner = Runner(read_table(list(sys.stdin), known_times()), logs)
    threads = [threading.Thread(target=runner.work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    idle = sum(max(runner.ended) - end for end in runner.ended)
    print(f"  {idle:.0f} core seconds idle at the end", flush=True)
    TOOK.parent.mkdir(parents=True, exist_ok=True)
    TOOK.write_text(json.dumps({**known_times(), **runner.took}, indent=1))
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
