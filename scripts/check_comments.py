"""Checks that comments begin with what they name, or with what is done.

In an editor's hover a comment stands alone: "Strides of the operand", "Returns
the strides" and "True if strides are kept" say there what they are about. A
comment (full lines of `//`, `///` or `#`, or a docstring) that begins with
What, Whether, Of or Those does not, and is an offence.

Prints each offence as `file:line: what is wrong` and exits with 1 if there was
one.

    python scripts/check_comments.py [--root FOLDER]
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tracked import tracked

# First words that name nothing, and what to write in their place.
ADVICE = {
    "What": 'name it ("Result of ...") or say what is done ("Returns ...")',
    "Whether": 'say when it holds: "True if", "Set if", "Tells whether ..."',
    "Of": 'put a noun in front ("Strides of ...") or write "In ..., it is ..."',
    "Those": 'name them ("Operands that ...")',
}
NATIVE = ("*.h", "*.cpp", "*.cu")
PYTHON = ("*.py", "*.pyi")
_WORD = rf"({'|'.join(ADVICE)})\b"
# Beginnings of full lines, up to the text and its first word.
_OF_NATIVE = re.compile(r"^[ \t]*///? ?" + _WORD, re.MULTILINE)
_OF_PYTHON = re.compile(r'^[ \t]*(?:#:? ?|[rR]?""")' + _WORD, re.MULTILINE)
# A full line: its indentation and sign, and the text.
_LINE = re.compile(r"([ \t]*(?:///?|#:?))(?!!) ?(.*)")
_SENTENCE = re.compile(r".*?[.:!?](?=\s+[A-Z`\"(]|$)")


def sign_of(line: str) -> str | None:
    """The indentation and sign of a full line of comment; None for others."""
    found = _LINE.fullmatch(line)
    return found[1] if found else None


def texts_of(lines: list[str], at: int):
    """The lines of the paragraph that begins at one, without their signs."""
    sign = sign_of(lines[at])
    if sign is None:
        first, *rest = [line.strip() for line in lines[at:]]
        for line in (first.partition('"""')[2], *rest):
            text, end, _ = line.partition('"""')
            yield text
            if end or not text:
                return
    for line in lines[at:]:
        if sign_of(line) != sign or line.strip() == sign.strip():
            return
        yield line[len(sign) :].strip()


def sentence(lines: list[str], at: int) -> str:
    """The first sentence of the paragraph that begins at a line."""
    text = " ".join(filter(None, texts_of(lines, at)))
    found = _SENTENCE.match(text)
    return found[0] if found else text


def offences(name: str, text: str) -> list[str]:
    """Comments of a file that begin with one of the words."""
    pattern = _OF_NATIVE if name.endswith((".h", ".cpp", ".cu")) else _OF_PYTHON
    found, lines = [], []
    for match in pattern.finditer(text):
        lines = lines or text.split("\n")
        at = text.count("\n", 0, match.start())
        sign = sign_of(lines[at])
        # Later lines of a comment go on with what its first one has begun.
        if sign is None or at == 0 or sign_of(lines[at - 1]) != sign:
            found.append(
                f"{name}:{at + 1}: begins with {match[1]}; {ADVICE[match[1]]}: "
                + sentence(lines, at)
            )
    return found


def check(root: Path) -> list[str]:
    """All offences of a repository."""
    return [
        offence
        for name in tracked(*NATIVE, *PYTHON, root=root)
        for offence in offences(name, (root / name).read_text(encoding="utf-8"))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=Path())
    options = parser.parse_args()
    found = check(options.root)
    for offence in found:
        print(offence)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
