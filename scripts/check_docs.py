"""Checks the documentation: links, paths, names of variables, and length.

Pages are README.md and its like in the root, and everything below docs/ and
bench/notes. Of each page: every relative link leads to a file, and to a heading
of it where it names one; every path of the repository in `code`, and in
commands, exists. Pages below docs/ hold at most 3,000 words (tables that
scripts write, and benchmarks, may be longer), no line has more than 400
characters, and each can be reached from README.md or docs/README.md. Every
environment variable that the library reads is in the table of
docs/environment.md, and none else. Pages that sources name are there.

Prints each offence as `file:line: what is wrong` and exits with 1 if there was
one.

    python scripts/check_docs.py [--root FOLDER]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

MOST_WORDS = 3000
LONGEST_LINE = 400
# Pages that may be longer: figures, and tables that scripts write.
LONG_PAGES = {
    "docs/benchmarks.md",
    "docs/compatibility.md",
    "docs/conformance.md",
    "docs/conformance_tests.md",
    "docs/programs.md",
}
# Where a reader begins.
INDEXES = ("README.md", "docs/README.md")
ENVIRONMENT = "docs/environment.md"
# Folders of pages; other files of Markdown belong to nobody here.
PAGES = ("docs/", "bench/notes/")
# A path in a page is one below one of these, or below the page's own folder.
ROOTS = (
    "",
    "hotaru/",
    "hotaru/backend/",
    "hotaru/backend/cuda/",
    "hotaru/exchange/",
    "python/",
    "python/hotaru/",
    "libtorch/",
    "libtorch/include/",
    "tests/",
)
# First parts of names that are a build's, or a reader's own.
NOT_OURS = ("build", "build-asan", "build-tsan", "bench-out", "wheels")
# Paths of other projects, and of folders that the library makes.
FOREIGN = {
    *("cuda_fp16.h", "distributed/ddp", "hotaru/kernels", "include/hotaru_torch"),
    *("ctorch.cpp", "torch_api.cpp", "torch_api_generated.cpp"),
}
# A page whose table has the paths of PyTorch's tests.
FOREIGN_PATHS = "docs/conformance_tests.md"
# Endings that make a word with a slash a path; others may be `x/y`.
SUFFIXES = (
    *(".h", ".cpp", ".cu", ".py", ".md", ".txt", ".sh", ".cmake", ".svg"),
    *(".json", ".toml"),
)
SOURCE = re.compile(r"\w[\w-]*\.(?:h|cpp|cu)")
PRIVATE = re.compile(r"_\w+\.py")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)(?:\s\"[^\"]*\")?\)")
HEADING = re.compile(r"^#+\s+(.*?)\s*$")
COMMAND = re.compile(
    r"(?<![\w./<-])((?:bench|cli|examples|hotaru|scripts|tests)/[\w./-]*\w)"
)
PATH = re.compile(r"[\w.+{},*-]+(?:/[\w.+{},*-]+)+/?")


@dataclass
class Page:
    """A page's text, cut into what is checked."""

    name: str
    lines: list[str]
    # Without fenced code, and that alone: (number, line).
    prose: list[tuple[int, str]] = field(default_factory=list)
    fenced: list[tuple[int, str]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, root: Path, name: str) -> Page:
        """The page of a file."""
        text = (root / name).read_text(encoding="utf-8")
        page = cls(name, text.splitlines())
        fenced = False
        for number, line in enumerate(page.lines, 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif fenced:
                page.fenced.append((number, line))
            else:
                page.prose.append((number, line))
                if heading := HEADING.match(line):
                    page.anchors.add(anchor(heading[1]))
        return page


def anchor(heading: str) -> str:
    """The name by which links know a heading, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def alternatives(pattern: str) -> list[str]:
    """The names that one with `{a,b}` stands for."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    start, end = pattern[: found.start()], pattern[found.end() :]
    return [
        whole
        for part in found[1].split(",")
        for whole in alternatives(start + part + end)
    ]


class Files:
    """The files of the repository, and the folders that they make."""

    def __init__(self, names: list[str]):
        self.names = set(names)
        self.folders = {
            str(folder) for name in names for folder in PurePosixPath(name).parents
        }
        self.bases = {name.rpartition("/")[2] for name in names}
        self.stems = {name.rpartition(".")[0] for name in names}
        # First parts of paths, from the root and from what ROOTS has.
        self.firsts = {
            folder.removeprefix(root).partition("/")[0]
            for root in ROOTS
            for folder in self.folders
            if folder.startswith(root)
        }

    def has(self, name: str) -> bool:
        """True if there is a file or a folder of that name or pattern."""
        name = name.rstrip("/")
        if "*" not in name:
            return name in self.names or name in self.folders or name in self.stems
        return any(fnmatchcase(file, name) for file in self.names)

    def finds(self, path: str, page: str) -> bool:
        """Tells whether a path that stands in a page means something."""
        own = page.rpartition("/")[0] + "/"
        return all(
            any(self.has(root + name) for root in (*ROOTS, own))
            for name in alternatives(path)
        )


def broken_links(page: Page, pages: dict[str, Page], files: Files) -> list[str]:
    """Relative links that lead nowhere."""
    found = []
    for number, line in page.prose:
        for match in LINK.finditer(re.sub(r"`[^`]*`", "``", line)):
            target, _, heading = match[1].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            name = page.name
            if target:
                name = resolve(page.name, target)
                if name is None or not files.has(name):
                    found.append(f"{page.name}:{number}: no file {target}")
                    continue
            if heading and name in pages and heading not in pages[name].anchors:
                found.append(f"{page.name}:{number}: {name} has no heading {heading}")
    return found


def resolve(page: str, target: str) -> str | None:
    """A link's target from the root; None outside of the repository."""
    parts: list[str] = page.split("/")[:-1]
    for part in target.rstrip("/").split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def is_path(word: str, files: Files) -> bool:
    """Tells whether a word of code means a path of this repository."""
    first = word.partition("/")[0]
    if first in NOT_OURS or first.startswith("."):
        return False
    if PATH.fullmatch(word):
        return word.endswith(SUFFIXES) or (first in files.firsts and "." not in first)
    return False


def is_source(word: str) -> bool:
    """Tells whether a word of code is the name of a source of ours."""
    return bool(SOURCE.fullmatch(word) or PRIVATE.fullmatch(word))


def lost_paths(page: Page, files: Files) -> list[str]:
    """Paths and names of sources in code that are not there."""
    found = []
    # Notes are of their day, paths included.
    if page.name == FOREIGN_PATHS or page.name.startswith("bench/notes/"):
        return found
    for number, line in page.prose:
        for code in CODE.findall(line):
            word = code.split(":")[0] if ":" in code else code
            if word in FOREIGN:
                continue
            if is_path(word, files):
                if not files.finds(word, page.name):
                    found.append(f"{page.name}:{number}: no path {word}")
            elif is_source(word) and word not in files.bases:
                found.append(f"{page.name}:{number}: no source {word}")
    return found


def lost_in_commands(page: Page, files: Files) -> list[str]:
    """Paths from the root that commands and code in a page name."""
    if page.name.startswith("bench/notes/"):
        return []
    return [
        f"{page.name}:{number}: no path {word}"
        for number, line in page.fenced
        for word in COMMAND.findall(line)
        if word not in FOREIGN and not files.has(word)
    ]


def too_long(page: Page) -> list[str]:
    """Pages and lines beyond what a reader takes in."""
    found = [
        f"{page.name}:{number}: {len(line)} characters; {LONGEST_LINE} at most"
        for number, line in enumerate(page.lines, 1)
        if len(line) > LONGEST_LINE
    ]
    words = sum(len(line.split()) for line in page.lines)
    if (
        page.name.startswith("docs/")
        and page.name not in LONG_PAGES
        and words > MOST_WORDS
    ):
        found.append(f"{page.name}:1: {words} words; {MOST_WORDS} at most")
    return found


def unreached(pages: dict[str, Page]) -> list[str]:
    """Pages below docs/ to which no path of links leads from an index."""
    seen = set()
    pending = [name for name in INDEXES if name in pages]
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        for _, line in pages[name].prose:
            for match in LINK.finditer(line):
                target = resolve(name, match[1].partition("#")[0] or ".")
                if target in pages:
                    pending.append(target)
    return [
        f"{name}:1: no page leads here from {' or '.join(INDEXES)}"
        for name in sorted(pages)
        if name.startswith("docs/") and name not in seen
    ]


# --- environment variables ---------------------------------------------------

# Where the library and its command read them; elsewhere hotaru's own count.
READERS = ("hotaru/", "python/", "cli/", "libtorch/")
WORKERS = ("tests/", "bench/", "scripts/", "examples/")
# Names in them are examples.
OF_THIS_CHECK = ("scripts/check_docs.py", "tests/python/testing/test_docs_check.py")
NAME = r"[A-Z][A-Z0-9_]+[A-Z0-9]"
TOUCHES = re.compile(r"\bgetenv\(|\benviron\b|\bget_env\(")
DIRECT = re.compile(
    r"(?:getenv|environ(?:ment)?(?:\.get|\.setdefault)?|variable)"
    rf"\s*[(\[]\s*[\"']({NAME})[\"']"
)
LITERAL = re.compile(rf"[\"']({NAME})[\"']")
# Lists of names, which a loop asks for one after the other.
LISTED = re.compile(rf'\{{((?:"{NAME}"(?:, )?)+)\}}\)')
SHELL = re.compile(r"\$\{?(HOTARU_\w+)")
# A variable of many words; what else is written so in files that read some.
MANY_WORDS = re.compile(r"[A-Z0-9]+(?:_[A-Z0-9]+)+")
TYPES = re.compile(r"C_\w+|U?INT\d+_T")
NAMED = re.compile(r"(?<![\w/.])docs/[\w/-]+\.(?:md|svg|png)")
TABLED = re.compile(rf"`({NAME})`")


def is_worker(name: str) -> bool:
    """Tells whether a file is a source that may read the environment."""
    return (
        name.startswith((*READERS, *WORKERS))
        and name.endswith((".h", ".cpp", ".cu", ".py", ".sh"))
        and name not in OF_THIS_CHECK
    )


def names_read(name: str, text: str) -> set[str]:
    """The environment variables that a source reads."""
    if name.endswith(".sh") or name == "dev":
        return set(SHELL.findall(text))
    if not TOUCHES.search(text):
        return set()
    direct = set(DIRECT.findall(text))
    literal = set(LITERAL.findall(text))
    if not name.startswith(READERS):
        return {word for word in literal if word.startswith("HOTARU_")}
    for words in LISTED.findall(text):
        direct |= set(LITERAL.findall(words))
    return direct | {
        word
        for word in literal
        if MANY_WORDS.fullmatch(word) and not TYPES.fullmatch(word)
    }


def read_by_code(root: Path, files: Files) -> dict[str, str]:
    """Each variable that the code reads, and a place that does."""
    found: dict[str, str] = {}
    for name in sorted(files.names):
        if name != "dev" and not is_worker(name):
            continue
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        for word in names_read(name, text):
            line = text.count("\n", 0, text.find(word)) + 1
            found.setdefault(word, f"{name}:{line}")
    return found


def environment(root: Path, pages: dict[str, Page], files: Files) -> list[str]:
    """Variables that the table lacks, or that nobody reads."""
    if ENVIRONMENT not in pages:
        return [f"{ENVIRONMENT}:1: no such page"]
    code = read_by_code(root, files)
    tabled = {
        name: number
        for number, line in pages[ENVIRONMENT].prose
        if line.startswith("| `")
        for name in TABLED.findall(line.split("|")[1])
    }
    found = [
        f"{where}: {name} is not in {ENVIRONMENT}"
        for name, where in code.items()
        if name not in tabled
    ]
    sources = "\n".join(
        (root / name).read_text(encoding="utf-8", errors="replace")
        for name in files.names
        if name in ("dev", "pyproject.toml") or is_worker(name)
    )
    known = set(re.findall(NAME, sources))
    found += [
        f"{ENVIRONMENT}:{number}: nothing names {name}"
        for name, number in tabled.items()
        if name not in known
    ]
    return found


def named_by_sources(root: Path, files: Files) -> list[str]:
    """Pages and pictures of docs/ that sources name and that are gone."""
    found = []
    for name in sorted(files.names):
        if name != "dev" and not is_worker(name):
            continue
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        for match in NAMED.finditer(text):
            if match[0] not in files.names:
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: no page {match[0]}")
    return found


def tracked(root: Path) -> list[str]:
    """The repository's files, those that are not committed yet included."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
        cwd=root,
    )
    names = listed.stdout.splitlines()
    return [name for name in names if (root / name).exists()]


def check(root: Path, names: list[str]) -> list[str]:
    """All offences of a repository."""
    files = Files(names)
    pages = {
        name: Page.read(root, name)
        for name in names
        if name.endswith(".md") and ("/" not in name or name.startswith(PAGES))
    }
    found = []
    for page in pages.values():
        found += broken_links(page, pages, files)
        found += lost_paths(page, files) + lost_in_commands(page, files)
        found += too_long(page)
    found += unreached(pages) + named_by_sources(root, files)
    return found + environment(root, pages, files)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=Path())
    options = parser.parse_args()
    offences = check(options.root, tracked(options.root))
    for offence in offences:
        print(offence)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
