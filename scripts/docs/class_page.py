"""The page of a class: how it is made, and what it defines."""

from __future__ import annotations

import docstrings
import sources
from book import Book
from parts import body, cell, code, heading, said, signature_of, sourced, value_of
from public import ABSENT, Public


def class_page(book: Book, full: str) -> str:
    """The text of a class's page."""
    page = book.places[full].partition("#")[0]
    name = book.by_full.get(full)
    members = book.classes[full]
    out = [heading(1, full)]
    if name is not None and name.kind == "class":
        out.append(code(signature_of(name.value, full)))
        out += body(book, name, page)
        others = [n.full for n in book.modules_of(name.value) if n.full != full]
        if others:
            out.append("Also as " + ", ".join(f"`{k}`" for k in others) + ".")
        out.append(sourced(sources.of_python(name.value)))
    out += operator_table(book, members, page)
    out += [
        part
        for member in members
        if member.kind not in ("operator", "constant")
        for part in entry(book, member, page, 2)
    ]
    out += constants(book, members, page)
    return "\n\n".join(part for part in out if part) + "\n"


def operator_table(book: Book, members: list[Public], page: str) -> list[str]:
    """Operators with a page of their own."""
    found = [m for m in members if m.kind == "operator"]
    if not found:
        return []
    rows = [
        f"| [`{m.name}`]({book.link(m.full, page)}) | {cell(short(book, m))} |"
        for m in sorted(found, key=lambda m: m.name)
    ]
    return ["## Operators", "\n".join(["| name | result |", "| --- | --- |", *rows])]


def short(book: Book, name: Public) -> str:
    """The first sentence of a name, as Markdown."""
    first = book.first(name)
    text = book.text(name)
    own = text is not None and text.first == first
    text = said(first) if own else docstrings.escaped(first)
    if name.kind == "operator" and name.name.endswith("_"):
        return f"In place: {text}"
    return text


def entry(book: Book, name: Public, page: str, level: int) -> list[str]:
    """A function or property with its heading."""
    shown = name.full
    out = [heading(level, name.full, shown)]
    if name.kind == "function":
        spell = name.name if name.in_class else name.full
        out.append(code(signature_of(name.value, spell)))
    elif name.kind == "class":
        home = book.homes.get(id(name.value))
        link = f"[The class]({book.link(home, page)}): " if home else ""
        return [*out, link + short(book, name)]
    out += body(book, name, page)
    path = sources.of_python(name.raw if name.kind == "property" else name.value)
    return [*out, sourced(path)]


def constants(book: Book, members: list[Public], page: str) -> list[str]:
    """A list of values, each with its anchor."""
    found = [m for m in members if m.kind == "constant"]
    if not found:
        return []
    rows = []
    for member in found:
        value = value_of(member) if member.value is not ABSENT else ""
        shown = f" = `{value}`" if value else ""
        rows.append(
            f'- <span id="{member.full}"></span>`{member.name}`{shown}: '
            f"{short(book, member)}"
        )
    return ["## Values", "\n".join(rows)]
