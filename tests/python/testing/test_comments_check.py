"""The lint of comments finds what is planted in a small tree, and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "check_comments.py"

# Sources with words like these where they may stand.
GOOD = {
    "core/strides.h": (
        "/// Strides of an operand, in elements.\n"
        "struct Strides {\n"
        "  bool kept;  // Whether somebody holds them.\n"
        "  // Set if they were told.\n"
        "  // What is more: of none of them\n"
        "  // Of all.\n"
        "  int told;\n"
        "};\n"
        "//\n"
        "// Whatever follows.\n"
    ),
    "core/strides.py": (
        "#!/usr/bin/env python\n"
        '"""Strides.\n\nWhat else there is.\n"""\n\n\n'
        "def kept():\n"
        '    """True if strides are kept; those of views are."""\n'
        '    text = "# What is no comment."\n'
        "    return text  # Those that count.\n"
    ),
    "core/notes.md": "# What belongs to no source\n",
}
# Each file's text, and its offences: line, first word, and sentence.
PLANTED = {
    "core/a.h": (
        "// What it costs. The rest.\n#include <vector>\n",
        [(1, "What", "What it costs.")],
    ),
    "core/b.cpp": (
        "int a;\n\n/// Whether it\n/// ends, as `f` says: (never).\nint b;\n",
        [(3, "Whether", "Whether it ends, as `f` says:")],
    ),
    "core/c.cu": (
        "// Rows.\nint a;\n  //Those of a block\nint b;\n",
        [(3, "Those", "Those of a block")],
    ),
    "core/d.h": (
        "// Rows.\n/// Of the rows, the first\n///\n/// one.\n",
        [(2, "Of", "Of the rows, the first")],
    ),
    "core/e.py": (
        '"""What it is."""\n\n\ndef f():\n    r"""Whether\n    so.\n    """\n',
        [(1, "What", "What it is."), (5, "Whether", "Whether so.")],
    ),
    "core/f.py": (
        "# Of a.\n# Those.\nb = 2\nif b:\n    #: Those of c.\n    c = 3\n",
        [(1, "Of", "Of a."), (5, "Those", "Those of c.")],
    ),
}


def planted(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess:
    """Runs the lint over a repository of these files."""
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


def test_nothing_is_wrong_with_a_good_one(tmp_path):
    (tmp_path / "untracked.py").write_text("# Of nobody.\n")
    done = planted(tmp_path, GOOD)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(name, tmp_path):
    text, expected = PLANTED[name]
    done = planted(tmp_path, {**GOOD, name: text})
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert len(lines) == len(expected)
    for line, (number, word, sentence) in zip(lines, expected):
        assert line.startswith(f"{name}:{number}: begins with {word}; ")
        assert line.endswith(f": {sentence}")
