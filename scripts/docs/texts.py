"""Descriptions of names, read from docs/reference/*.txt.

A file is a list of entries. An entry begins with names and a colon, then its first
sentence; indented lines below it go on with the text, or say one of these:

    shape: TEXT     dtype: TEXT     error: EXPRESSION     raises: TEXT
    example: STATEMENT              arg NAME: TEXT        see: NAMES

The first name is an operator's, without namespace, or a full name (`torch.jit.save`)
or a pattern of such (`*.forward`); further ones mean the same. `+` for a text keeps
that of the docstring. A line `[family]`
begins entries of a family whose `shape`, `dtype`, `raises` and `error` lines below it
hold for all of them; a shape or dtype of an entry's own takes the family's place, and
`OP` in an error is the operator. Examples and errors are run when the reference is
made, so what they show is true.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

_ENTRY = re.compile(r"(\S[^:]*?): +(.*)")
_DETAIL = re.compile(r"\s+(shape|dtype|error|raises|example|see|arg \w+): (.*)")


@dataclass
class Text:
    """The description of one name."""

    names: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    shape: str = ""
    dtype: str = ""
    raises: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    see: list[str] = field(default_factory=list)
    arguments: dict[str, str] = field(default_factory=dict)

    @property
    def first(self) -> str:
        """The first sentence."""
        return self.body[0] if self.body else ""

    def add(self, kind: str, value: str) -> None:
        """Notes a detail of the entry."""
        if kind in ("shape", "dtype"):
            setattr(self, kind, value)
        elif kind == "see":
            self.see += value.split()
        elif kind.startswith("arg "):
            self.arguments[kind[4:]] = value
        else:
            lists = {"raises": self.raises, "error": self.errors}
            lists.get(kind, self.examples).append(value)


class Texts:
    """All descriptions."""

    def __init__(self, folder: Path):
        self.by_name: dict[str, Text] = {}
        self.patterns: list[tuple[str, Text]] = []
        self.aliases: dict[str, str] = {}
        self.arguments: dict[str, str] = {}
        self.faults: list[str] = []
        for path in sorted(folder.glob("*.txt")):
            self._read(path)

    def _read(self, path: Path) -> None:
        family, text = Text(), None
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith("["):
                family, text = Text(), None
            elif line.startswith(" "):
                detail = _DETAIL.fullmatch(line)
                target = text or family
                if detail:
                    target.add(detail[1], detail[2])
                elif text:
                    text.body.append(line.strip())
                else:
                    self.faults.append(f"{path.name}:{number}: belongs to no entry")
            elif entry := _ENTRY.fullmatch(line):
                names = entry[1].split()
                text = replace(
                    Text(names, [entry[2]], family.shape, family.dtype),
                    raises=[*family.raises],
                    errors=[*family.errors],
                    see=[*family.see],
                )
                self._keep(text, path.name == "arguments.txt", f"{path.name}:{number}")
            else:
                self.faults.append(f"{path.name}:{number}: no entry")

    def _keep(self, text: Text, arguments: bool, where: str) -> None:
        for name in text.names:
            if arguments:
                self.arguments[name] = text.first
            elif "*" in name:
                self.patterns.append((name, text))
            elif name in self.by_name:
                self.faults.append(f"{where}: {name} is described twice")
            else:
                self.by_name[name] = text
                self.aliases[name] = text.names[0]

    def find(self, *names: str) -> Text | None:
        """The description of the first name that has one."""
        for name in names:
            if name in self.by_name:
                return self.by_name[name]
        for name in names:
            for pattern, text in self.patterns:
                if fnmatchcase(name, pattern):
                    return text
        return None
