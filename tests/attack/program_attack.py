"""Random programs: hotaru against PyTorch, and against itself.

    python tests/attack/program_attack.py --peer PYTHON [--seconds 60]
    python tests/attack/program_attack.py [--seconds 60] [--seed N]

With an interpreter that has PyTorch every program runs there, too. Without,
eager values are held against a queued stream, a captured graph, and inputs
that lie in memory in other ways. Workers are processes: a crash or a hang of
one is a finding.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import select
import subprocess
import sys
import time
from pathlib import Path

from program_steps import (
    DTYPES,
    EXACT,
    IN_PLACE,
    LAYOUTS,
    NUMBERS,
    RARE_NUMBERS,
    ROUNDED,
    lines,
)

HERE = Path(__file__).resolve().parent
_TABLES = ((lines(EXACT), 5), (lines(IN_PLACE), 2), (lines(ROUNDED), 4))
_ROUNDED = set(lines(ROUNDED))
_HOLE = re.compile(r"\b[ABCXYDNKS]\b")
_CHOICES = {
    "D": (0, 0, 1, -1, -1, 2, -2, 3),
    "K": (0, 1, 1, 2, 2, 3),
    "N": NUMBERS,
    "S": (
        (),
        (2, 3),
        (3, 2),
        (-1,),
        (4,),
        (1, 4),
        (2, 2, 2),
        (0,),
        (3, -1),
        (6,),
        (1,),
    ),
}
_LAYOUT_BOUND = re.compile(
    r"_\(|stride|storage_offset|contiguous|view|resize|flatten|\.data|out="
)
_ANSWER = 20  # seconds
# Kinds of differences that are shown only when asked for.
_LESSER = {"missing", "other error"}


class Worker:
    """A process that runs programs under one library."""

    def __init__(self, python: str, library: str) -> None:
        self.command = [python, str(HERE / "program_run.py"), library]
        self.process: subprocess.Popen | None = None

    def ask(self, **request):
        """The answer; a text says how the process died instead."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=HERE.parents[1],
            )
        process = self.process
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            if select.select([process.stdout], [], [], _ANSWER)[0]:
                line = process.stdout.readline()
                if line:
                    return json.loads(line)
        except BrokenPipeError:
            pass
        alive = process.poll() is None
        self.close()
        if alive and process.returncode in (-9, None):
            return "hangs"
        return f"dies with {process.returncode}"

    def close(self) -> None:
        """Ends the process."""
        if self.process is not None:
            try:
                self.process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None


def program(seed) -> dict:
    """A random program; a seed fixes it."""
    r = random.Random(seed)
    inputs = [_input(r) for _ in range(r.randint(1, 3))]
    exact = [True] * len(inputs)
    steps = []
    for _ in range(r.choice((1, 1, 2, 3, 4, 6))):
        table = r.choices(*zip(*_TABLES))[0]
        template = r.choice(table)
        names: list[int] = []
        if {"X", "Y"} & set(_HOLE.findall(template)) and not any(exact):
            continue
        steps.append(_HOLE.sub(_filler(r, exact, names), template))
        sure = all(exact[i] for i in names) and template not in _ROUNDED
        exact.append(sure)
        if table is _TABLES[1][0]:
            # Other variables may be views of what was written.
            exact = [e and sure for e in exact]
    return {"inputs": inputs, "steps": steps or ["v0 + 1"]}


def _input(r: random.Random) -> dict:
    shape = r.choice(
        (
            [],
            [0],
            [1],
            [4],
            [2, 3],
            [3, 3],
            [3, 4],
            [1, 4],
            [0, 3],
            [2, 1, 3],
            [2, 3, 4],
            [1, 1, 4, 4],
            [2, 2, 4, 5],
            [2, 0, 3],
            [8],
            [5, 1],
        )
    )
    count = 1
    for size in shape:
        count *= size
    dtype = r.choices(*zip(*DTYPES))[0]
    # How infinite parts of complex numbers multiply is nobody's promise.
    kinds = ("eighths", "eighths", "ints", "special")
    kind = r.choice(kinds[:3] if dtype.startswith("complex") else kinds)
    pick = {
        "eighths": lambda: r.randint(-24, 24) / 8,
        "ints": lambda: r.randint(-3, 5),
        "special": lambda: r.choice(
            (0.0, -0.0, 1.0, -1.0, 0.5, "nan", "inf", "-inf", 2.0)
        ),
    }[kind]
    return {
        "shape": shape,
        "dtype": dtype,
        "layout": r.choice(LAYOUTS),
        "values": [pick() for _ in range(count)],
        "grad": r.random() < 0.5,
    }


