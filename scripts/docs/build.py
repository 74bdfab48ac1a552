"""Builds the documentation site from docs/ and, if there is one, the reference.

    build.py [--reference FOLDER] [--repository URL] [--site FOLDER]

The pages are staged in build/docs/pages with their links led to where they lie on
the site, then MkDocs makes the site of them. A warning ends the build.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import shutil
import subprocess
import sys
from pathlib import Path

from languages import mark_languages
from mkdocs.commands.build import build
from mkdocs.config import load_config
from navigation import Navigation
from outside import Outside
from pages import Stage, pages_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
_IMAGES = (".png", ".svg", ".jpg", ".gif")


def tracked(root: Path) -> list[str]:
    """The repository's files, those that are not committed yet included."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(
        listing, check=True, capture_output=True, text=True, cwd=root
    )
    return [name for name in names.stdout.splitlines() if (root / name).exists()]


class Warnings(logging.Handler):
    """Keeps what the generator warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def stage(folder: Path, options: argparse.Namespace) -> list:
    """Writes the generator's pages; returns the navigation."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = tracked(ROOT)
    pages = pages_of(names)
    outside = Outside(ROOT, names, options.repository)
    stage = Stage(ROOT, folder, names, outside)
    for page in pages:
        stage.write(page)
    for name in names:
        if name.startswith("docs/") and name.endswith(_IMAGES):
            target = folder / name.removeprefix("docs/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
    for name in ("site.css", "names.js"):
        shutil.copy(HERE / name, folder)
    (folder / "names_list.js").write_text("window.siteNames = {};\n")
    reference = []
    if options.reference:
        reference = add_reference(options.reference, folder, outside)
    outside.write(folder)
    return Navigation(ROOT, pages).tabs(reference)


def add_reference(made: Path, folder: Path, outside: Outside) -> list:
    """Takes the reference's pages in; links to sources in them are `source:PATH`."""
    for path in sorted(made.rglob("*.md")):
        place = f"reference/{path.relative_to(made).as_posix()}"
        text = path.read_text(encoding="utf-8")
        text = re.sub(
            r"\]\(source:([^()\s]+)\)",
            lambda found, place=place: f"]({outside.link(found[1], place)})",
            text,
        )
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    shutil.copy(made / "names_list.js", folder)
    return json.loads((made / "navigation.json").read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--repository", help="such as https://host/hotaru/blob/main")
    parser.add_argument("--site", type=Path, default=ROOT / "build/site")
    options = parser.parse_args()
    folder = ROOT / "build/docs/pages"
    nav = stage(folder, options)
    warnings = Warnings()
    logging.getLogger("mkdocs").addHandler(warnings)
    logging.getLogger("jieba").setLevel(logging.ERROR)
    config = load_config(
        str(HERE / "mkdocs.yml"),
        docs_dir=str(folder),
        site_dir=str(options.site.resolve()),
        nav=nav,
    )
    config.plugins.run_event("startup", command="build", dirty=False)
    build(config)
    mark_languages(options.site)
    for text in warnings.texts:
        print(f"warning: {text}")
    return 1 if warnings.texts else 0


if __name__ == "__main__":
    sys.exit(main())
