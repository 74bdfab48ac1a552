"""Runs clang-tidy over the sources that are named, and remembers.

A source in which nothing was found is left out as long as it, what it includes,
its compiler's command, the checks and clang-tidy stay what they were: in
$XDG_CACHE_HOME/hotaru/tidy, for 60 days after it was last of use. Wants a build
folder that ninja has built. Exits with 1 if anything was found.

    python scripts/tidy.py [--until TIME] BUILD JOBS SOURCE...

With --until no source is begun after that time (in seconds since 1970), and
the last line printed says how many were not read; the next run has the others
behind it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

TIDY = "clang-tidy-16"
# GCC's precompiled headers, which clang can't read.
PRECOMPILED = re.compile(r" -Winvalid-pch| -include \S*cmake_pch\.hxx")
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
ROOT = Path(__file__).resolve().parent.parent
KEPT = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hotaru" / "tidy"
)
DAYS = 60


@cache
def digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@cache
def within(folder: Path, path: str) -> str:
    return os.path.normpath(folder / path)


def included(build: Path) -> dict[str, list[str]]:
    """Sources of each object, as the compiler told ninja."""
    out: dict[str, list[str]] = {}
    files: list[str] = []
    for line in output_of("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line.startswith("    "):
            files.append(within(build, line.strip()))
        elif ": #deps" in line:
            files = out[str(build / line.partition(": #deps")[0])] = []
    return out


def alone(entry: dict[str, str]) -> list[dict[str, str]]:
    """The sources of a unit (cmake/units.cmake), each with its command."""
    unit = Path(entry["file"])
    if unit.parent.name != "Unity" or not unit.exists():
        return [entry]
    return [
        entry | {"file": source, "command": entry["command"].replace(str(unit), source)}
        for source in INCLUDED.findall(unit.read_text())
    ]


class Checks:
    """Which sources have to be read (again)."""

    def __init__(self, build: Path) -> None:
        listed = json.loads((build / "compile_commands.json").read_text())
        entries = [one for entry in listed for one in alone(entry)]
        for entry in entries:
            entry["command"] = PRECOMPILED.sub("", entry["command"])
        self.database = json.dumps(entries)
        self.entries = {entry["file"]: entry for entry in entries}
        self.included = included(build)
        self.always = [output_of(TIDY, "--version"), digest(str(ROOT / ".clang-tidy"))]

    def stamp(self, source: str) -> Path | None:
        """The file that says that nothing was found; None: not known of."""
        entry = self.entries.get(str(ROOT / source))
        files = entry and self.included.get(entry["output"])
        if not files:
            return None
        parts = [*self.always, entry["command"], *files]
        key = hashlib.sha256()
        for part in parts:  # wherever the tree lies
            key.update(part.replace(str(ROOT), "").encode() + b"\0")
        for file in files:
            key.update(digest(file).encode())
        return KEPT / key.hexdigest()


class Reader:
    """Reads sources, and counts those that it had no time for."""

    def __init__(self, checks: Checks, folder: str, until: float) -> None:
        self.checks = checks
        self.folder = folder
        self.until = until
        self.unread = 0

    def read(self, source: str) -> str:
        """Returns what clang-tidy says, or nothing."""
        stamp = self.checks.stamp(source)
        if stamp and stamp.exists():
            stamp.touch()
            return ""
        if time.time() >= self.until:
            self.unread += 1
            return ""
        done = subprocess.run(
            [TIDY, "-p", self.folder, "--quiet", source],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or done.stdout.strip():
            return done.stdout + done.stderr
        if stamp:
            stamp.touch()
        return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("jobs", type=int)
    parser.add_argument("--until", type=float, default=float("inf"))
    parser.add_argument("sources", nargs="*")
    given = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    oldest = time.time() - DAYS * 86400
    for stamp in KEPT.iterdir():
        try:
            if stamp.stat().st_mtime < oldest:
                stamp.unlink()
        except FileNotFoundError:
            pass  # another run was faster
    checks = Checks(given.build.resolve())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "compile_commands.json").write_text(checks.database)
        reader = Reader(checks, folder, given.until)
        with ThreadPoolExecutor(given.jobs) as pool:
            found = list(pool.map(reader.read, given.sources))
    print("".join(found), end="")
    if reader.unread:
        print(f"{reader.unread} sources were not read: no time was left")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
