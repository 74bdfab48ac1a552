"""The site's navigation, read from the tables of docs/README.md.

Each heading of that page is a tab, and the pages its table links to are below it in
the table's order. Folders of docs/ that the tables do not name (translations, "coming
from" pages) become tabs of their own.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from pages import Page, place_of, title_of

_LINK = re.compile(r"\]\(([^()\s#]+)[^()]*\)")
_TITLES = {
    "To use hotaru": "Use",
    "To change hotaru": "Change",
    "from": "Coming from",
    "ja": "日本語",
    "zh": "中文",
    "bench": "Notes",
    "decisions": "Decisions",
}
# Folders whose pages are reached from their own index page alone: too many.
_INDEXED = ("bench", "decisions")


class Navigation:
    """Collects the tabs of the site."""

    def __init__(self, root: Path, pages: list[Page]):
        self.root = root
        self.pages = {page.source: page for page in pages}
        self._seen: set[str] = set()

    def _entry(self, source: str) -> dict[str, str]:
        page = self.pages[source]
        self._seen.add(source)
        text = (self.root / source).read_text(encoding="utf-8")
        return {title_of(text, page.place): page.place}

    def _tabled(self) -> list[dict]:
        """Tabs by the headings of docs/README.md."""
        tabs: list[dict] = []
        text = (self.root / "docs/README.md").read_text(encoding="utf-8")
        for line in text.splitlines():
            if line.startswith("## "):
                title = line[3:].strip()
                tabs.append({_TITLES.get(title, title): []})
            for link in _LINK.findall(line) if tabs else ():
                source = posixpath.normpath(posixpath.join("docs", link))
                if source in self.pages and source not in self._seen:
                    [entries] = tabs[-1].values()
                    entries.append(self._entry(source))
        return tabs

    def _folders(self) -> list[dict]:
        """Tabs of folders that no table names."""
        folders: dict[str, list[str]] = {}
        for source, page in self.pages.items():
            head, slash, _ = page.place.partition("/")
            if slash and source not in self._seen and head not in _INDEXED:
                folders.setdefault(head, []).append(source)
        tabs = []
        for head, sources in sorted(folders.items()):
            sources.sort(key=lambda s: (not s.endswith("README.md"), s))
            title = _TITLES.get(head, head.replace("_", " ").capitalize())
            tabs.append({title: [self._entry(source) for source in sources]})
        return tabs

    def tabs(self, reference: list) -> list:
        """The whole navigation; `reference` is what the reference has below it."""
        self._seen.add("README.md")
        tables = self._tabled()
        tables[0]["Use"].insert(0, self._entry("docs/README.md"))
        out: list = [{"hotaru": place_of("README.md")}, *tables[:1]]
        out += [{"Reference": reference}] if reference else []
        return [*out, *self._folders(), *tables[1:]]
