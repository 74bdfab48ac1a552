"""Loads damaged files and runs what is in them.

    python tests/attack/mutant_attack.py [--count 2000] [--seed N]
                                         [--kind KIND] [--cli PROGRAM]
                                         [--program ATTACK_FILES]

A file is refused with an exception or loaded and run. A signal, a hang or a
result that depends on what was in memory before is a finding; the file is
kept. Python loads the archives; .npy files are read by the command `hotaru`.
With --program, files of all kinds are used by attack_files, which a build of
the C++ tests with sanitizers has.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import mutants
from module_attack import in_child

import hotaru as torch

KINDS = ("hotaru", "pytorch", "state", "npy")
_BATCH = 20
_SECONDS = 10  # of computing, for a file
_MEMORY = 2 << 30
_PERTURB = -6  # mallopt: new memory is filled with this byte


def use(kind: str, data: bytes) -> str:
    """Loads a file and runs it; what came of it, as a text."""
    if kind == "state":
        return _described(torch.load(io.BytesIO(data)))
    module = torch.jit.load(io.BytesIO(data))
    found = []
    for name, part in list(module.named_modules())[:12]:
        for args in ((torch.ones(2, 4),), (torch.ones(1, 3, 8),), (3,), ()):
            try:
                found.append((name, _described(part(*args))))
                break
            except Exception as error:
                found.append((name, type(error).__name__))
    return repr(found) + _described(dict(module.state_dict()))


def _described(value, depth: int = 0) -> str:
    if isinstance(value, torch.Tensor):
        shape = tuple(value.shape)
        if value.numel() > 10_000:
            # Too many to look at all: corners and the middle.
            places = (
                [0] * len(shape),
                [-1] * len(shape),
                [size // 2 for size in shape],
            )
            few = [value[tuple(place)].item() for place in places]
            return f"{value.dtype} {shape} {few}"
        text = f"{value.dtype} {shape} {value.detach().tolist()}"
        if value.dtype is torch.bool:
            # Bytes of a file that are neither 0 nor 1.
            text += f"{value.sum()} {value.nonzero().tolist()}"
        return text
    if isinstance(value, (list, tuple)) and depth < 8:
        return str([_described(item, depth + 1) for item in value])
    if isinstance(value, dict) and depth < 8:
        return str([(str(k), _described(v, depth + 1)) for k, v in value.items()])
    return type(value).__name__ if depth >= 8 else repr(value)[:1000]


def outcomes(kind: str, files: list[bytes], fill: int) -> list[str]:
    """Runs each, with new memory full of a byte; in a child."""
    ctypes.CDLL(None).mallopt(_PERTURB, fill)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    seconds = _SECONDS * len(files)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    found = []
    for data in files:
        torch.manual_seed(0)
        try:
            text = use(kind, data)
        except MemoryError:
            text = "MemoryError"
        except Exception as error:
            text = type(error).__name__
        found.append(hashlib.sha1(text.encode()).hexdigest()[:16])
    return found


def judged(kind: str, files: list[bytes]) -> list[tuple[int, str]]:
    """Numbers of the files that are findings, and what happens."""
    both = [in_child(outcomes, kind, files, fill) for fill in (0x55, 0xAA)]
    died = next((text for text in both if isinstance(text, str)), None)
    if died is None:
        return [
            (i, "depends on memory") for i, (a, b) in enumerate(zip(*both)) if a != b
        ]
    if len(files) == 1:
        return [(0, died)]
    half = len(files) // 2
    first, second = judged(kind, files[:half]), judged(kind, files[half:])
    return first + [(i + half, text) for i, text in second]


class Command:
    """The command reading arrays, for a program that gives them back."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.model = os.path.join(self.folder.name, "model.pt")
        scripted = torch.jit.script(torch.nn.Identity())
        torch.jit.save(scripted, self.model)

    def judged(self, files: list[bytes]) -> list[tuple[int, str]]:
        path = os.path.join(self.folder.name, "array.npy")
        found = []
        for i, data in enumerate(files):
            Path(path).write_bytes(data)
            try:
                code = subprocess.run(
                    [self.program, "run", self.model, path],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=6 * _SECONDS,
                ).returncode
            except subprocess.TimeoutExpired:
                found.append((i, "hangs"))
                continue
            # Refusals are 1 and 2; a sanitizer ends with another number.
            if code not in (0, 1, 2):
                found.append((i, f"ends with {code}"))
        return found


