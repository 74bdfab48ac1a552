"""Docstrings of the tree as Markdown.

They are plain text: paragraphs, sections (`Args:`, `Returns:`, `Raises:` ...) whose
items are `name: text`, and sessions of Python.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Returns|Yields|Raises|Example|Examples|Attributes|Shapes?|Notes?|Warnings?):\s*(.*)"
)
_ITEM = re.compile(r"(\*{0,2}[\w.]+(?:, ?\*{0,2}[\w.]+)*(?: \([^)]*\))?): +(.*)")
_CODE = re.compile(r"``?([^`\n]+)``?")


def escaped(text: str, link=None) -> str:
    """Plain text as Markdown; code stays, names in it may become links."""
    out, end = [], 0
    for found in _CODE.finditer(text):
        out.append(_plain(text[end : found.start()]))
        address = link(found[1]) if link else None
        code = f"`{found[1]}`"
        out.append(f"[{code}]({address})" if address else code)
        end = found.end()
    return "".join([*out, _plain(text[end:])])


def _plain(text: str) -> str:
    text = re.sub(r"([\\*_\[\]#{}|~])", r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def markdown(text: str, link=None) -> str:
    """A docstring as Markdown."""
    out: list[str] = []
    for block in blocks(inspect.cleandoc(text)):
        first = block[0]
        section = _SECTION.fullmatch(first)
        if first.startswith((">>>", "    ")):
            out.append("```python\n" + "\n".join(dedented(block)) + "\n```")
        elif section and (len(block) > 1 or section[2]):
            rest = dedented(block[1:])
            out += [f"**{section[1]}**", section_of(section[2], rest, link)]
        elif section:
            out.append(f"**{section[1]}**")
        elif len(block) > 1 and all(line.startswith(" ") for line in block[1:]):
            out += [
                escaped(first, link),
                "```text\n" + "\n".join(dedented(block[1:])) + "\n```",
            ]
        else:
            out.append(prose(block, link))
    return "\n\n".join(out)


def prose(block: list[str], link) -> str:
    """A paragraph, or a list where its lines are items."""
    lines = []
    for line in block:
        if re.match(r"\s*[-*] ", line):
            body = escaped(line.lstrip()[2:], link)
            lines.append(
                ("\n" if not lines or not lines[-1].startswith("-") else "")
                + f"- {body}"
            )
        else:
            lines.append(escaped(line.strip(), link))
    return "\n".join(lines).strip()


def section_of(head: str, lines: list[str], link) -> str:
    """The items of a section as a list, or its text."""
    items: list[str] = []
    if any(line.startswith(">>>") for line in lines):
        return "```python\n" + "\n".join(lines) + "\n```"
    for line in lines:
        item = _ITEM.fullmatch(line) if not line.startswith(" ") else None
        if item:
            items.append(f"- `{item[1]}`: {escaped(item[2], link)}")
        elif items:
            items[-1] += " " + escaped(line.strip(), link)
        else:
            head = f"{head} {line.strip()}".strip()
    parts = [escaped(head, link)] if head else []
    return "\n\n".join([*parts, "\n".join(items)]).strip()


def blocks(text: str) -> list[list[str]]:
    """Paragraphs; a section keeps what is indented below it."""
    found: list[list[str]] = []
    fresh = True
    for line in text.splitlines():
        if not line.strip():
            fresh = True
            continue
        in_section = found and _SECTION.fullmatch(found[-1][0]) and line.startswith(" ")
        if (fresh and not in_section) or (_SECTION.fullmatch(line) and found):
            found.append([])
        fresh = False
        if not found:
            found.append([])
        found[-1].append(line)
    return found


def dedented(lines: list[str]) -> list[str]:
    """Lines without the indent that they share."""
    indents = [len(k) - len(k.lstrip()) for k in lines if k.strip()]
    least = min(indents, default=0)
    return [line[least:] for line in lines]


def doc_of(value: Any) -> str:
    """The docstring of a function, class or property; "" if it has none."""
    if isinstance(value, property) and not value.__doc__ and value.fget:
        value = value.fget
    try:
        text = inspect.getdoc(value)
    except Exception:
        return ""
    if not isinstance(text, str) or not text.strip():
        return ""
    lines = text.strip().splitlines()
    # Native functions say their signature first.
    while lines and re.match(r"[\w.]+\(.*\)( -> .*)?$", lines[0]):
        lines.pop(0)
    return "\n".join(lines).strip()


def first_sentence(text: str) -> str:
    """The first sentence of a docstring."""
    paragraph = " ".join(inspect.cleandoc(text).split("\n\n")[0].split())
    found = re.match(r".*?[.:](?= [A-Z]|$)", paragraph)
    return (found[0] if found else paragraph).rstrip(":")
