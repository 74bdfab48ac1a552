"""Writes the reference's pages from what is built: one page an operator, a class
and a module.

    reference.py FOLDER [--missing] [--texts FOLDER] [--only OPERATOR]

--missing prints names without a description and writes nothing. The share of names
that are described is in FOLDER/coverage.json.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import trials
from book import Book
from class_page import class_page
from module_page import index_page, module_page
from operator_page import operator_page
from public import ROOT


def names_list(book: Book) -> str:
    """The names of each page, as names.js reads them."""
    pages: dict[str, list[str]] = {}
    for name in book.publics:
        page = book.places[name.full].partition("#")[0]
        pages.setdefault(page.removesuffix(".md") + ".html", []).append(name.full)
    return f"window.siteNames = {json.dumps(pages, separators=(',', ':'))};\n"


def missing(book: Book) -> list[str]:
    """Names without a description."""
    return [name.full for name in book.counted if not book.described(name)]


# How much a page counts in the search, by the beginning of its place.
_BOOSTS = {
    "operators/": 4,
    "classes/torch.Tensor.md": 2,
    "classes/torch.nn.": 2,
    "classes/torch.optim.": 2,
    "classes/torch.return_types.": 0.1,
    "classes/torch.fx.": 0.3,
    "modules/": 1.5,
}


def boost(page: str) -> float:
    """How much a page counts in the search."""
    return next((n for start, n in _BOOSTS.items() if page.startswith(start)), 0.7)


def write(book: Book, folder: Path) -> None:
    """Writes all pages, the navigation and the coverage."""
    shutil.rmtree(folder, ignore_errors=True)
    pages: dict[str, str] = {"index.md": index_page(book)}
    for key in book.operators:
        page = book.places[book.title(key).full].partition("#")[0]
        pages[page] = operator_page(book, key, page)
    for module in book.modules:
        pages[book.places[module]] = module_page(book, module)
    for kind in book.classes:
        pages[book.places[kind].partition("#")[0]] = class_page(book, kind)
    for page, text in pages.items():
        text = f"---\nsearch:\n  boost: {boost(page)}\n---\n\n{text}"
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(text, encoding="utf-8")
    (folder / "names_list.js").write_text(names_list(book), encoding="utf-8")
    navigation = [
        {"All namespaces": "reference/index.md"},
        {"torch.Tensor": "reference/classes/torch.Tensor.md"},
    ]
    navigation += [
        {module: f"reference/modules/{module}.md"}
        for module in sorted(book.modules)
        if module.count(".") < 2
    ]
    (folder / "navigation.json").write_text(json.dumps(navigation))
    lacking = missing(book)
    total = len(book.counted)
    coverage = {"names": total, "described": total - len(lacking), "missing": lacking}
    (folder / "coverage.json").write_text(json.dumps(coverage, indent=1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--texts", type=Path, default=ROOT / "docs/reference")
    parser.add_argument("--only", help="an operator whose page alone is made")
    options = parser.parse_args()
    book = Book(options.texts)
    if options.only:
        print(operator_page(book, options.only, "operators/only.md"))
    elif options.missing:
        print("\n".join(missing(book)))
    else:
        write(book, options.folder)
    kinds = Counter(name.kind for name in book.counted)
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    lacking = len(missing(book))
    total = len(book.counted)
    print(f"described {total - lacking} / {total}")
    faults = book.texts.faults + book.unused() + trials.FAULTS
    print("".join(f"{fault}\n" for fault in faults), end="")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
