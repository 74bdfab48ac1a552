"""Chosen tests of one file under pytest: what came of each, a line at once.

    child.py FILE OUT --limit SECONDS (--choose SEED COUNT | --names NAMES)
                      [--named PATTERN] [--pytest ARGUMENT ...]

Its lines are JSON: {"chosen": [name ...]}, {"begin": name}, {"test": name,
"outcome": ..., "seconds": ..., "error": ..., "trace": ...} and, where the file
cannot be collected, {"collect": error, "trace": ...}. A child that ends after
"begin" and before "test" has crashed in that test.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import signal
import sys
import time
from pathlib import Path

import pytest

# Errors that, deep in a chain, are the cause of what was raised last.
_DEEP = ("ImportError", "ModuleNotFoundError", "AttributeError", "NameError")


class TooLong(BaseException):
    """More than a test's limit; no test catches it as an error of its own."""


def _expired(number, frame):
    raise TooLong("more than the limit of a test")


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines()]
    return next((line for line in lines if line), "")[:300]


def error_of(report) -> str:
    """The error that a report tells, in a line."""
    long = report.longrepr
    chain = getattr(long, "chain", None)
    if chain:
        crashes = [entry[1] for entry in chain if entry[1] is not None]
        if crashes:
            first = crashes[0].message
            deep = first.startswith(_DEEP)
            return _first_line(first if deep else crashes[-1].message)
    text = str(long)
    told = [x[1:].strip() for x in text.splitlines() if x.startswith("E ")]
    errors = [x for x in told if x.split(":")[0].endswith(("Error", "Warning"))]
    return _first_line((errors or told or [text.splitlines()[-1]])[0])


class Recorder:
    """The plugin that chooses tests and writes what came of them."""

    def __init__(self, options, out):
        self.options = options
        self.out = out
        self.parts: dict[str, tuple] = {}
        self.start = 0.0

    def say(self, **line) -> None:
        """A line, flushed: a crash loses none."""
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    def pytest_collectreport(self, report):
        """Tells that a file does not load."""
        if report.failed:
            trace = str(report.longrepr)[-4000:]
            self.say(collect=error_of(report), trace=trace)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        """Keeps the tests that are asked for, in their order."""
        named = re.compile(self.options.named)
        found = {
            item.nodeid: item
            for item in items
            if named.search(item.nodeid.partition("::")[2])
        }
        if self.options.names:
            names = Path(self.options.names).read_text(encoding="utf-8")
            kept = set(names.splitlines())
        else:
            seed, count = self.options.choose
            kept = sorted(found, key=lambda n: _rank(seed, n))[: int(count)]
            self.say(chosen=[n for n in found if n in kept], of=len(found))
            kept = set(kept)
        items[:] = [item for name, item in found.items() if name in kept]

    def pytest_runtest_logstart(self, nodeid, location):
        """Starts the clock of a test."""
        self.parts = {}
        self.start = time.monotonic()
        self.say(begin=nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Bounds the time of a test."""
        signal.signal(signal.SIGALRM, _expired)
        signal.setitimer(signal.ITIMER_REAL, self.options.limit)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def pytest_runtest_logreport(self, report):
        """Keeps the worst of setup, call and teardown."""
        outcome = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "xfail"
        error = trace = ""
        if outcome == "failed":
            error, trace = error_of(report), str(report.longrepr)[-4000:]
        self.parts.setdefault(outcome, (error, trace))

    def pytest_runtest_logfinish(self, nodeid, location):
        """Writes what came of a test."""
        order = ("failed", "xfail", "skipped", "passed")
        outcome = next((o for o in order if o in self.parts), "failed")
        error, trace = self.parts.get(outcome, ("no report", ""))
        seconds = round(time.monotonic() - self.start, 3)
        line = {"test": nodeid, "outcome": outcome, "seconds": seconds}
        if error:
            line |= {"error": error, "trace": trace}
        self.say(**line)


def _rank(seed: str, name: str) -> str:
    return hashlib.sha1(f"{seed} {name}".encode()).hexdigest()


def main() -> int:
    """Runs pytest in the current folder, the root of a library's sources."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("out")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--choose", nargs=2)
    parser.add_argument("--names")
    parser.add_argument("--named", default="")
    parser.add_argument("--pytest", action="append", default=[])
    options = parser.parse_args()
    # The library is the installed one, not a module beside this file.
    sys.path[:] = [p for p in sys.path if p != str(Path(__file__).parent)]
    arguments = [
        options.file,
        "--rootdir=.",
        "--quiet",
        "--override-ini=addopts=",
        "-pno:cacheprovider",
        "-pno:randomly",
        *options.pytest,
    ]
    with open(options.out, "a", encoding="utf-8") as out:
        recorder = Recorder(options, out)
        status = pytest.main(arguments, plugins=[recorder])
        recorder.say(end=int(status))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
