"""`FileCheck`: what a text must contain, in which order.

A check is looked for behind what the check before it matched. The names are
those of LLVM's FileCheck; patterns are plain text, except a regex's.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from .. import _C
from .._function_schema.excerpt import excerpt

_KINDS = {
    "check": "CHECK",
    "next": "CHECK-NEXT",
    "same": "CHECK-SAME",
    "not": "CHECK-NOT",
    "dag": "CHECK-DAG",
    "count": "CHECK-COUNT",
    "exactly": "CHECK-COUNT-EXACTLY",
    "source": "CHECK-SOURCE-HIGHLIGHTED",
    "regex": "CHECK-REGEX",
}
_COMMENT = re.compile(r"^[^#\n]*#[ \t]*(CHECK.*)$", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"CHECK(?:-(COUNT-EXACTLY|COUNT|SOURCE-HIGHLIGHTED|NEXT|SAME|NOT|DAG|REGEX)"
    r"(?:-(\d+))?)?: (.*)$"
)


class _Span(NamedTuple):
    start: int
    end: int


class _Check(NamedTuple):
    kind: str
    pattern: str
    count: int = 1

    def __str__(self) -> str:
        count = f"-{self.count}" if self.kind in ("count", "exactly") else ""
        return f"{_KINDS[self.kind]}{count}: {self.pattern}"


class FileCheck:
    """Checks of a text: each method adds one and returns the object.

    `run` goes through them in order and raises RuntimeError for the first
    that does not hold. Not for use by several threads while checks are added.
    """

    __module__ = "torch._C"

    def __init__(self) -> None:
        self._checks: list[_Check] = []

    def _add(self, kind: str, pattern: str, count: int = 1) -> FileCheck:
        if not isinstance(pattern, str):
            raise TypeError(
                f"FileCheck: a pattern is a str, not {type(pattern).__name__}"
            )
        self._checks.append(_Check(kind, pattern, count))
        return self

    def check(self, str: str) -> FileCheck:
        """The text stands somewhere behind the last match."""
        return self._add("check", str)

    def check_next(self, str: str) -> FileCheck:
        """It stands on the line after that of the last match."""
        return self._add("next", str)

    def check_same(self, str: str) -> FileCheck:
        """It stands on the line of the last match, behind it."""
        return self._add("same", str)

    def check_not(self, str: str) -> FileCheck:
        """It does not stand between the last match and the next, or the
        end.
        """
        return self._add("not", str)

    def check_dag(self, str: str) -> FileCheck:
        """Checks of this kind in a row hold in any order."""
        return self._add("dag", str)

    def check_regex(self, str: str) -> FileCheck:
        """As `check`, by a regular expression."""
        return self._add("regex", str)

    def check_source_highlighted(self, str: str) -> FileCheck:
        """It stands there and the line below marks it, no more and no less,
        with tildes.
        """
        return self._add("source", str)

    def check_count(self, str: str, count: int, exactly: bool = False) -> FileCheck:
        """It stands there `count` times; if `exactly`, then no more before
        what the next check matches.

        RuntimeError: a count of 0 that need not be exact checks nothing.
        """
        if count == 0 and not exactly:
            raise RuntimeError("Count == 0 && !exactly doesn't do anything")
        if count:
            self._add("exactly" if exactly else "count", str, count)
        return self._add("not", str) if exactly else self

    def run(self, *args, checks_file=None, test_file=None, graph=None) -> None:
        """`run(text)`, or `run(checks_file, test_file)`, which adds to the
        checks those in the lines `# CHECK: text` of checks_file.

        A graph stands for its text. RuntimeError: a check does not hold, there
        are none, or a line cannot be read. TypeError: other arguments.
        """
        named = [v for v in (checks_file, test_file, graph) if v is not None]
        texts = [_as_text(value) for value in (*args, *named)]
        if len(texts) not in (1, 2):
            raise TypeError("FileCheck.run(): takes a text, or checks and text")
        checks = list(self._checks)
        if len(texts) == 2:
            checks += _read_checks(texts[0])
        if not checks:
            raise RuntimeError(
                "No checks have been added to this instance ofFilecheck! "
                "Check for bad input."
            )
        _Run(texts[-1]).all(checks)


def _as_text(value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, _C.Graph):
        return str(value)
    raise TypeError(
        "run(): incompatible function arguments. "
        f"It takes texts and graphs, not {type(value).__name__}"
    )


def _read_checks(text: str) -> list[_Check]:
    checks = []
    for line in _COMMENT.finditer(text):
        found = _DIRECTIVE.fullmatch(line[1])
        if not found or ("COUNT" in (found[1] or "")) != bool(found[2]):
            where = excerpt(text, line.start(1), line.end(1))
            raise RuntimeError(
                f"Could not parse check at:\n{where}Check for bad input."
            )
        name = f"CHECK-{found[1]}" if found[1] else "CHECK"
        kind = next(k for k, v in _KINDS.items() if v == name)
        count = int(found[2] or 1)
        if count == 0:
            raise RuntimeError(f"a count of 0 checks nothing: {line[1]}")
        checks.append(_Check(kind, found[3], count))
        if kind == "exactly":
            checks.append(_Check("not", found[3]))
    return checks


class _Run:
    """The checks of one text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def all(self, checks: list[_Check]) -> None:
        last = _Span(0, 0)
        absent: list[_Check] = []
        for kind, run in itertools.groupby(checks, lambda check: check.kind):
            if kind == "not":
                absent += run
                continue
            # Checks of any order are one match together.
            for group in [list(run)] if kind == "dag" else ([c] for c in run):
                span = self._match(group, last)
                self._all_absent(absent, last.end, span.start)
                absent, last = [], span
        self._all_absent(absent, last.end, len(self._text))

    def _match(self, group: list[_Check], last: _Span) -> _Span:
        check = group[0]
        if check.kind == "dag":
            return self._in_any_order(group, last.end)
        if check.kind in ("count", "exactly"):
            return self._several(check, last.end)
        if check.kind == "source":
            self._highlighted(check, last.end)
            return last
        if check.kind == "regex":
            return self._regex(check, last.end)
        span = self._find(check, last.end)
        if check.kind == "next":
            line_end = self._find(check, last.end, span.start, "\n")
            self._absent(check, line_end.end, span.start, "\n")
        elif check.kind == "same":
            self._absent(check, last.end, span.start, "\n")
        return span

    def _find(self, check, start, end=None, pattern=None) -> _Span:
        pattern = check.pattern if pattern is None else pattern
        end = len(self._text) if end is None else end
        at = self._text.find(pattern, start, end)
        if at < 0:
            shown = pattern.replace("\n", "\\n")
            raise RuntimeError(
                f'Expected to find "{shown}" but did not find it\n'
                "Searched string:\n"
                f"{excerpt(self._text, start, start)}From {check}\n"
            )
        return _Span(at, at + len(pattern))

    def _absent(self, check, start, end, pattern=None) -> None:
        pattern = check.pattern if pattern is None else pattern
        at = self._text.find(pattern, start, end)
        if at >= 0:
            shown = pattern.replace("\n", "\\n")
            raise RuntimeError(
                f'Expected to not find "{shown}" but found it\n'
                f"{excerpt(self._text, at, at + len(pattern))}From {check}\n"
            )

    def _all_absent(self, checks, start: int, end: int) -> None:
        for check in checks:
            self._absent(check, start, end)

    def _several(self, check: _Check, start: int) -> _Span:
        first = span = self._find(check, start)
        for _ in range(check.count - 1):
            span = self._find(check, span.end)
        return _Span(first.start, span.end)

    def _in_any_order(self, group: list[_Check], start: int) -> _Span:
        spans = [self._find(check, start) for check in group]
        return _Span(min(s.start for s in spans), max(s.end for s in spans))

    def _regex(self, check: _Check, start: int) -> _Span:
        try:
            found = re.compile(check.pattern).search(self._text, start)
        except re.error as error:
            raise RuntimeError(f"{error} in {check}") from None
        if not found:
            raise RuntimeError(
                f'Expected to find regex "{check.pattern}" but did not find '
                f"it\nSearched string:\n"
                f"{excerpt(self._text, start, start)}From {check}\n"
            )
        return _Span(*found.span())

    def _highlighted(self, check: _Check, start: int) -> None:
        """One place has marks below, and those just as long; the next check
        starts where this one did.
        """
        span = first = self._find(check, start)
        while not self._has_mark(span):
            at = self._text.find(check.pattern, span.end)
            if at < 0:
                raise RuntimeError(
                    f'Expected to find "{check.pattern}"highlighted but it is '
                    f"not.\n{excerpt(self._text, *first)}"
                )
            span = _Span(at, at + len(check.pattern))
        column, marks = self._marks(span)
        width = len(check.pattern)
        self._no_mark(check, marks, column - 1)
        self._no_mark(check, marks, column + width)

    def _marks(self, span: _Span) -> tuple[int, _Span]:
        """Where the text stands in its line, and the line below."""
        line = self._text.rfind("\n", 0, span.start) + 1
        end = self._text.find("\n", span.end)
        below = len(self._text) if end < 0 else end + 1
        below_end = self._text.find("\n", below)
        if below_end < 0:
            below_end = len(self._text)
        return span.start - line, _Span(below, below_end)

    def _has_mark(self, span: _Span) -> bool:
        column, marks = self._marks(span)
        width = span.end - span.start
        below = self._text[marks.start : marks.end]
        return below[column : column + width] == "~" * width

    def _no_mark(self, check: _Check, line: _Span, column: int) -> None:
        at = line.start + column
        if column >= 0 and at < line.end:
            self._absent(check, at, at + 1, "~")
