"""Pages of the repository as the site takes them: names, links, lists.

A page keeps its text. Its links are led to where pages lie on the site, or out of
it, and lists get the blank lines and the four columns that Python-Markdown asks
for where GitHub does not.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import NamedTuple

from outside import Outside

# Pages of the root under other names; those of docs/ lie in the site's root.
_NAMED = {"README.md": "index.md", "docs/README.md": "contents.md"}
_FOLDERS = ("docs/", "bench/notes/")
_LINK = re.compile(r"(?<!\\)(\]\()([^()\s]+)((?:\s\"[^\"]*\")?\))")
_NAMED_LINK = re.compile(r"(?<!!)\[([\w./-]+\.md)\]\(([^()\s]+)\)")
_SOURCE = re.compile(r"(\b(?:src|href)=\")([^\"]+)(\")")
_CODE = re.compile(r"(`+)(?:.+?)\1")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_FENCE = re.compile(r"\s*(?:```|~~~)")


class Page(NamedTuple):
    """A page of the repository and its place on the site."""

    source: str
    place: str


def place_of(name: str) -> str | None:
    """Where a file of Markdown lies on the site; None if it is no page of it."""
    if not name.endswith(".md"):
        return None
    if name in _NAMED:
        return _NAMED[name]
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    if "/" not in name:
        return name.lower()
    return name if name.startswith(_FOLDERS) else None


def title_of(text: str, place: str) -> str:
    """The title of a page, its first heading."""
    for line in text.splitlines():
        if line.startswith("# "):
            return line[2:].replace("`", "").strip()
    return posixpath.basename(place).removesuffix(".md")


def pages_of(names: list[str]) -> list[Page]:
    """The pages among the files of the repository."""
    found = []
    for name in names:
        if place := place_of(name):
            found.append(Page(name, place))
    return found


class Stage:
    """Writes pages into the folder that the generator reads."""

    def __init__(self, root: Path, folder: Path, names: list[str], outside: Outside):
        self.root, self.folder, self.outside = root, folder, outside
        self.names = set(names)

    def write(self, page: Page) -> None:
        """Writes one page with its links led anew."""
        text = (self.root / page.source).read_text(encoding="utf-8")
        target = self.folder / page.place
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            line if fenced else self._linked(page, line)
            for fenced, line in fenced_lines(listed(text.splitlines()))
        ]
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _linked(self, page: Page, line: str) -> str:
        """A line of prose with links led to their places."""

        def lead(found: re.Match) -> str:
            return found[1] + self._led(page, found[2]) + found[3]

        codes: list[str] = []

        def keep(found: re.Match) -> str:
            codes.append(found[0])
            return f"\0{len(codes) - 1}\0"

        plain = _CODE.sub(keep, line)
        plain = _NAMED_LINK.sub(lambda found: self._titled(page, found), plain)
        plain = _SOURCE.sub(lead, _LINK.sub(lead, plain))
        return re.sub(r"\0(\d+)\0", lambda found: codes[int(found[1])], plain)

    def _titled(self, page: Page, found: re.Match) -> str:
        """A link whose text is a page's file name gets the page's title."""
        path = found[2].partition("#")[0]
        name = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), path))
        if place_of(name) is None or name not in self.names:
            return found[0]
        text = (self.root / name).read_text(encoding="utf-8")
        return f"[{title_of(text, name)}]({found[2]})"

    def _led(self, page: Page, link: str) -> str:
        """The address of a link of this page on the site."""
        path, mark, anchor = link.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return link
        here = posixpath.dirname(page.source)
        name = posixpath.normpath(posixpath.join(here, path))
        if path.endswith("/") and f"{name}/README.md" in self.names:
            name += "/README.md"
        place = place_of(name) if name in self.names else None
        if place is None and name.startswith("docs/") and name in self.names:
            place = name.removeprefix("docs/")
        if place is None:
            return self.outside.link(name, page.place) + mark + anchor
        start = posixpath.dirname(page.place) or "."
        return posixpath.relpath(place, start) + mark + anchor


def fenced_lines(lines: list[str]):
    """Each line, and whether it belongs to a block of code."""
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
            yield True, line
        else:
            yield fenced, line


def listed(lines: list[str]) -> list[str]:
    """The same lines with lists as Python-Markdown reads them."""
    out: list[str] = []
    in_list, shift = False, 0
    for fenced, line in fenced_lines(lines):
        indent = len(line) - len(line.lstrip())
        if fenced:
            if _FENCE.match(line) and in_list and indent:
                shift = columns(indent) - indent
            out.append(" " * shift * bool(line.strip()) + line)
            continue
        shift = 0
        if _ITEM.match(line) and (in_list or indent < 4):
            if not in_list and out and out[-1].strip():
                out.append("")
            in_list = True
        elif (
            line.strip() and not indent and not (in_list and out[-1].strip())
        ) or line.startswith("#"):
            in_list = False
        if in_list and indent:
            line = " " * columns(indent) + line.lstrip()
        out.append(line)
    return out


def columns(indent: int) -> int:
    """Columns of Python-Markdown for an indent in a list of GitHub's."""
    return 4 * ((indent + 2) // 3 if indent < 4 else (indent + 1) // 2 - 1 or 1)
