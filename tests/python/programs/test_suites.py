"""The tool that runs libraries' own tests, on tests that misbehave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITES = Path(__file__).parents[2] / "programs/suites"

FILE = """
import os, time, pytest

def test_passes(): pass
def test_fails(): raise AttributeError("no 3 of 0x7f12")
def test_waits(): time.sleep(600)
@pytest.mark.xfail
def test_is_known(): assert 0
def test_skips(): pytest.skip("no")
def test_last(): pass
def test_crashes(): os._exit(3)
"""
NAMES = ("passes", "fails", "waits", "is_known", "skips", "last", "crashes")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("library")
    (made / "test_one.py").write_text(FILE)
    (made / "test_broken.py").write_text("import no_such_module\n")
    return made


def tool(code: str, *args) -> dict:
    """Output of a program with the modules of the tool, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}", *map(str, args)],
        env={**os.environ, "PYTHONPATH": str(SUITES)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


RUN = """
import os, pathlib, files
side = files.Side(sys.executable, dict(os.environ), 1.0)
folder = pathlib.Path(sys.argv[1])
run = files.choose(side, folder, sys.argv[2], 0, int(sys.argv[3]))
again = files.repeat(side, folder, sys.argv[2], run.chosen[:1] + ["gone"])
print(json.dumps([run.__dict__, again.__dict__]))
"""


def test_every_end_of_a_test_is_told(folder):
    run, again = tool(RUN, folder, "test_one.py", 10)
    ends = {
        name.split("::test_")[1]: (end["outcome"], end.get("error", ""))
        for name, end in run["tests"].items()
    }
    assert set(ends) == set(NAMES)
    assert ends["passes"] == ends["last"] == ("passed", "")
    assert ends["fails"] == ("failed", "AttributeError: no 3 of 0x7f12")
    assert ends["waits"][0] == "failed"
    assert "more than the limit" in ends["waits"][1]
    assert ends["is_known"][0] == "xfail"
    assert ends["skips"][0] == "skipped"
    assert ends["crashes"][0] == "crash"
    assert run["found"] == len(NAMES)
    assert run["seconds"] > 0
    assert [t["outcome"] for t in again["tests"].values()] == ["passed", "absent"]


def test_a_sample_is_the_same_for_the_same_seed(folder):
    first, _ = tool(RUN, folder, "test_one.py", 3)
    second, _ = tool(RUN, folder, "test_one.py", 3)
    assert first["chosen"] == second["chosen"]
    assert len(first["chosen"]) == 3


def test_a_file_that_does_not_load_is_told(folder):
    run, again = tool(RUN, folder, "test_broken.py", 3)
    error = "ModuleNotFoundError: No module named 'no_such_module'"
    assert run["collect"]["collect"] == error
    assert again["tests"]["gone"]["outcome"] == "absent"
    assert again["tests"]["gone"]["error"] == error


def test_causes_are_counted_over_libraries(tmp_path):
    code = """
import causes, pathlib
def failed(*errors):
    return {str(i): {"outcome": "failed", "error": e}
            for i, e in enumerate(errors)}
rows = [
    {"name": "a", "version": "1", "wanted": 4, "passed": 2,
     "failed": failed("KeyError: 3 | 0x7f", "ValueError: no")},
    {"name": "b", "version": "2", "wanted": 1, "passed": 0,
     "failed": failed("KeyError: 12 | 0x9")},
    {"name": "c", "version": "", "wanted": 0, "passed": 0, "failed": {},
     "note": "not installed"},
]
path = pathlib.Path(sys.argv[1])
causes.write_table(rows, path)
print(json.dumps([causes.causes(rows), path.read_text()]))
"""
    path = tmp_path / "page.md"
    path.write_text("a\n<!-- suites: begin -->\n<!-- suites: end -->\nz\n")
    found, page = tool(code, path)
    assert found == [["KeyError: N | @", 2, ["a", "b"]], ["ValueError: no", 1, ["a"]]]
    assert page.startswith("a\n")
    assert page.endswith("\nz\n")
    assert "2 of 5 tests" in page
    assert "(40.0 %)" in page
    assert "| KeyError: N \\| @ | 2 | a, b |" in page
    assert "| c | | | | not installed |" in page


TAKEN = """
import dataclasses, pathlib, types
import files, libraries, sources
source, cache = map(pathlib.Path, sys.argv[1:])
options = types.SimpleNamespace(
    sources=[source], cache=cache, oracle=sys.executable)
library = libraries.Library(
    "one", "pytest", ("part/test_*.py", "deep/**/test_*.py"),
    keep=("deep/__init__.py",), mention="crashes|broken",
    left_out={"*/test_left.py": "no"})
folder = sources.fetched(library, options)
own = dataclasses.replace(
    library, tests=("_pytest/m*.py",), installed=True, mention="def pytest")
there = sources.fetched(own, options)
side = files.Side(sys.executable, {}, 1.0, ("-kfails or last",))
run = files.choose(side, folder, "part/test_one.py", 0, 9)
print(json.dumps([
    sources.files_of(library, folder),
    sorted(str(p.relative_to(folder)) for p in folder.rglob("*.py")
           if p.name.startswith(("_", "c"))),
    sources.files_of(own, there), {k: v["outcome"] for k, v in run.tests.items()},
    sources.root(own, folder, sys.executable) == there,
    sources.root(library, folder, sys.executable) == folder]))
"""


def test_a_library_says_which_files_and_tests_are_run(tmp_path):
    for name, text in {
        "part/test_one.py": FILE,
        "part/conftest.py": "",
        "part/test_other.py": "def test(): pass\n",
        "deep/__init__.py": "",
        "deep/er/test_left.py": "broken",
        "deep/er/test_broken.py": "broken",
        "deep/er/_package.py": "",
        "else/test_broken.py": "broken",
    }.items():
        path = tmp_path / "one" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found, copied, own, ends, there, here = tool(TAKEN, tmp_path, tmp_path / "cache")
    assert found == ["deep/er/test_broken.py", "part/test_one.py"]
    assert copied == ["deep/__init__.py", "deep/er/_package.py", "part/conftest.py"]
    assert "_pytest/main.py" in own
    assert set(ends) == {f"part/test_one.py::test_{n}" for n in ("fails", "last")}
    assert there
    assert here


SDIST = """
import subprocess, types, sources, libraries
asked = []
class Done:
    returncode, stdout, stderr = 0, "1.0", ""
def run(command, **options):
    asked.append(command)
    if "download" in command:
        raise subprocess.TimeoutExpired(command, 600)
    return Done
sources.subprocess.run = run
options = types.SimpleNamespace(
    sources=[], cache=sys.argv[1], oracle=sys.executable)
library = libraries.Library("one", "own-name", ("tests/test_*.py",))
print(json.dumps([sources.fetched(library, options), asked[-1][3:]]))
"""


def test_only_the_library_itself_comes_as_sources(tmp_path):
    folder, command = tool(SDIST, tmp_path)
    assert folder is None
    at = command.index("--no-binary")
    assert command[at + 1] == "own-name"
    assert command[-1] == "own-name==1.0"
