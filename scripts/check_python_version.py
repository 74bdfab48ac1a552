"""Checks that the Python which pyproject.toml promises is new enough.

Vermin looks for syntax, modules and names of the standard library that came
after `requires-python`'s version, in every Python file that users run: the
package, scripts, examples and benchmarks. A line's `# novm` says why it is
none, such as a parameter that has a module's name.

Prints each offence and exits with 1 if there was one. A file that vermin
cannot judge is an offence, too.

    python scripts/check_python_version.py [--root FOLDER]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from tracked import tracked

FOLDERS = ("python", "scripts", "examples", "bench")


def promised(root: Path) -> str:
    """The version that `requires-python` begins with, such as "3.10"."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^requires-python = ">=(3\.\d+)"$', text, re.MULTILINE)
    if not found:
        raise SystemExit('pyproject.toml: no requires-python = ">=3.N"')
    return found[1]


def sources(root: Path) -> list[str]:
    """The repository's Python files that users run."""
    return tracked(*(f"{f}/*.py" for f in FOLDERS), root=root)


def check(root: Path) -> str:
    """Complaints of vermin against a repository; nothing if all is well."""
    version = promised(root)
    done = subprocess.run(
        [
            Path(sys.executable).with_name("vermin"),
            "--no-config-file",
            "--no-make-paths-absolute",
            "--no-tips",
            "--quiet",
            "--violations",
            "-vvv",
            f"--target={version}-",
            *sources(root),
        ],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
    )
    said = done.stdout.strip()
    # Vermin ends with 0 after syntax that its Python does not know.
    if done.returncode and not said:
        return f"vermin ended with {done.returncode}"
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=Path())
    said = check(parser.parse_args().root)
    if said:
        print(said)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