class Program:
    """attack_files, which uses files of any kind and ends with 0."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        # Sizes that a file asks for may be refused, as without a sanitizer.
        limits = "allocator_may_return_null=1:max_allocation_size_mb=2048"
        self.environment = {**os.environ, "ASAN_OPTIONS": limits}

    def judged(self, files: list[bytes]) -> list[tuple[int, str]]:
        paths = [os.path.join(self.folder.name, str(i)) for i in range(_BATCH)]
        for path, data in zip(paths, files):
            Path(path).write_bytes(data)
        found, first = [], 0
        while first < len(files):
            done, text = self._used(paths[first : len(files)])
            if text is None:
                break
            # The one that ended it is the last that was begun.
            first += max(done, 1)
            found.append((first - 1, text))
        return found

    def _used(self, paths: list[str]) -> tuple[int, str | None]:
        """How many were begun, and what ended the process unless all went."""
        try:
            run = subprocess.run(
                [self.program, *paths],
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=6 * _SECONDS,
            )
        except subprocess.TimeoutExpired as expired:
            return (expired.stdout or b"").count(b"\n"), "hangs"
        if run.returncode == 0:
            return len(paths), None
        lines = [line for line in run.stderr.splitlines() if "rror" in line]
        text = f"ends with {run.returncode}: {' '.join(lines[:2])}"
        return run.stdout.count("\n"), text


def attack(kind: str, count: int, seed: int, command=None):
    """Findings among so many mutants: (file, what happens).

    They are used by `command`, a Command or Program, else by Python.
    """
    files = mutants.seeds()[kind]
    for start in range(seed, seed + count, _BATCH):
        numbers = range(start, min(start + _BATCH, seed + count))
        made = [
            mutants.mutant(kind, files, random.Random(f"{kind} {n}")) for n in numbers
        ]
        wrong = command.judged(made) if command else judged(kind, made)
        for i, text in wrong:
            yield numbers[i], made[i], text


def find_command(given: str | None = None) -> str | None:
    """The command `hotaru`: given, beside the interpreter, or in PATH."""
    beside = Path(sys.executable).parent / "hotaru"
    for path in (given, str(beside), shutil.which("hotaru")):
        if path and os.access(path, os.X_OK):
            return path
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--count", type=int, default=2000, help="mutants of each kind")
    add("--seed", type=int, default=0)
    add("--kind", choices=KINDS)
    add("--cli", help="the command hotaru, for .npy files")
    add("--program", help="attack_files, instead of Python and the command")
    add("--keep", default="mutants-found", help="folder for findings")
    options = parser.parse_args()
    program = find_command(options.cli)
    failed = 0
    for kind in [options.kind] if options.kind else KINDS:
        command = None
        if options.program:
            command = Program(options.program)
        elif kind == "npy":
            if program is None:
                print("npy: no command hotaru here", file=sys.stderr)
                return 2
            command = Command(program)
        start = time.monotonic()
        for number, data, text in attack(kind, options.count, options.seed, command):
            failed += 1
            folder = Path(options.keep)
            folder.mkdir(exist_ok=True)
            (folder / f"{kind}-{number}").write_bytes(data)
            print(f"{kind} {number}: {text}", flush=True)
        took = time.monotonic() - start
        print(
            json.dumps(
                {"kind": kind, "mutants": options.count, "seconds": round(took)}
            ),
            flush=True,
        )
    print(f"{failed} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
