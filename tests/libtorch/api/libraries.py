"""Libraries to compile C++ programs with: hotaru's libtorch/, or PyTorch's."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Library:
    """Files to compile with and to link."""

    name: str
    flags: list[str]
    link: list[str]


def hotaru(build: Path) -> Library:
    own = build / "libtorch"
    include = [ROOT / "libtorch/include", own / "generated", ROOT]
    folders = [own, build / "hotaru"]
    return Library(
        "hotaru",
        [f"-I{path}" for path in include],
        [*linked(folders), "-lhotaru_torch", "-lhotaru"],
    )


def libtorch(python: str) -> Library:
    code = "import torch, os; print(os.path.dirname(torch.__file__))"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True)
    root = Path(found.stdout.strip())
    include = [root / "include", root / "include/torch/csrc/api/include"]
    return Library(
        "libtorch",
        [f"-I{path}" for path in include],
        [*linked([root / "lib"]), "-ltorch", "-ltorch_cpu", "-lc10"],
    )


def linked(folders: list[Path]) -> list[str]:
    return [f"-L{f}" for f in folders] + [f"-Wl,-rpath,{f}" for f in folders]
