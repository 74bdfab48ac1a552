"""Type checkers judge calls of hotaru as they judge them of PyTorch."""

from __future__ import annotations

import ast

import pytest
from checkers import CHECKERS, HERE, ROOT, lines_with_errors, over_hotaru

pytestmark = pytest.mark.ci
_FILES = ("calls_right.py", "calls_wrong.py")


def _cases(name: str) -> list[int]:
    """The lines of a file's statements that stand behind its definitions."""
    text = (HERE / name).read_text()
    after = text[: text.index("\n# ")].count("\n") + 1
    walked = ast.walk(ast.parse(text))
    kinds = (ast.Expr, ast.Assign)
    return sorted({n.lineno for n in walked if isinstance(n, kinds)} - {*range(after)})


@pytest.fixture(scope="module", params=CHECKERS)
def verdicts(request, tmp_path_factory):
    """The lines that a checker refuses in each file."""
    folder = tmp_path_factory.mktemp(request.param)
    for name in _FILES:
        text = over_hotaru((HERE / name).read_text())
        (folder / name).write_text(text)
    return lines_with_errors(CHECKERS[request.param](folder, *_FILES))


def test_right_calls_pass(verdicts):
    assert len(_cases("calls_right.py")) >= 200
    assert not verdicts.get("calls_right.py", {})


def test_wrong_calls_fail(verdicts):
    cases = _cases("calls_wrong.py")
    assert len(cases) >= 50
    assert sorted(set(cases) - {*verdicts["calls_wrong.py"]}) == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_pytorch_has_the_same_verdicts(checker, tmp_path):
    python = ROOT / ".venv-oracle" / "bin" / "python"
    if not python.exists():
        pytest.skip(".venv-oracle, which has PyTorch, is not there")
    for name in _FILES:
        (tmp_path / name).write_text((HERE / name).read_text())
    found = lines_with_errors(CHECKERS[checker](tmp_path, *_FILES, python=str(python)))
    assert not found.get("calls_right.py", {})
    assert sorted(set(_cases("calls_wrong.py")) - {*found["calls_wrong.py"]}) == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_examples_have_no_errors(checker, tmp_path):
    files = sorted((ROOT / "examples").rglob("*.py"))
    assert files
    for file in files:
        (tmp_path / file.name).write_text(over_hotaru(file.read_text()))
    names = [file.name for file in files]
    extra = ["--ignore-missing-imports"] if checker == "mypy" else []
    found = lines_with_errors(CHECKERS[checker](tmp_path, *extra, *names))
    assert found == {}
