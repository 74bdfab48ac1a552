"""The tests that are promised to pass: a list for each file.

A list names those that pass or those that do not, whichever are fewer; its
first line says which. Only tests that PyTorch passes are meant.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "known" / "tests"
_PASS, _FAIL = "# pass:", "# do not pass:"


def path_of(file: str) -> Path:
    return FOLDER / f"{file.replace('/', '__')}.txt"


def promised(file: str, counted: set[str]) -> set[str]:
    """The names among `counted` that have to pass; none of an unknown file."""
    path = path_of(file)
    if not path.exists():
        return set()
    head, *names = path.read_text(encoding="utf-8").splitlines()
    if head == _PASS:
        return counted & set(names)
    return counted - set(names)


def promise(file: str, counted: set[str], passed: set[str]) -> None:
    """Writes the list of a file."""
    failed = counted - passed
    head, names = _PASS, passed
    if len(failed) < len(passed):
        head, names = _FAIL, failed
    path = path_of(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join([head, *sorted(names)]) + "\n"
    path.write_text(text, encoding="utf-8")
