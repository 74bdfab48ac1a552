"""Tests that do not pass, by library and by cause, as tables of Markdown."""

from __future__ import annotations

import collections
import re
from pathlib import Path

_NUMBER = re.compile(r"\d+(\.\d+)?(e[-+]?\d+)?")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_SHOWN = 60  # causes in the document


def cause_of(result: dict) -> str:
    """The error's first line, with what differs from run to run taken out."""
    text = result.get("error") or result["outcome"]
    text = _ADDRESS.sub("@", text).replace("hotaru", "torch")
    return _NUMBER.sub("N", text)[:120]


def causes(rows: list[dict]) -> list[tuple[str, int, list[str]]]:
    """(cause, tests, libraries), those of most tests first."""
    counts: dict[str, collections.Counter] = {}
    for row in rows:
        for result in row["failed"].values():
            cause = cause_of(result)
            counts.setdefault(cause, collections.Counter())[row["name"]] += 1
    found = [(c, sum(n.values()), list(n)) for c, n in counts.items()]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def write_table(rows: list[dict], path: Path) -> None:
    """Both tables, between the marks of `path`."""
    wanted = sum(row["wanted"] for row in rows)
    passed = sum(row["passed"] for row in rows)
    share = 100 * passed / max(wanted, 1)
    body = [
        f"{passed:,} of {wanted:,} tests that pass over PyTorch pass over "
        f"hotaru ({share:.1f} %).",
        "",
        "| Library | Version | Pass over PyTorch | Over hotaru | % |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        if row.get("note"):
            body.append(f"| {row['name']} | | | | {_cell(row['note'])} |")
            continue
        part = f"{100 * row['passed'] / max(row['wanted'], 1):.1f}"
        body.append(
            f"| {row['name']} | {row['version']} | {row['wanted']} "
            f"| {row['passed']} | {part} |"
        )
    body += ["", "| Cause | Tests | Libraries |", "| --- | --- | --- |"]
    for cause, count, libraries in causes(rows)[:_SHOWN]:
        body.append(f"| {_cell(cause)} | {count} | {', '.join(libraries)} |")
    begin, end = "<!-- suites: begin -->", "<!-- suites: end -->"
    text = path.read_text(encoding="utf-8")
    head, tail = text.split(begin)[0], text.split(end)[1]
    table = "\n".join(body)
    path.write_text(f"{head}{begin}\n\n{table}\n\n{end}{tail}", encoding="utf-8")
