"""Runs tests in forked children, each with a limit.

A child runs tests until one fails: what that left behind (hooks, the default
dtype) shall not fail the next. After a crash or a hang the next child goes on.

A result is [name, status, seconds, exception, where]. Status: P passed, F
failed, E error, S skipped, X expected failure, C crash, H hang, T the file's
time was up.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
import traceback
import unittest

_BATCH = 200
# Between tests: fixtures of classes, and the child's start.
_MORE_SECONDS = 10


def name_of(test) -> str:
    """The name in results."""
    return f"{type(test).__name__}.{test._testMethodName}"


def _described(error, stem: str) -> tuple[str, str]:
    """The exception, and where it was: in the test and innermost."""
    kind, value, trace = error
    try:
        text = f"{kind.__name__}: {value}"
    except Exception as again:
        text = f"{kind.__name__}: <unprintable {type(again).__name__}>"
    cause = getattr(value, "__cause__", None)
    # Exceptions that the harness wraps say less than what it has caught.
    if cause is not None:
        if kind is Exception or "Caused by sample input" in text:
            text = f"{type(cause).__name__}: {cause} || {text}"
        trace = cause.__traceback__
    places = []
    with contextlib.suppress(Exception):
        places = [
            f"{os.path.basename(f.filename)}:{f.lineno}: {(f.line or '')[:110]}"
            for f in traceback.extract_tb(trace)
        ]
    tests = [p for p in places if p.startswith(f"{stem}.py")][-1:]
    return text[:700], " | ".join(tests + [p for p in places[-1:] if p not in tests])


class _Result(unittest.TestResult):
    """Sends what happens, a message each; the first bad news of a test counts.

    B begins a test, R is its result, K is about a class, Z ends the child.
    """

    def __init__(self, send, stem: str) -> None:
        super().__init__()
        self._send, self._stem = send, stem

    def startTest(self, test):  # noqa: N802
        super().startTest(test)
        self._start, self._status = time.time(), None
        self._text = ("", "")
        self._send("B", name_of(test))

    def _set(self, status, error=None, text=("", "")):
        if self._status in (None, "P"):
            self._status = status
            self._text = _described(error, self._stem) if error else text

    def stopTest(self, test):  # noqa: N802
        super().stopTest(test)
        status = self._status or "P"
        text = self._text if status != "P" else ("", "")
        seconds = round(time.time() - self._start, 3)
        self._send("R", name_of(test), status, seconds, *text)
        if status in ("F", "E"):
            self._send("Z")
            os._exit(0)

    def addSuccess(self, test):  # noqa: N802
        if self._status is None:
            self._status = "P"

    def addError(self, test, err):  # noqa: N802
        if hasattr(test, "_testMethodName"):
            self._set("E", err)
        else:
            self._send("K", str(test), _described(err, self._stem))

    def addFailure(self, test, err):  # noqa: N802
        self._set("F", err)

    def addSkip(self, test, reason):  # noqa: N802
        if hasattr(test, "_testMethodName"):
            self._set("S", text=(reason[:200], ""))
        else:
            self._send("K", str(test), ("SKIP " + reason, ""))

    def addExpectedFailure(self, test, err):  # noqa: N802
        self._set("X")

    def addUnexpectedSuccess(self, test):  # noqa: N802
        self._set("F", text=("unexpected success", ""))

    def addSubTest(self, test, subtest, err):  # noqa: N802
        if err is not None:
            failed = issubclass(err[0], test.failureException)
            self._set("F" if failed else "E", err)


def _child(tests: list, writer: int, stem: str) -> None:
    pipe = os.fdopen(writer, "w")
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)

    def send(*message):
        pipe.write(json.dumps(message) + "\n")
        pipe.flush()

    try:
        unittest.TestSuite(tests).run(_Result(send, stem))
    except BaseException:
        send("K", "suite", _described(sys.exc_info(), stem))
    # Processes that a test has left behind hold the pipe open.
    send("D")
    os._exit(0)


class _Batch:
    """One child and what it has told so far."""

    def __init__(self, tests: dict, names: list[str], stem: str) -> None:
        reader, writer = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.setsid()
            os.close(reader)
            _child([tests[name] for name in names], writer, stem)
        os.close(writer)
        self._reader, self._names = reader, names
        self._done: set[str] = set()
        self._current: str | None = None
        self._since = time.time()
        self._about = None
        self._ended = self._after_failure = self._hung = False

    def run(self, limit: float, emit) -> None:
        """Waits for the child; each of its results goes to `emit`."""
        self._listen(limit, emit)
        os.close(self._reader)
        if self._hung:
            self._kill_group()
        _, status = os.waitpid(self._pid, 0)
        self._kill_group()  # what tests have left running
        for row in self._unfinished(limit, status):
            emit(*row)
            self._done.add(row[0])

    @property
    def done(self) -> set[str]:
        return self._done

    def _kill_group(self) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)

    def _listen(self, limit: float, emit) -> None:
        rest = b""
        while not self._ended:
            more = _MORE_SECONDS if self._current is None else 0
            left = limit + more - (time.time() - self._since)
            if left <= 0:
                self._hung = True
                return
            if not select.select([self._reader], [], [], left)[0]:
                continue
            data = os.read(self._reader, 1 << 16)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._hear(json.loads(line), emit)

    def _hear(self, message: list, emit) -> None:
        kind, *about = message
        if kind == "B":
            self._current, self._since = about[0], time.time()
        elif kind == "R":
            emit(*about)
            self._done.add(about[0])
            self._current, self._since = None, time.time()
        elif kind == "K":
            self._about = about
        else:
            self._ended, self._after_failure = True, kind == "Z"

    def _unfinished(self, limit: float, status: int) -> list[tuple]:
        """Describes tests that gave no result."""
        name = self._current
        if name is not None and name not in self._done:
            if self._hung:
                return [(name, "H", limit, "no end within the limit", "")]
            seconds = round(time.time() - self._since, 3)
            return [(name, "C", seconds, _ending(status), "")]
        rest = [n for n in self._names if n not in self._done]
        if not rest or (self._after_failure and not self._hung):
            return []
        if self._about is not None and not self._hung:
            # A class could not be set up.
            what, (text, where) = self._about
            kind = "S" if text.startswith("SKIP") else "E"
            return [(n, kind, 0, f"{what}: {text}"[:600], where) for n in rest]
        kind = "H" if self._hung else "C"
        return [(rest[0], kind, 0, f"between tests; status {status}", "")]


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"signal {signal.Signals(os.WTERMSIG(status)).name}"
    return f"exit status {os.WEXITSTATUS(status)}"


def run_tests(tests: dict, stem: str, limit: float, budget: float, emit) -> None:
    """Runs the tests in order; each result goes to `emit(*result)`.

    Args:
        tests: by name.
        stem: the file's name, for where exceptions were.
        limit: seconds for one test.
        budget: seconds for all; tests beyond are T.
    """
    start, todo = time.time(), list(tests)
    while todo:
        if time.time() - start > budget:
            for name in todo:
                emit(name, "T", 0, "the file's time was up", "")
            return
        batch = _Batch(tests, todo[:_BATCH], stem)
        batch.run(limit, emit)
        todo = [name for name in todo if name not in batch.done]
