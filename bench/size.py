"""Installed sizes: hotaru's wheel as pip installs it, and PyTorch's.

    .venv/bin/python bench/size.py [--peer .venv-peers/bin/python]

Builds and installs hotaru into a temporary folder (with ccache seconds, else
minutes) and lists its largest files.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Runs in the peer's interpreter: bytes of torch and of what it requires.
MEASURE = """
import importlib.metadata as metadata, os, re
done, queue, total = set(), ["torch"], 0
while queue:
    name = queue.pop()
    if name in done:
        continue
    done.add(name)
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        continue
    paths = (str(found.locate_file(file)) for file in found.files or [])
    total += sum(os.path.getsize(path) for path in paths
                 if os.path.exists(path) and not path.endswith(".pyc"))
    queue += [re.match(r"[\\w.-]+", need)[0] for need in found.requires or []
              if "extra ==" not in need]
print(total)
"""


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def installed(folder: Path) -> dict[str, int]:
    """Bytes of each file below the folder, compiled Python left out."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="python with torch installed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet"),
                *("--no-deps", "--target", folder, str(ROOT)),
            ],
            check=True,
        )
        files = installed(Path(folder))
    print(f"hotaru {megabytes(sum(files.values()))} in {len(files)} files")
    for name in sorted(files, key=files.get, reverse=True)[:6]:
        print(f"  {megabytes(files[name]):>8}  {name}")
    if options.peer:
        done = subprocess.run(
            [options.peer, "-c", MEASURE], check=True, capture_output=True, text=True
        )
        print(f"torch with what it requires {megabytes(int(done.stdout))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
