"""The check of `requires-python` finds what is planted, and no more."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "check_python_version.py"

PROMISE = '[project]\nrequires-python = ">=3.10"\n'
# Python 3.10 runs these, or nobody does.
GOOD = {
    "pyproject.toml": PROMISE,
    "python/of_ten.py": (
        "from itertools import pairwise\n\n"
        "match list(pairwise([1, 2])):\n"
        "    case [(first, *rest)]:\n"
        "        print(first, rest)\n"
    ),
    "python/named_alike.py": (
        "def run(operator):\n    return operator.call()  # novm: no module\n"
    ),
    "python/tomllib.md": "import tomllib\n",
}
# Each file's text, and the line that is told of it.
PLANTED = {
    "python/a.py": ("import tomllib\n", "'tomllib' module"),
    "scripts/b.py": (
        "try:\n    pass\nexcept* ValueError:\n    pass\n",
        "`except*` requires" if sys.version_info >= (3, 11) else "error: ",
    ),
    "examples/c.py": (
        "from __future__ import annotations\n\n"
        "from typing import Self\n\n\ndef f() -> Self: ...\n",
        "'typing.Self' member",
    ),
    "bench/d.py": ("import asyncio\n\nasyncio.Runner()\n", "'asyncio.Runner'"),
    # No version runs the one and the other.
    "python/e.py": ("print(f'{long}')\n", "could not be combined"),
    "python/f.py": ("def f(:\n", "error: invalid syntax"),
}


def checked(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess:
    """Runs the check over a repository of these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for command in (["init", "-q"], ["add", *files]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return subprocess.run(
        [sys.executable, SCRIPT, "--root", folder],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_repository_that_keeps_its_promise(tmp_path):
    (tmp_path / "python").mkdir()
    (tmp_path / "python/untracked.py").write_text("import tomllib\n")
    done = checked(tmp_path, GOOD)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_too_new_is_found(tmp_path):
    texts = {name: text for name, (text, _) in PLANTED.items()}
    done = checked(tmp_path, {**GOOD, **texts})
    assert (done.returncode, done.stderr) == (1, "")
    # A file's findings stand below its name.
    told = re.split(r"\s(\w+/\w+\.py)\n", done.stdout)
    told = dict(zip(told[1::2], told[2::2]))
    assert told.keys() == PLANTED.keys()
    for name, (_, words) in PLANTED.items():
        assert words in told[name], name


def test_the_promise_is_the_projects(tmp_path):
    text = {"python/a.py": "import tomllib\n"}
    later = {"pyproject.toml": PROMISE.replace("3.10", "3.11")}
    done = checked(tmp_path, {**text, **later})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = checked(tmp_path, {"pyproject.toml": "[project]\n"})
    assert done.returncode == 1
    assert "no requires-python" in done.stderr
