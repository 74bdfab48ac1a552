"""Looks for dead links in a built site: files and anchors of them.

    check_site.py FOLDER [--external FILE]

Prints each dead link as `page: link` and exits with 1 if there is one. Addresses of
other sites are not asked for, only that each names a host; --external writes them
into a file, each with a page that has it, for who has a network to ask them.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

_ADDRESS = re.compile(
    r"""<(?!link|base)\w[^<>]*?\s(?:href|src)=(?:"([^"]*)"|([^\s">]+))"""
)
_ANCHOR = re.compile(r"""\s(?:id|name)=(?:"([^"]*)"|([^\s">]+))""")


class Site:
    """A built site's pages with their anchors and links."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.links: dict[str, set[str]] = {}
        self.anchors: dict[str, set[str]] = {}
        for path in sorted(folder.rglob("*.html")):
            name = path.relative_to(folder).as_posix()
            text = path.read_text(encoding="utf-8")
            self.anchors[name] = {unescape(a or b) for a, b in _ANCHOR.findall(text)}
            self.links[name] = {unescape(a or b) for a, b in _ADDRESS.findall(text)}

    def dead(self) -> list[str]:
        """Links of pages that lead nowhere."""
        found = []
        files: dict[str, bool] = {}
        for name, links in self.links.items():
            if name == "404.html":  # its links are from the site's root
                continue
            for link in sorted(links):
                if re.match(r"[a-z]+:|//", link):
                    continue
                path, _, anchor = link.partition("#")
                path = unquote(path.partition("?")[0])
                here = posixpath.dirname(name)
                target = posixpath.normpath(posixpath.join(here, path or "."))
                target = name if not path else target
                if path.endswith("/") or target == ".":
                    target = posixpath.normpath(posixpath.join(target, "index.html"))
                if target not in files:
                    files[target] = (self.folder / target).is_file()
                if not files[target] or (
                    anchor
                    and target in self.anchors
                    and unquote(anchor) not in self.anchors[target]
                ):
                    found.append(f"{name}: {link}")
        return found

    def external(self) -> dict[str, str]:
        """Addresses of other sites, in order, and the first page that has each."""
        found: dict[str, str] = {}
        for name, links in self.links.items():
            for link in links:
                if re.match(r"https?:|//", link):
                    found.setdefault(link, name)
        return dict(sorted(found.items()))


def is_host(link: str) -> bool:
    """Tells whether an address names a host as the network's names are."""
    host = urlsplit(link).hostname or ""
    return " " not in link and bool(re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", host))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--external", type=Path, metavar="FILE")
    options = parser.parse_args()
    site = Site(options.folder)
    external = site.external()
    dead = site.dead()
    dead += [f"{page}: {link}" for link, page in external.items() if not is_host(link)]
    print("\n".join(dead))
    if options.external:
        lines = [f"{link} {page}\n" for link, page in external.items()]
        options.external.write_text("".join(lines), encoding="utf-8")
    count = sum(map(len, site.links.values()))
    print(
        f"{len(site.links)} pages, {count} links, {len(external)} addresses of "
        f"other sites, {len(dead)} dead"
    )
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
