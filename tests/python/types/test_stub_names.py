"""Every public name that `docs/compatibility.md` counts as present has a type."""

from __future__ import annotations

import json
import keyword
import subprocess
import sys

import pytest
from checkers import ROOT, SOURCES, lines_with_errors, mypy

pytestmark = pytest.mark.ci
# Members that mypy knows and does not let a program read of the class.
_KNOWN = ("instance-only attribute", "in __slots__ conflicts with class")
_LOOK = """
import json, sys
sys.path[:0] = sys.argv[1:]
import hotaru
from check import install, look
install()
print(json.dumps([(n.space, n.name) for n in look() if n.have]))
"""


def _present() -> list[tuple[str, str]]:
    """Namespaces and names of PyTorch that hotaru has when it runs."""
    names = ROOT / "tests" / "conformance" / "names"
    command = [sys.executable, "-W", "ignore", "-c", _LOOK, str(names), str(SOURCES)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def _statements(present: list[tuple[str, str]]) -> list[str]:
    """A line for each name, that imports it or asks its class for it."""
    lines = []
    classes: dict[str, str] = {}
    for space, name in present:
        full = space.removeprefix("class ").replace("torch", "hotaru", 1)
        if keyword.iskeyword(name):
            continue
        if not space.startswith("class "):
            lines.append(f"from {full} import {name} as _{len(lines)}")
            continue
        if full not in classes:
            module, _, kind = full.rpartition(".")
            classes[full] = f"C{len(classes)}"
            lines.append(f"from {module} import {kind} as {classes[full]}")
        lines.append(f"{classes[full]}.{name}")
    return lines


def test_public_names_have_types(tmp_path):
    lines = _statements(_present())
    assert len(lines) > 7500
    (tmp_path / "names.py").write_text("\n".join(lines) + "\n")
    found = lines_with_errors(mypy(tmp_path, "names.py")).get("names.py", {})
    wrong = {
        lines[line - 1]: text
        for line, text in found.items()
        if not any(known in text for known in _KNOWN)
    }
    assert wrong == {}
