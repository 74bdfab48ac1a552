"""Libraries that wrap all of libtorch, compiled function by function.

Their sources are not ours and not downloaded: DIR of --sources has what there
is of tch-rs (LaurentMazare/tch-rs), TorchSharp (dotnet/TorchSharp) and FTorch
(Cambridge-ICCS/FTorch), each in a folder of that name; what is not there is
said. A function counts that has no error of the compiler in it.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from libraries import Library

# Files of each, and the least share of functions that has to compile.
WRAPPERS = {
    "tch-rs": ("torch-sys/libtch", ("torch_api.cpp", "torch_api_generated.cpp"), 1.0),
    "TorchSharp": ("src/Native/LibTorchSharp", ("THS*.cpp",), 1.0),
    "FTorch": ("src", ("ctorch.cpp",), 1.0),
}
# Macros that FTorch's build gives: which number each kind of device has.
DEVICES = [
    f"-DGPU_DEVICE{name}={number}"
    for name, number in {
        "": 0,
        "_NONE": 0,
        "_CUDA": 1,
        "_HIP": 1,
        "_XPU": 12,
        "_MPS": 13,
    }.items()
]


@dataclass
class Compiled:
    """Functions of one file, and what is wrong in those that don't compile."""

    functions: int
    wrong: dict[str, str]


def owners(lines: list[str]) -> list[str]:
    """The function that each line belongs to; "" before the first."""
    out, current = [], ""
    for line in lines:
        found = re.match(r"(?!using|typedef|struct|namespace)\w[^=;]*?(\w+)\(", line)
        if found and not line.rstrip().endswith(";"):
            current = found[1]
        out.append(current)
    return out


def compile_file(path: Path, library: Library) -> Compiled:
    """Syntax and types only; an error in a header is the first function's."""
    lines = path.read_text(errors="replace").splitlines()
    owner = owners(lines)
    done = subprocess.run(
        [
            os.environ.get("CXX", "c++"),
            "-std=c++20",
            "-fsyntax-only",
            "-w",
            "-fmax-errors=0",
            "-fno-diagnostics-show-caret",
            *DEVICES,
            *library.flags,
            f"-I{path.parent}",
            path,
        ],
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
    )
    wrong: dict[str, str] = {}
    for line in done.stderr.splitlines():
        error = re.match(r"(.*?):(\d+):\d+: (?:fatal )?error: (.*)", line)
        if error:
            own = error[1] == str(path)
            name = owner[int(error[2]) - 1] if own else Path(error[1]).name
            wrong.setdefault(name, error[3])
    return Compiled(len(set(owner) - {""}), wrong)


def try_wrappers(folder: Path, library: Library, reasons: int) -> bool:
    """Prints a line for each library; true if all that is there is enough."""
    good = True
    for name, (inside, patterns, least) in WRAPPERS.items():
        root = folder / name / inside
        files = sorted({f for p in patterns for f in root.glob(p)})
        if not files:
            print(f"{name}: no sources in {root}")
            continue
        functions, wrong = 0, []
        for path in files:
            found = compile_file(path, library)
            functions += found.functions
            wrong += [(path.name, n, why) for n, why in found.wrong.items()]
        share = 1 - len(wrong) / max(functions, 1)
        print(
            f"{name}: {functions - len(wrong)} of {functions} functions "
            f"compile, {share:.1%}"
        )
        for where, function, why in wrong[:reasons]:
            print(f"  {where}, {function}: {why[:150]}")
        if share < least:
            print(f"FAILED: {name}: less than {least:.0%}")
            good = False
    return good
