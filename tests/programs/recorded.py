"""Outputs of PyTorch, kept in files: a comparison that needs no PyTorch.

A file belongs to a script, to probe.py and to the packages' versions; when one
of them changes, it has to be recorded again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from judge import lines_of
from table import Program

HERE = Path(__file__).parent
FOLDER = HERE / "golden"
PACKAGES = HERE.parents[1] / "scripts/requirements-programs-ci.txt"
STALE = "PyTorch's values are of another script: run.py --ci --record"


def _path(program: Program) -> Path:
    return FOLDER / f"{program.name}.jsonl"


def _key(program: Program) -> str:
    names = [line for line in PACKAGES.read_text().splitlines() if "==" in line]
    parts = [program.path.read_text(), (HERE / "probe.py").read_text(), *names]
    text = "\n".join(parts).encode()
    return hashlib.sha1(text).hexdigest()[:12]


def _short(value):
    """Numbers with the digits that a comparison to 1e-4 needs, and some."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, list):
        return [_short(one) for one in value]
    if isinstance(value, dict):
        return {key: _short(one) for key, one in value.items()}
    return value


def record(program: Program, text: str) -> None:
    """Keeps what PyTorch's side printed."""
    lines = [json.dumps({"key": _key(program)})]
    for name, value in lines_of(text):
        line = {"name": name, "value": _short(value)}
        lines.append(json.dumps(line))
    FOLDER.mkdir(exist_ok=True)
    _path(program).write_text("\n".join(lines) + "\n", encoding="utf-8")


def recorded(program: Program) -> tuple:
    """(exit status, stdout, stderr, seconds) as of PyTorch's side."""
    path = _path(program)
    if not path.exists():
        return -1, "", STALE, 0.0
    text = path.read_text(encoding="utf-8")
    if json.loads(text.split("\n", 1)[0])["key"] != _key(program):
        return -1, "", STALE, 0.0
    return 0, text, "", 0.0
