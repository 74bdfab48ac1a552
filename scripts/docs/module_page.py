"""The page of a module, and the index of all."""

from __future__ import annotations

import sys

import docstrings
from book import Book
from class_page import entry, operator_table, short
from parts import cell, code, heading, value_of
from public import Public


def module_page(book: Book, module: str) -> str:
    """The text of a module's page."""
    page = book.places[module]
    found = book.modules[module]
    out = [heading(1, module)]
    about = book.texts.by_name.get(module)
    loaded = sys.modules.get(module)
    if about:
        out += about.body
    elif loaded is not None and (doc := docstrings.doc_of(loaded)):
        out.append(docstrings.markdown(doc, book.linker(page, module)))
    own, others = [], []
    for name in found:
        home = book.homes.get(id(name.value), name.full)
        (own if home == name.full else others).append(name)
    out += operator_table(book, own, page)
    out += class_table(book, own, page)
    for name in own:
        if name.kind == "function":
            out += entry(book, name, page, 2)
    for name in own:
        if name.kind in ("constant", "property", "module"):
            out += constant(book, name, page)
    out += borrowed(book, others, page)
    return "\n\n".join(part for part in out if part) + "\n"


def class_table(book: Book, names: list[Public], page: str) -> list[str]:
    """Classes, each of which has a page."""
    rows = [
        f'| <span id="{n.full}"></span>[`{n.name}`]({book.link(n.full, page)}) '
        f"| {cell(short(book, n))} |"
        for n in names
        if n.kind == "class"
    ]
    head = ["| name | meaning |", "| --- | --- |"]
    return ["## Classes", "\n".join([*head, *rows])] if rows else []


def constant(book: Book, name: Public, page: str) -> list[str]:
    """A value of a module."""
    out = [heading(2, name.full)]
    value = value_of(name) if name.kind == "constant" else ""
    out.append(code(f"{name.full} = {value}") if value else "")
    if name.kind == "module" and name.full in book.modules:
        return [
            *out,
            f"{short(book, name)} [All its names]({book.link(name.full, page)}).",
        ]
    return [*out, short(book, name)]


def borrowed(book: Book, names: list[Public], page: str) -> list[str]:
    """Names that are described elsewhere."""
    rows = []
    for name in names:
        home = book.homes[id(name.value)]
        rows.append(
            f'| <span id="{name.full}"></span>[`{name.name}`]({book.link(home, page)}) '
            f"| {cell(short(book, name))} |"
        )
    head = ["| name | meaning |", "| --- | --- |"]
    if not rows:
        return []
    return ["## Described elsewhere", "\n".join([*head, *rows])]


def index_page(book: Book) -> str:
    """All namespaces with how many names they have."""
    rows = []
    for module, found in sorted(book.modules.items()):
        classes = [c for c in book.classes if c.rpartition(".")[0] == module]
        members = sum(len(book.classes[c]) for c in classes)
        link = book.link(module, "index.md")
        rows.append(f"| [`{module}`]({link}) | {len(found)} | {members} |")
    described = sum(map(book.described, book.counted))
    head = [
        "# Reference",
        "Every public name that hotaru has of PyTorch's: "
        f"{described} of {len(book.counted)} are described. `import hotaru as torch` "
        "is what makes the names below. Operators have a page each, with their "
        "methods; dtypes, results and errors on it were measured when the page was "
        "made, on the CPU. Classes have a page each, functions stand on the page of "
        "their module. The search finds full names (`nn.functional.conv2d`).",
        "| namespace | names | of its classes |\n| --- | ---: | ---: |\n"
        + "\n".join(rows),
    ]
    return "\n\n".join(head) + "\n"
