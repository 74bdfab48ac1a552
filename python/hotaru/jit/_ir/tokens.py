"""The words of graphs' text."""

from __future__ import annotations

import re

from ..._function_schema.excerpt import excerpt

_TOKEN = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*)
    |(?P<var>%[\w.]+)
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<arrow>->)
    |(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)
    |(?P<name>[A-Za-z_][\w.]*(?:::[A-Za-z_]\w*)*)
    |(?P<mark>[()\[\]{},:=?*<>^])""",
    re.VERBOSE,
)


class Tokens:
    """The words of a text, one after the other."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._words = []
        at = 0
        while at < len(source):
            found = _TOKEN.match(source, at)
            if not found:
                self._fail(f"unexpected character {source[at]!r}", at)
            if found.lastgroup != "skip":
                self._words.append((found.lastgroup, found[0], at))
            at = found.end()
        self._words.append(("end", "the end", len(source)))
        self._next = 0

    def _fail(self, what: str, at: int):
        raise RuntimeError(f"{what}:\n{excerpt(self._source, at, at + 1)}")

    def fail(self, what: str):
        self._fail(what, self._words[self._next][2])

    def place(self) -> tuple:
        _, word, at = self._words[self._next]
        line = self._source.count("\n", 0, at) + 1
        column = at - self._source.rfind("\n", 0, at) - 1
        shown = excerpt(self._source, at, at + len(word))
        return None, line, column, shown  # of no file

    def sees(self, *words: str) -> bool:
        return self._words[self._next][1] in words

    def kind(self) -> str:
        return self._words[self._next][0]

    def take(self, kind: str = "") -> str:
        found, word, _ = self._words[self._next]
        if kind and found != kind:
            self.fail(f"expected a {kind} but found '{word}' here")
        self._next += 1
        return word

    def accept(self, word: str) -> bool:
        seen = self.sees(word)
        self._next += seen
        return seen

    def expect(self, word: str) -> None:
        if not self.accept(word):
            found = self._words[self._next][1]
            self.fail(f"expected {word} but found '{found}' here")

    def several(self, closing: str, read) -> list:
        """Lists what `read` gives, between commas, up to `closing`."""
        out = []
        while not self.accept(closing):
            out.append(read())
            if not self.sees(closing):
                self.expect(",")
        return out
