"""The page of an operator: all its names, and what was measured of it."""

from __future__ import annotations

import sources
import trials
from book import Book
from parts import code, heading, measured, said, sourced
from public import Public
from schemas import Schema, base_of, schemas_of


def spelled(name: Public) -> str:
    """How a program writes the operator."""
    return name.name if name.in_class else name.full


def signatures(name: Public) -> str:
    spell = f"Tensor.{name.name}" if name.in_class else name.full
    lines: list[str] = []
    for schema in schemas_of(name.value):
        shown = schema.shown(spell, name.in_class)
        if shown not in lines:
            lines.append(shown)
    return code("\n".join(lines))


def relation(book: Book, key: str, name: Public, main: Public, page: str) -> str:
    """A name among those of one operator, in one sentence."""
    own = schemas_of(name.value)[0].name
    link = f"[`{main.full}`](#{main.full})"
    if name.name.endswith("_") and not name.name.endswith("__"):
        return (
            f"{link} in place: the result is written into the tensor itself, which "
            "keeps its shape and its dtype, and is what comes back. A result of "
            "another shape, or of a dtype that cannot be cast to the tensor's, is an "
            "error, and so is a leaf that requires a gradient."
        )
    if base_of(own) != base_of(schemas_of(main.value)[0].name):
        return f"Another name of {link}: takes and gives the same."
    if name.in_class:
        return f"{link} as a method: the tensor itself is `input`."
    return f"The same operator as {link}."


def parameters(book: Book, key: str, schemas: list[Schema]) -> str:
    """A list of the parameters that have a description."""
    text = book.texts.find(key)
    found: dict[str, str] = {}
    for schema in schemas:
        for parameter in schema.parameters:
            about = (text.arguments.get(parameter.name) if text else None) or (
                book.texts.arguments.get(parameter.name)
            )
            if about:
                shown = "input" if parameter.name == "self" else parameter.name
                found.setdefault(shown, f"- `{shown}`: {said(about)}")
    return "\n".join(found.values())


def origin(key: str, names: list[Public], lines: list[str] | None) -> str:
    """Where the operator and its kernels are written."""
    written = sources.operators()
    found = []
    for name in [key, *(schemas_of(n.value)[0].name for n in names)]:
        if name in written:
            found.append(sourced(written[name], "Operator"))
            break
    ran = sources.grouped(trials.kernels(lines)) if lines else {}
    for path, kernels in list(ran.items())[:3]:
        names_of = ", ".join(f"`{k}`" for k in kernels)
        found.append(f"{sourced(path, f'kernel {names_of}')}")
    return "; ".join(found)


def operator_page(book: Book, key: str, page: str) -> str:
    """The text of an operator's page."""
    names = book.operators[key]
    main = book.title(key)
    text = book.text(main)
    out = [heading(1, main.full)]
    if text:
        out.append(said(text.first))
    out.append(signatures(main))
    if text:
        out += [said(line) for line in text.body[1:]]
    out.append(parameters(book, key, schemas_of(main.value)))
    lines = list(text.examples) if text else []
    if not lines:
        spell = main.name if main.in_class else main.full
        lines = trials.call_of(schemas_of(main.value), spell, main.in_class) or []
    out += measured(text, lines or None, spelled(main))
    if lines:
        out.append("**Example.**\n\n" + code(trials.shown(lines), "pycon"))
    if text and text.see:
        links = [
            f"[`{k}`]({book.link(k, page)})" for k in text.see if book.link(k, page)
        ]
        out.append("See also " + ", ".join(links) + ".")
    out.append(origin(key, names, lines or None))
    for name in sorted(names, key=lambda n: (n.in_class, n.full)):
        if name is main:
            continue
        out += [heading(2, name.full), relation(book, key, name, main, page)]
        out.append(signatures(name))
        # A name that is described by itself says it here.
        own = book.texts.by_name.get(name.full)
        out += [said(line) for line in own.body] if own else []
    return "\n\n".join(part for part in out if part) + "\n"
