"""Measures CUDA graphs of hotaru beside PyTorch's, in one run.

    python bench/gpu/graphs.py --peer python3 [--json FILE] [--only CASE]

Each library has a process of its own, graph_figures.py; they take turns. A
figure is the median of the rounds, a ratio the median of the rounds' ratios.
Prints a table for each kind of case with its target; what could not be measured
says why and the rest goes on. Without --peer: hotaru alone.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import graph_tables

SCRIPT = Path(__file__).resolve().parent / "graph_figures.py"
# Measured once: they count, or take long.
ONCE = {"many", "loader"}


class Library:
    """A process that measures; a new one where the last cannot go on."""

    def __init__(self, command: list[str], sizes: str, limit: float) -> None:
        self.command = [*command, str(SCRIPT), sizes]
        self.limit = limit
        self.process = None
        self.version = self.device = ""
        # Cases in which a process was lost: not asked for again; and whether
        # none began at all.
        self.lost: set[str] = set()
        self.broken = False

    def start(self) -> None:
        if self.process is not None:
            return
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # select() knows of no bytes that were read already
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        self.broken = True
        hello = self._read()
        self.broken = False
        self.version, self.device = hello["version"], hello["device"]

    def _read(self) -> dict:
        """The next line; RuntimeError where none comes."""
        out = self.process.stdout
        if not select.select([out], [], [], self.limit)[0]:
            raise RuntimeError(f"took more than {self.limit:g} s")
        line = out.readline()
        if not line:
            raise RuntimeError(f"the process ended: {self.process.wait()}")
        return json.loads(line)

    def measure(self, case: str) -> dict:
        """Numbers of a case by name, or texts that say why there are none."""
        found: dict = {}
        if self.broken or case in self.lost:
            return found
        try:
            self.start()
            self.process.stdin.write(f"{case}\n".encode())
            self.process.stdin.flush()
            while answer := self._read():
                found |= answer
        except (OSError, RuntimeError) as error:
            self.lost.add(case)
            found["the rest"] = str(error)
            self.end()
        return found

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


@dataclass
class Measured:
    """A case: each library's answers round by round, and what they say."""

    case: str
    rounds: list[dict] = field(default_factory=list)

    def rows(self) -> list[graph_tables.Row]:
        return graph_tables.medians(
            [
                graph_tables.rows(
                    self.case, one.get("hotaru", {}), one.get("PyTorch", {})
                )
                for one in self.rounds
            ]
        )

    def notes(self) -> dict[str, str]:
        """Why figures are missing; the texts of figures that are no numbers."""
        return {
            f"{self.case}: {name}, {library}": value
            for one in self.rounds
            for library, answer in one.items()
            for name, value in answer.items()
            if isinstance(value, str)
        }


def measure(libraries: dict[str, Library], case: str, rounds: int) -> Measured:
    out = Measured(case)
    for number in range(1 if case in ONCE else rounds):
        # Who goes first changes from round to round.
        order = list(libraries)[:: -1 if number % 2 else 1]
        out.rounds.append({one: libraries[one].measure(case) for one in order})
    for name, library in libraries.items():
        # An error of CUDA may have left a device that answers nothing else.
        answers = [one[name] for one in out.rounds]
        if any(isinstance(v, str) for a in answers for v in a.values()):
            library.end()
    return out


def report(libraries: dict, groups: dict[str, list[Measured]]) -> dict:
    return {
        "libraries": {
            name: {"version": one.version, "device": one.device}
            for name, one in libraries.items()
        },
        "rows": {
            title: [vars(row) for one in measured for row in one.rows()]
            for title, measured in groups.items()
        },
        "rounds": {
            one.case: one.rounds for measured in groups.values() for one in measured
        },
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="command of a Python with PyTorch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--json", type=Path, help="file for all figures")
    parser.add_argument(
        "--limit", type=float, default=90, help="seconds a figure may take"
    )
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument(
        "--quick", action="store_true", help="tiny sizes: whether all runs"
    )
    sizes.add_argument(
        "--large",
        action="store_true",
        help="67 graphs of a decoder of 7 billion parameters (80 GB)",
    )
    return parser.parse_args()


def main() -> int:
    given = arguments()
    sizes = "quick" if given.quick else "large" if given.large else "full"
    commands = {"hotaru": [sys.executable, "-m", "hotaru"]}
    if given.peer:
        commands["PyTorch"] = shlex.split(given.peer)
    libraries = {
        name: Library(command, sizes, given.limit) for name, command in commands.items()
    }
    if given.quick:
        print("Tiny sizes: whether all runs, not how fast.\n")
    groups: dict[str, list[Measured]] = {}
    for title, cases in graph_tables.GROUPS.items():
        chosen = [c for c in cases if not given.only or given.only in c]
        if not chosen:
            continue
        measured = groups[title] = []
        for case in chosen:
            measured.append(
                measure(libraries, case, 1 if given.quick else given.rounds)
            )
        graph_tables.show(title, measured)
        if given.json:
            found = report(libraries, groups)
            given.json.write_text(json.dumps(found, indent=1) + "\n")
    for name, library in libraries.items():
        library.end()
        if library.version:
            print(f"{name} {library.version} on {library.device}")
    missing = [n for m in groups.values() for one in m for n in one.notes()]
    return 1 if any(", hotaru" in name for name in missing) else 0


if __name__ == "__main__":
    sys.exit(main())
