"""The code blocks of a page of Markdown, and what the page says of running them.

Comments of HTML before a block, which GitHub does not show, mark it:

    <!-- not run: REASON -->        the block is not run; the test counts reasons
    <!-- needs: NAME -->            it is run where Python has this package, or CUDA
    <!-- numbers vary: REASON -->   what is printed may differ in its numbers
    <!-- output varies: REASON -->  what is printed may differ altogether
    <!-- new program -->            names of the page's earlier blocks are forgotten
    <!-- file: NAME -->             the block is written to this file, which others run
    <!-- before:                    code that runs before the block, which makes
    model = torch.nn.Linear(4, 2)   what the block takes for granted
    -->

A block's language says what is done with it: `python` runs, `cpp` is compiled
without making code, one without a language holds commands or, after `>>>`, a
session of Python, and `text` is what the block before it printed, which is run
where that is.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
# Pages in other languages have the code of the English ones, which is run there.
TRANSLATED = ("ja", "zh")
FENCE = re.compile(r"^(\s*)```(\S*)\s*$")
MARK = re.compile(
    r"^\s*(not run|needs|numbers vary|output varies|before|file|new program)"
    r"(?::[ \t]*(.*))?$",
    re.S,
)
# Languages that nothing here runs, by their names on GitHub.
FOREIGN = ("cmake", "csharp", "fortran", "json", "rust", "toml", "yaml")
# Commands that the test runs; all others build, install or measure.
COMMAND = re.compile(r"(?:hotaru|python -m hotaru)(?:\s|$)")


@dataclass
class Block:
    """A block of code, where it stands, and the marks before it."""

    language: str
    text: str
    line: int  # of the page, where its text begins
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """One of program, session, commands, output, cpp and foreign."""
        if self.language in FOREIGN:
            return "foreign"
        if self.text.startswith(">>>"):
            return "session"
        kinds = {"python": "program", "cpp": "cpp", "text": "output"}
        return kinds.get(self.language, "commands")

    @property
    def numbers_vary(self) -> bool:
        """True if the page says that printed numbers differ."""
        return "numbers vary" in self.marks

    @property
    def reason(self) -> str | None:
        """Why the block is not run; None if it is."""
        if "not run" in self.marks:
            return self.marks["not run"]
        if (needed := self.marks.get("needs")) and not is_there(needed):
            return f"needs {needed}"
        if self.kind == "foreign":
            return f"in {self.language}"
        if self.kind == "commands" and not any(map(runs, commands(self.text))):
            return "builds, installs or measures"
        return None


@functools.cache
def is_there(name: str) -> bool:
    """Tells whether a package, or a CUDA device, is there."""
    if name == "CUDA":
        import hotaru

        return hotaru.cuda.is_available()
    return importlib.util.find_spec(name) is not None


def commands(text: str) -> list[tuple[str, str | None]]:
    """Commands and what the page shows of their output; None if nothing."""
    if not any(line.startswith("$ ") for line in text.splitlines()):
        joined = text.replace("\\\n", " ")
        lines = (line.strip() for line in joined.splitlines())
        return [(line, None) for line in lines if line and line[0] != "#"]
    found = []
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        joined = re.sub(r"\\\n\s*", " ", part)
        command, _, output = joined.partition("\n")
        found.append((command, output))
    return found


def runs(command: tuple[str, str | None]) -> bool:
    """Tells whether the test runs a command."""
    # An alias changes the environment of whoever runs the test.
    return bool(COMMAND.match(command[0])) and "hotaru alias" not in command[0]


def read_marks(comment: str) -> dict[str, str]:
    """The mark that a comment is; nothing if it is none."""
    found = MARK.match(comment.rstrip())
    if not found:
        return {}
    return {found[1]: textwrap.dedent(found[2] or "").strip("\n")}


def blocks_of(text: str) -> list[Block]:
    """A page's blocks in order."""
    found: list[Block] = []
    marks: dict[str, str] = {}
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if opening := FENCE.match(line):
            begin = at
            while not re.match(r"^\s*```\s*$", lines[at]):
                at += 1
            inner = textwrap.dedent("\n".join(lines[begin:at])) + "\n"
            block = Block(opening[2], inner, begin + 1, marks)
            if block.kind == "output" and found and found[-1].reason:
                block.marks.setdefault("not run", found[-1].reason)
            found.append(block)
            marks = {}
            at += 1
        elif line.lstrip().startswith("<!--"):
            begin = at - 1
            while "-->" not in lines[at - 1]:
                at += 1
            comment = "\n".join(lines[begin:at]).strip()
            marks = {**marks, **read_marks(comment[4:].partition("-->")[0])}
        elif line.strip():
            marks = {}
    return found


def page_names() -> list[str]:
    """Pages whose blocks are run, those without blocks left out."""
    docs = REPOSITORY / "docs"
    pages = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"]
    pages += sorted(docs.rglob("*.md"))
    names = [str(page.relative_to(REPOSITORY)) for page in pages]
    return [
        name
        for name in names
        if not name.startswith(tuple(f"docs/{language}/" for language in TRANSLATED))
        and blocks_of((REPOSITORY / name).read_text(encoding="utf-8"))
    ]


def page_blocks(name: str) -> list[Block]:
    """The blocks of a page by its name."""
    return blocks_of((REPOSITORY / name).read_text(encoding="utf-8"))
