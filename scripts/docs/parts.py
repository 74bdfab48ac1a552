"""Parts that pages of the reference share."""

from __future__ import annotations

import inspect
import re
from typing import Any

import docstrings
import trials
from book import Book
from public import ABSENT, Public
from texts import Text


def heading(level: int, full: str, title: str = "") -> str:
    """A heading with the full name as its anchor."""
    shown = docstrings.escaped(title or full)
    return f"{'#' * level} {shown} {{ #{full} }}"


def code(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```"


def cell(text: str) -> str:
    """Markdown for a cell of a table."""
    parts = re.split(r"(`[^`]*`)", text.replace("\n", " "))
    return "".join(p if p.startswith("`") else p.replace("|", "\\|") for p in parts)


def said(text: str) -> str:
    """A sentence of docs/reference: Markdown, a line."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        p if p.startswith("`") else re.sub(r"([*_<\[])", r"\\\1", p) for p in parts
    )


def signature_of(value: Any, name: str) -> str:
    """A Python function's or class's signature; its name alone where it has none."""
    try:
        found = inspect.signature(value)
    except Exception:
        text = (getattr(value, "__doc__", "") or "").strip().splitlines()
        if text and re.match(r"\w+\(.*\)( -> .*)?$", text[0]):
            return name + text[0][text[0].index("(") :]
        return f"{name}(...)"
    parameters = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    try:
        found = found.replace(parameters=parameters)
    except ValueError:  # keyword arguments that look positional
        parameters = list(found.parameters.values())
    text = str(found).replace("'", "").replace(" -> None", "")
    text = re.sub(r"<(?:class )?([\w.]+)[^>]*>", r"\1", text).replace(
        "hotaru.", "torch."
    )
    if len(name + text) > 80 and parameters:
        inside = docstrings_split(text)
        return f"{name}(\n    " + ",\n    ".join(inside[0]) + f",\n){inside[1]}"
    return name + text


def docstrings_split(text: str) -> tuple[list[str], str]:
    """The parameters of "(a, b) -> c", and what follows them."""
    depth, parts, start = 0, [], 1
    for i, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 1 and char == ",":
            parts.append(text[start:i].strip())
            start = i + 1
        if depth == 0 and char == ")":
            return [*parts, text[start:i].strip()], text[i + 1 :]
    return parts, ""


def listed(dtypes: list[str]) -> str:
    """Dtypes by their kinds, shortly."""
    out = []
    for kind, members in trials.DTYPES.items():
        found = [d for d in members if d in dtypes]
        if found == members:
            out.append(kind if kind != "floating" else "floating (16 to 64 bits)")
        elif found:
            out.append(", ".join(found))
    return "; ".join(out) or "none"


def measured(text: Text | None, lines: list[str] | None, spell: str) -> list[str]:
    """Paragraphs on shapes, dtypes, gradients and errors."""
    out = []
    if text and text.shape:
        out.append(f"**Shapes.** {said(text.shape)}")
    tried = trials.dtypes(lines) if lines else None
    if text and text.dtype:
        out.append(f"**Dtypes.** {said(text.dtype)}")
    if tried and tried.taken:
        out.append(dtypes_of(tried))
    if lines and (node := trials.differentiable(lines)):
        out.append(f"**Gradient.** Yes; the example's node is `{node}`.")
    problems = [said(k) for k in text.raises] if text else []
    for line in text.errors if text else ():
        line = line.replace("OP(", f"{spell}(")
        problems.append(f"`{line}`: {ticked(trials.error_of(line))}")
    if tried and tried.refused and tried.taken:
        dtype, _, error = tried.refused.partition(": ")
        problems.append(f"with {dtype}: {ticked(error)}")
    if problems:
        out.append("**Errors.**\n\n" + "\n".join(f"- {p}" for p in problems))
    return out


def dtypes_of(tried: trials.Dtypes) -> str:
    """The paragraph on measured dtypes."""
    line = f"**Dtypes, as measured on the CPU.** {listed(tried.taken)}."
    others: dict[str, list[str]] = {}
    for given, result in tried.results.items():
        if given != result:
            others.setdefault(result, []).append(given)
    if (
        len(others) == 1
        and len(tried.results) > 1
        and tried.taken == list(tried.results)
    ):
        [(result, given)] = others.items()
        if set(tried.taken) - set(given) <= {result}:
            return f"{line} The result is {result}."
    for result, given in others.items():
        line += f" From {listed(given)} comes {result}."
    return line


def ticked(text: str) -> str:
    """Text as code; its own ticks become quotes."""
    return "`" + text.replace("`", "'") + "`"


def sourced(path: str | None, words: str = "Source") -> str:
    return f"{words}: [`{path}`](source:{path})" if path else ""


def body(book: Book, name: Public, page: str) -> list[str]:
    """Everything said of a function, class or property that is no operator."""
    text = book.text(name)
    doc = book.doc(name)
    own = name.full in book.texts.by_name
    out = []
    if text and (own or not doc):
        out += [said(line) for line in text.body if line != "+"]
    if doc:
        out.append(docstrings.markdown(doc, book.linker(page, name.owner)))
    if text and (own or not doc):
        out += [f"- `{k}`: {said(v)}" for k, v in text.arguments.items()]
        lines = text.examples or None
        # A program with an object of a class is no measure of its dtypes.
        tried = None if name.kind == "class" else lines
        out += measured(text, tried, name.full)
        if lines:
            out.append("**Example.**\n\n" + code(trials.shown(lines), "pycon"))
    return out


def value_of(name: Public) -> str:
    """A constant's value, if it is short and the same in every process."""
    if name.value is ABSENT:
        return ""
    text = repr(name.value)
    if " at 0x" in text or len(text) > 60 or "/" in text:
        return ""
    return text.replace("hotaru.", "torch.")
