"""The tests of one file in children: crashes and hangs end only a child."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

CHILD = Path(__file__).parent / "child.py"
COLLECT = 300.0  # seconds within which a file has to be collected
GRACE = 20.0  # beyond a test's limit, before its child is killed


@dataclass
class Side:
    """One interpreter and what its children have in common."""

    python: str
    env: dict
    limit: float  # seconds of one test
    arguments: tuple[str, ...] = ()  # of pytest
    named: str = ""  # pattern that a test's name has


@dataclass
class Run:
    """Outcomes of the tests of one file."""

    tests: dict = field(default_factory=dict)  # name: outcome, seconds, error
    chosen: list = field(default_factory=list)
    collect: dict | None = None  # the error, where the file does not load
    found: int = 0
    seconds: float = 0.0  # of the processor


def _wait(child, out: Path, limit: float) -> tuple[int | None, float]:
    """(status or None for a hang, seconds of the processor)."""
    size, since, bound = -1, time.monotonic(), COLLECT
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage.ru_utime + usage.ru_stime
        now = out.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
            bound = limit + GRACE if now else COLLECT
        if time.monotonic() - since > bound:
            os.killpg(child.pid, signal.SIGKILL)
            _, _, usage = os.wait4(child.pid, 0)
            child.returncode = -signal.SIGKILL
            return None, usage.ru_utime + usage.ru_stime
        time.sleep(0.1)


def _read(lines: list[dict], run: Run) -> str | None:
    """Takes a child's lines; the test that was under way at its end."""
    begun = None
    for line in lines:
        if "chosen" in line:
            run.chosen, run.found = line["chosen"], line["of"]
        elif "begin" in line:
            begun = line["begin"]
        elif "test" in line:
            run.tests[line.pop("test")], begun = line, None
        elif "collect" in line:
            run.collect = run.collect or line
    return begun


def _stopped(said: str) -> dict:
    """The error of a child that has collected nothing, from what it printed."""
    lines = [x.strip() for x in said.splitlines() if x.strip()]
    told = [x for x in lines if "Error" in x] or lines[-1:] or ["ended"]
    return {"collect": told[-1][:300], "trace": said[-4000:]}


def _once(side: Side, folder: Path, file: str, how: list, run: Run) -> list:
    """One child; the tests that it was to run and did not."""
    with tempfile.TemporaryDirectory() as scratch:
        out, err = Path(scratch, "out"), Path(scratch, "err")
        out.touch()
        if isinstance(how[0], list):
            names = Path(scratch, "names")
            names.write_text("\n".join(how[0]), encoding="utf-8")
            how = ["--names", str(names)]
        command = [side.python, str(CHILD), file, str(out), *how]
        command += ["--limit", str(side.limit), f"--named={side.named}"]
        command += [f"--pytest={argument}" for argument in side.arguments]
        with open(err, "w", encoding="utf-8") as sink:
            child = subprocess.Popen(
                command,
                cwd=folder,
                env={**side.env, "TMPDIR": scratch},
                stdout=sink,
                stderr=sink,
                stdin=subprocess.DEVNULL,
                preexec_fn=os.setpgrp,
            )
            status, seconds = _wait(child, out, side.limit)
        lines = [json.loads(x) for x in out.read_text().splitlines()]
        said = err.read_text(errors="replace")
    run.seconds += seconds
    begun = _read(lines, run)
    if begun is None:
        if not (run.tests or run.collect or run.chosen):
            run.collect = _stopped(said)
        return []
    kind = "hang" if status is None else "crash"
    told = said.strip().splitlines()[-1:] or [""]
    run.tests[begun] = {
        "outcome": kind,
        "error": f"{kind} ({status}): {told[0][:200]}",
        "seconds": 0.0,
        "trace": said[-4000:],
    }
    return [name for name in run.chosen if name not in run.tests]


def _loop(side: Side, folder: Path, file: str, how: list, run: Run) -> Run:
    left = _once(side, folder, file, how, run)
    while left:
        left = _once(side, folder, file, [left], run)
    return run


def choose(side: Side, folder: Path, file: str, seed: int, count: int) -> Run:
    """Runs `count` tests of a file, the same ones for the same seed."""
    how = ["--choose", str(seed), str(count)]
    return _loop(side, folder, file, how, Run())


def repeat(side: Side, folder: Path, file: str, names: list[str]) -> Run:
    """Runs the named tests; one that the file has not is "absent"."""
    run = Run(chosen=names)
    _loop(side, folder, file, [names], run)
    for name in names:
        if name not in run.tests:
            error = (run.collect or {}).get("collect", "not collected")
            trace = (run.collect or {}).get("trace", "")
            run.tests[name] = {
                "outcome": "absent",
                "error": error,
                "seconds": 0.0,
                "trace": trace,
            }
    return run
