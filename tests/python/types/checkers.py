"""mypy and pyright over files written for PyTorch, with hotaru in its place."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SOURCES = ROOT / "python"
_PINS = ROOT / "scripts" / "requirements-types.txt"
_FOLDER = ROOT / ".venv-types"
_ERROR = re.compile(r"(?P<file>[^:]+):(?P<line>\d+)(?::\d+)?: error: (?P<text>.*)")


@functools.cache
def environment() -> Path:
    """The folder of programs with the pinned checkers, made where it is missing.

    Skips the test that asks if no package index gives them.
    """
    stamp = f"{sys.version} {ROOT} {_PINS.read_text()}"
    written = _FOLDER / ".stamp"
    programs = _FOLDER / "bin"
    if written.exists() and written.read_text() == stamp:
        return programs
    subprocess.run([sys.executable, "-m", "venv", "--clear", _FOLDER], check=True)
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "-r", _PINS]
    made = subprocess.run(pip, capture_output=True, text=True)
    if made.returncode:
        last = (made.stderr.strip().splitlines() or ["pip failed"])[-1]
        pytest.skip(f"no package index gives mypy and pyright: {last}")
    written.write_text(stamp)
    return programs


def over_hotaru(text: str) -> str:
    """A program for PyTorch as one that has `import hotaru as torch`."""
    text = re.sub(r"^import torch$", "import hotaru as torch", text, flags=re.M)
    return re.sub(r"^(import|from) torch\b", r"\1 hotaru", text, flags=re.M)


def lines_with_errors(output: str) -> dict[str, dict[int, str]]:
    """The first error of each line, by the file's name."""
    found: dict[str, dict[int, str]] = {}
    for line in output.splitlines():
        match = _ERROR.match(line.strip())
        if match:
            errors = found.setdefault(Path(match["file"]).name, {})
            errors.setdefault(int(match["line"]), match["text"])
    return found


def mypy(folder: Path, *arguments: str, python: str | None = None) -> str:
    """The output of mypy, run in a folder over what the arguments name."""
    command = [
        environment() / "mypy",
        "--python-executable",
        python or environment() / "python",
        *arguments,
    ]
    command[1:1] = ["--no-error-summary", "--follow-imports", "silent"]
    settings = {**os.environ, "MYPYPATH": str(SOURCES)}
    settings["MYPY_CACHE_DIR"] = str(ROOT / ".cache" / "mypy-types")
    run = subprocess.run(
        command, cwd=folder, env=settings, capture_output=True, text=True
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return run.stdout


def pyright(folder: Path, *files: str, python: str | None = None) -> str:
    """The output of pyright, as mypy writes it."""
    settings = {"extraPaths": [str(SOURCES)], "typeCheckingMode": "standard"}
    settings["reportMissingImports"] = settings["reportOptionalMemberAccess"] = False
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [
        environment() / "pyright",
        "--pythonpath",
        python or environment() / "python",
        *files,
    ]
    run = subprocess.run(
        [*command, "--outputjson"], cwd=folder, capture_output=True, text=True
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = json.loads(run.stdout)["generalDiagnostics"]
    return "\n".join(
        f"{d['file']}:{d['range']['start']['line'] + 1}: error: "
        + d["message"].replace("\n", " ")
        for d in found
        if d["severity"] == "error"
    )


CHECKERS = {"mypy": mypy, "pyright": pyright}
