"""Writes the reference's pages from what is built: one page an operator, a class
and a module.

    reference.py FOLDER [--missing]

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


def missing(book: Book) -> list[str]:
    """Names without a description."""
    return [name.full for name in book.publics if not book.described(name)]


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
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(text, encoding="utf-8")
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
    total = len(book.publics)
    coverage = {"names": total, "described": total - len(lacking), "missing": lacking}
    (folder / "coverage.json").write_text(json.dumps(coverage, indent=1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--missing", action="store_true")
    options = parser.parse_args()
    book = Book()
    if options.missing:
        print("\n".join(missing(book)))
    else:
        write(book, options.folder)
    kinds = Counter(name.kind for name in book.publics)
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    lacking = len(missing(book))
    total = len(book.publics)
    print(f"described {total - lacking} / {total}")
    faults = book.texts.faults + trials.FAULTS
    print("".join(f"{fault}\n" for fault in faults), end="")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