def _filler(r: random.Random, exact: list, names: list):
    """Fills holes; notes the variables that it chose in `names`."""

    def fill(match) -> str:
        hole = match.group()
        if hole in "ABCXY":
            known = range(len(exact))
            if hole in "XY":
                known = [i for i in known if exact[i]]
            names.append(r.choice(known))
            return f"v{names[-1]}"
        if hole == "N" and r.randrange(8) == 0:
            return r.choice(RARE_NUMBERS)
        return repr(r.choice(_CHOICES[hole]))

    return fill


#: Relative to the largest value of a result.
TOLERANCES = {"bfloat16": 6e-2, "float16": 2e-2, "float32": 3e-5, "complex64": 3e-5}


def tolerance(outcomes) -> float:
    """Tolerance for rounding: that of the least precise dtype so far."""
    text = json.dumps(outcomes)
    return max([1e-9, *(v for name, v in TOLERANCES.items() if f'"{name}"' in text)])


def differs(got, want, near: float, path: str = "") -> str | None:
    """Where two descriptions differ, or None."""
    if type(got) is not type(want):
        return f"{path}: {_short(got)} for {_short(want)}"
    if not isinstance(want, list):
        return None if got == want else f"{path}: {_short(got)} for {_short(want)}"
    if len(want) == 4 and isinstance(want[3], bool) and len(got) == 4:
        return _tensors_differ(got, want, near, path)
    if len(got) != len(want):
        return f"{path}: {len(got)} results for {len(want)}"
    for i, (a, b) in enumerate(zip(got, want)):
        found = differs(a, b, near, f"{path}/{i}")
        if found:
            return found
    return None


def _tensors_differ(got: list, want: list, near: float, path: str) -> str | None:
    for i, what in ((0, "dtype"), (1, "shape"), (3, "requires_grad")):
        if got[i] != want[i]:
            return f"{path}: {what} {got[i]} for {want[i]}"
    finite = [abs(v) for v in want[2] if not isinstance(v, str)]
    limit = near * max([1.0, *finite])
    for i, (a, b) in enumerate(zip(got[2], want[2])):
        texts = isinstance(a, str), isinstance(b, str)
        if any(texts):
            if a != b and not (texts == (True, False) and _huge(b, want[0])):
                return f"{path}[{i}]: {a} for {b}"
        elif abs(a - b) > limit:
            return f"{path}[{i}]: {a} for {b} ({want[0]})"
    return None


def _huge(value: float, dtype: str) -> bool:
    """True if rounding alone may make it infinite."""
    return abs(value) > (6e4 if dtype == "float16" else 3e38)


def _short(value) -> str:
    text = json.dumps(value)
    return text if len(text) < 90 else text[:87] + "..."


def compared(got, want, given: dict) -> tuple[str, str] | None:
    """The kind of difference and where, or None."""
    if isinstance(got, str) or isinstance(want, str):
        if isinstance(got, str):
            return "crash", got
        return None  # the peer's own crash
    steps, near = given["steps"], tolerance([given["inputs"], want])
    for i in range(max(len(got), len(want))):
        if i >= len(got) or i >= len(want):
            return None  # ended by the size of a result
        a, b = got[i], want[i]
        last = i == len(want) - 1
        where = "backward" if last else f"step {i}: {steps[i]}"
        if a[0] != b[0]:
            if a[0] == "error":
                missing = "no attribute" in a[2] or a[1] == "NotImplementedError"
                return ("missing" if missing else "raises", f"{where}: {a[1]}: {a[2]}")
            return "accepts", f"{where}: no {b[1]}: {b[2]}"
        if a[0] == "error":
            if a[1] != b[1]:
                return ("other error", f"{where}: {a[1]}: {a[2]} for {b[1]}: {b[2]}")
            continue
        found = differs(a[1], b[1], near)
        if found:
            return ("gradient" if last else "value"), f"{where}{found}"
    return None


