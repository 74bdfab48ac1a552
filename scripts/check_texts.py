"""Checks that errors' texts stand in one place each, and finds them.

    python scripts/check_texts.py                  what repeats, if too much
    python scripts/check_texts.py "some words"     where that is made

Words are those of the source or of an error as it was printed, in any number;
neither the breaks of lines nor the values in a text matter. A text of three
words and more should stand once (docs/error_texts.md); at most as many as below
stand in several places, and whoever makes one of them one lowers the number.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

from texts import native_texts, python_texts
from tracked import tracked

# Among them are those of libraries in TorchScript and of libtorch, which import
# nothing of the places that have them, too.
PYTHON, NATIVE = 5, 140
_WORD = re.compile("[A-Za-z]{2,}")

# Text -> the places where it is made.
Places = dict[str, list[str]]


def read(*patterns: str) -> Places:
    """The texts of the files that git knows by these patterns."""
    places: Places = defaultdict(list)
    for name in tracked(*patterns):
        kind = python_texts if name.endswith(".py") else native_texts
        source = Path(name).read_text(encoding="utf-8")
        for line, text in kind.texts(source):
            if len(_WORD.findall(text)) > 2:
                places[text].append(f"{name}:{line}")
    return places


def repeated(places: Places, limit: int, what: str) -> list[str]:
    """The texts that stand in several places, if they are too many."""
    found = {text: at for text, at in places.items() if len(at) > 1}
    print(f"{what}: {len(places)} texts, {len(found)} of them repeated")
    if len(found) <= limit:
        return []
    return [f"{at[0]}: {text!r}, also {at[1:]}" for text, at in found.items()]


def find(words: str, places: Places) -> list[str]:
    """Where texts are made that have those words, or make them."""
    asked = " ".join(words.split())
    without_numbers = re.sub(r"-?\d+(?:\.\d+)?", "{}", asked)
    found = []
    for text, at in places.items():
        plain = " ".join(text.split())
        made = ".*?".join(re.escape(part) for part in plain.split("{}"))
        in_text = asked in plain or without_numbers in plain
        if in_text or re.search(made, asked):
            found += [f"{place}: {plain}" for place in at]
    return found


def main() -> int:
    python = read("python/hotaru/*.py")
    native = read(
        *(
            f"{root}/*.{ending}"
            for root in ("hotaru", "python")
            for ending in ("h", "cpp")
        )
    )
    if words := " ".join(sys.argv[1:]):
        found = find(words, python) + find(words, native)
    else:
        found = repeated(python, PYTHON, "Python")
        found += repeated(native, NATIVE, "C++")
    print("\n".join(found))
    return int(bool(found) != bool(words))


if __name__ == "__main__":
    sys.exit(main())
