"""Comparison of the bits that two builds of the library compute here.

Runs every statement of bench/sweep_list.py, values and gradients, at two sizes
with each build and compares hashes of what comes out. Builds may differ in the
instruction sets that they were compiled for (CMake's HOTARU_SIMD): the one that
is used here is the same. Also checks that a build for one instruction set ends
with a sentence where the processor is said to lack it. Exits with 1 if anything
differs.

    python tests/same_bits.py BUILD OTHER_BUILD
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZES = ("tiny", "cache")
NO_VALUES = {"torch.empty_like(f)"}  # whatever the memory held


def digest(torch, result) -> str:
    """A hash of the bits of a statement's result."""
    if isinstance(result, torch.Tensor):
        plain = result.detach()
        if plain.is_complex():
            plain = torch.view_as_real(plain)
        if plain.dtype == torch.bfloat16:
            plain = plain.view(torch.int16)
        data = plain.contiguous().numpy().tobytes()
        text = f"{result.dtype} {tuple(result.shape)} {result.stride()}"
        return hashlib.sha256(text.encode() + data).hexdigest()[:16]
    if isinstance(result, (tuple, list)):
        return " ".join(digest(torch, one) for one in result)
    return repr(result)


def gradients(torch, statement: str, names: dict, start=None) -> list:
    """The gradients of what a statement names, by the sum of its results; `start`
    gives those of the results in place of ones.
    """
    leaves = {
        name: value.clone().requires_grad_()
        for name, value in names.items()
        if isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and re.search(rf"\b{name}\b", statement)
    }
    result = eval(statement, {**names, **leaves})
    if isinstance(result, torch.Tensor):
        result = [result]
    ends = [
        y
        for y in (result if isinstance(result, (tuple, list)) else [])
        if isinstance(y, torch.Tensor) and y.requires_grad
    ]
    if not ends or not leaves:
        return []
    given = [(start or torch.ones_like)(y) for y in ends]
    found = torch.autograd.grad(ends, list(leaves.values()), given, allow_unused=True)
    return [g for g in found if g is not None]


def hashes() -> dict[str, str]:
    """Hashes of every statement, in this process."""
    import hotaru as torch

    sys.modules["torch"] = torch
    sys.path.insert(0, str(ROOT / "bench"))
    import sweep_list

    torch.set_num_threads(2)
    out = {}
    for size in SIZES:
        for family, statements in sweep_list.families().items():
            for statement in statements:
                if statement in NO_VALUES:
                    continue
                # Fresh operands each time, as some statements write to theirs.
                names = sweep_list.operands(size)
                names |= {"torch": torch, "F": torch.nn.functional}
                key = f"{size}: {statement}"
                torch.manual_seed(1)
                with torch.no_grad():
                    out[key] = digest(torch, eval(statement, dict(names)))
                if family == "writes and draws":
                    continue
                torch.manual_seed(1)
                try:
                    found = gradients(torch, statement, names)
                except (RuntimeError, NotImplementedError) as error:
                    out[f"{key}, gradients"] = str(error)
                    continue
                out[f"{key}, gradients"] = digest(torch, found)
    return out


def run(build: Path, **more: str) -> subprocess.CompletedProcess:
    """This script with a build's library."""
    env = {**os.environ, "LD_LIBRARY_PATH": str(build / "hotaru"), **more}
    return subprocess.run(
        [sys.executable, __file__, "--hashes"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def built_alone(build: Path) -> str | None:
    """The instruction set that a build is for, if it is for one."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("HOTARU_SIMD:"):
            simd = line.partition("=")[2]
            return None if simd == "all" else simd
    return None


def main(builds: list[Path]) -> int:
    wrong, found = [], []
    for build in builds:
        done = run(build)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return 1
        found.append(json.loads(done.stdout))
        if built_alone(build) not in (None, "baseline"):
            done = run(build, HOTARU_SIMD="baseline")
            if done.returncode != 1 or "was built for" not in done.stderr:
                wrong.append(f"{build} runs without its instruction set: {done}")
    one, other = found
    wrong += [
        f"{key}: {one.get(key)} and {other.get(key)}"
        for key in {**one, **other}
        if one.get(key) != other.get(key)
    ]
    for text in wrong:
        print(text)
    print(f"{len(one)} results, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--hashes"]:
        print(json.dumps(hashes()))
    else:
        sys.exit(main([Path(argument).resolve() for argument in sys.argv[1:]]))
