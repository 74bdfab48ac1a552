"""The check of errors' texts reads what the sources make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PYTHON = """
def check(n):
    if n < 0:
        raise ValueError(
            "a text that is broken over "
            f"two lines, got {n}"
        )
    raise error("100%s of " % n + str(n) + "what is there")


def no_part(n):
    return IndexError(f"there is no part {n}")


def name(n):
    return text("no error at all, but words")
"""
NATIVE = """
void check(int n) {
  HOTARU_CHECK(n >= 0 && f(n, "no text, of the condition"),
               "a text that is \\"broken\\" over "  // a comment, "with" words
               "two lines, got ", n);
  HOTARU_CHECK_AS(ValueError, n < 3, n, ": what, (there) is");
  fail_at(range, "of a place, ", g(n, 'c', ","), " or two");
  fail<IndexError>(n ? "either of these" : "or of these");
}
"""


@pytest.fixture(scope="module")
def checks():
    sys.path.insert(0, str(ROOT / "scripts"))
    import check_texts

    sys.path.remove(str(ROOT / "scripts"))
    return check_texts


def test_texts_of_python(checks):
    assert sorted(checks.python_texts.texts(PYTHON)) == [
        (5, "a text that is broken over two lines, got {}"),
        (8, "100{} of {}what is there"),
        (12, "there is no part {}"),
    ]


def test_texts_of_cpp(checks):
    assert list(checks.native_texts.texts(NATIVE)) == [
        (3, 'a text that is "broken" over two lines, got {}'),
        (6, "{}: what, (there) is"),
        (7, "of a place, {} or two"),
    ]


def test_a_text_of_two_places_is_told_and_found(checks, tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text(PYTHON)
    (tmp_path / "b.py").write_text(PYTHON[: PYTHON.index("def no_part")])
    (tmp_path / "c.cpp").write_text(NATIVE)
    monkeypatch.chdir(tmp_path)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], check=True)
    python, native = checks.read("*.py"), checks.read("*.cpp")
    assert checks.repeated(python, 2, "Python") == []
    told = sorted(checks.repeated(python, 1, "Python"))
    assert [line.partition(": ")[0] for line in told] == ["a.py:5", "a.py:8"]
    assert checks.find("broken over two", python) == [
        f"{name}.py:5: a text that is broken over two lines, got {{}}" for name in "ab"
    ]
    assert checks.find('"broken" over two lines, got 12', native)
    assert checks.find("Error: 1: what, (there) is", native)
    assert checks.find("nothing of the kind", {**python, **native}) == []