def attack(given: dict, own: Worker, peer: Worker | None):
    """Finds what is wrong with a program: (kind, text), or None."""
    plain = own.ask(way="eager", program=given)
    if isinstance(plain, str):
        return "crash", plain
    if peer is not None:
        want = peer.ask(way="eager", program=given)
        return compared(plain, want, given)
    late = all(outcome[0] == "ok" for outcome in plain)
    got = own.ask(way="queued", program=given, late=late)
    if isinstance(got, str):
        return "crash", "queued: " + got
    if not late:
        return None  # elsewhere the error comes at another step
    found = compared(got, plain, given)
    if found:
        return found[0], "queued: " + found[1]
    both = own.ask(way="graphed", program=given)
    if isinstance(both, str):
        return "crash", "graphed: " + both
    if both is not None:
        wrong = differs(*both, tolerance([given["inputs"], plain]))
        if wrong:
            return "value", "graphed" + wrong
    # Excepted are writes into expanded inputs, and what looks at strides.
    if "expanded" in [spec["layout"] for spec in given["inputs"]] or any(
        _LAYOUT_BOUND.search(step) for step in given["steps"]
    ):
        return None
    other = own.ask(way="eager", program=given, layout="plain")
    found = compared(other, plain, given)
    return found and (found[0], "layout: " + found[1])


def shrunk(given: dict, own: Worker, peer: Worker | None, kind: str) -> dict:
    """A program of fewer steps that goes wrong in the same way."""
    for at in reversed(range(len(given["steps"]))):
        steps = list(given["steps"])
        # A step that goes keeps its number.
        steps[at] = "v0"
        less = {**given, "steps": steps}
        found = attack(less, own, peer)
        if found and found[0] == kind:
            given = less
    for i, spec in enumerate(given["inputs"]):
        for change in ({"layout": "plain"}, {"grad": False}, {"dtype": "float32"}):
            inputs = list(given["inputs"])
            inputs[i] = {**spec, **change}
            found = attack({**given, "inputs": inputs}, own, peer)
            if found and found[0] == kind:
                given, spec = {**given, "inputs": inputs}, inputs[i]
    return given


def seeds_for(seconds: float, first: int = 0):
    """Seeds until the time is over."""
    deadline = time.monotonic() + seconds
    for seed in itertools.count(first):
        if time.monotonic() > deadline:
            return
        yield seed


def _text(given: dict) -> str:
    steps = "; ".join(given["steps"])
    inputs = [
        f"    v{i}: {json.dumps(spec)}\n"
        for i, spec in enumerate(given["inputs"])
        if spec["grad"] or re.search(rf"\bv{i}\b", steps)
    ]
    return "".join(inputs) + "    " + steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--peer", help="an interpreter that has PyTorch")
    add("--seconds", type=float, default=60)
    add("--seed", type=int, default=0)
    add("--one", action="store_true", help="only the program of the seed")
    add("--all", action="store_true", help="also missing names, other errors")
    options = parser.parse_args()
    own = Worker(sys.executable, "hotaru")
    peer = Worker(options.peer, "torch") if options.peer else None
    count, kinds, seen = 0, {}, set()
    for seed in seeds_for(options.seconds, options.seed):
        given = program(seed)
        found = attack(given, own, peer)
        if found:
            kinds[found[0]] = kinds.get(found[0], 0) + 1
        if found and (options.all or found[0] not in _LESSER):
            given = shrunk(given, own, peer, found[0])
            found = attack(given, own, peer) or found
            key = (found[0], re.sub(r"[v\d.]+", "#", found[1])[:60])
            if key not in seen:
                seen.add(key)
                print(f"{found[0]}: seed {seed}: {found[1]}")
                print(_text(given), flush=True)
        count += 1
        if options.one:
            break
    own.close()
    if peer:
        peer.close()
    print(f"{count} programs, differences by kind: {kinds}")
    return 1 if set(kinds) - _LESSER else 0


if __name__ == "__main__":
    sys.exit(main())
