"""Programs that once went wrong print what they must.

A file of this folder holds the programs of one kind: "=== name", the program, a
line "--- prints" and the lines that it prints. Programs are scripts that say
`import torch` and run as a user's do, by `python -m hotaru FILE` in an empty
folder; those whose names end in ".sh" are shell scripts around the command,
which find $PY and $HOTARU. Files they read lie in $DATA.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
HEAD, PRINTS = "=== ", "--- prints\n"
# A program takes a second or two; with sanitizers and under load far more.
SECONDS = 300


class Program(NamedTuple):
    """A script, and the text that it prints."""

    kind: str
    name: str
    script: str
    printed: str


def read_programs(path: Path) -> list[Program]:
    """The programs of a file."""
    blocks = ("\n" + path.read_text(encoding="utf-8")).split("\n" + HEAD)
    found = []
    for block in blocks[1:]:
        name, _, rest = block.partition("\n")
        script, _, printed = rest.partition(PRINTS)
        found.append(Program(path.stem, name, script, printed.strip()))
    return found


PROGRAMS = [p for path in sorted(HERE.glob("*.txt")) for p in read_programs(path)]


def test_names_are_said_once():
    """A second program of a name would hide behind the first one's."""
    names = [(p.kind, p.name) for p in PROGRAMS]
    assert len(names) == len(set(names))
    assert all(p.script and p.printed for p in PROGRAMS)


@pytest.mark.parametrize(
    "program", PROGRAMS, ids=[f"{p.kind}-{p.name}" for p in PROGRAMS]
)
def test_program_prints_what_it_must(program, tmp_path):
    shell = program.name.endswith(".sh")
    # The file's name is one that none of the modules that it imports has.
    file = tmp_path / ("program.sh" if shell else "program_that_went_wrong.py")
    file.write_text(program.script, encoding="utf-8")
    folder = tmp_path / "empty"
    folder.mkdir()
    command = ["bash", file] if shell else [sys.executable, "-m", "hotaru", file]
    done = subprocess.run(
        command,
        cwd=folder,
        env={
            **os.environ,
            "DATA": str(HERE / "data"),
            "HOTARU": str(Path(sys.executable).with_name("hotaru")),
            "OMP_NUM_THREADS": "1",
            "PY": sys.executable,
            "PYTHONWARNINGS": "ignore",
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stdout.strip() == program.printed, done.stderr
    assert done.returncode == 0, done.stderr
