"""Checks the layers of the C++ code, the rooms in them, and their size.

The order is that of docs/design.md, section 3. A file of a layer may include
its own layer and those before it; everything outside `hotaru/` may include
every layer, and no layer may include what is outside. Within a layer whose
rooms have an order, headers include only rooms before theirs (sources may call
each other: a function is compiled when it first runs). Rooms of operators and
kernels are families, with the same names in every layer. No circles, and no
room with more than 30 files. Host code reaches a tensor's bytes through
core/host.h; kernels, graphs and tests ask the tensor itself. Operators look at
elements through ops/host_value.h, which names the reason. Prints each offence
as `file:line: what is wrong` and exits with 1 if there was one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

LAYERS = (
    "core",
    "runtime",
    "comm",
    "backend",
    "graph",
    "autograd",
    "ops",
    "engine",
    "io",
    "script",
    "exchange",
    "provider",
    "cpp_api",
)
# Rooms of a layer in the order in which their headers include each other; ""
# is the layer's own folder.
ROOMS = {
    "core": ("printing", "checks", "", "inference", "sparse"),
    "runtime": ("", "threads", "streams", "own"),
    "comm": ("", "store", "mesh", "group"),
    "io": ("", "onnx", "weights"),
    "exchange": ("", "onnx", "onnx_out", "onnx_out/rows", "pt2", "picture"),
    "provider": ("", "ort"),
    "graph": (
        "capture",
        "program",
        "passes",
        "passes/products",
        "passes/pictures",
        "drawing",
        "",
    ),
    "script": (
        "source",
        "types",
        "ir",
        "program",
        "compile",
        "passes",
        "run",
        "builtins",
        "archive",
    ),
}
# Rooms of `ops`, `backend/common` and each device: what an operator belongs to.
FAMILIES = {
    "activation",
    "attention",
    "conv",
    "create",
    "distance",
    "fft",
    "foreach",
    "index",
    "linalg",
    "loss",
    "matmul",
    "norm",
    "optim",
    "pointwise",
    "pool",
    "random",
    "reduce",
    "resample",
    "rnn",
    "shape",
    "sort",
    "sparse",
    "vision",
}
# Rooms of a device that no family owns. What runs on the GPU has families of
# its own, and what it is told is all the host's half knows of it.
DEVICE_ROOMS = {
    "cpu": {
        "simd",
        "conv/amx",
        "conv/blocked",
        "conv/gradients",
        "linalg/spectra",
        "matmul/amx",
        "matmul/halves",
        "matmul/int8",
        "matmul/narrow",
        "matmul/quads",
        "matmul/whole",
    },
    "cuda": {"libraries", "collective", "cupti", "fused", "graph", "jit"}
    | {"params", "device"}
    | {"jit/std", "jit/host"}
    | {f"{half}/{name}" for half in ("params", "device") for name in FAMILIES},
    "soft_gpu": {"libraries"},
}
LARGEST_ROOM = 30
# The umbrella header stands above all layers.
UMBRELLA = "hotaru/hotaru.h"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')

Edges = dict[str, list[tuple[int, str]]]


def rank(path: str) -> int:
    """Position of the file's layer; files outside the layers come last.

    Raises ValueError for a file below hotaru/ whose folder is no layer.
    """
    parts = Path(path).parts
    if parts[0] != "hotaru" or path == UMBRELLA:
        return len(LAYERS)
    if len(parts) < 3 or parts[1] not in LAYERS:
        raise ValueError(f"{path}: not in a layer ({', '.join(LAYERS)})")
    return LAYERS.index(parts[1])


def includes(files: list[str]) -> Edges:
    """Quoted includes of each file that name a file of the repository."""
    known = set(files)
    roots = ("", "python/")
    edges: Edges = {}
    for name in files:
        edges[name] = []
        lines = Path(name).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            candidates = [root + match[1] for root in roots]
            candidates.append((Path(name).parent / match[1]).as_posix())
            target = next((c for c in candidates if c in known), None)
            if target:
                edges[name].append((number, target))
    return edges


def upward(edges: Edges) -> list[str]:
    """Includes of a layer above the including file's."""
    return [
        f"{name}:{number}: includes {target}, which is a layer above"
        for name, targets in edges.items()
        for number, target in targets
        if rank(target) > rank(name)
    ]


def room(path: str) -> tuple[str, str]:
    """The layer of a file below hotaru/ and the room in it."""
    parts = Path(path).parts
    return parts[1], "/".join(parts[2:-1])


def room_upward(edges: Edges) -> list[str]:
    """Headers that include a later room of their own layer."""
    found = []
    for name, targets in edges.items():
        if not name.startswith("hotaru/") or name == UMBRELLA:
            continue
        layer, here = room(name)
        order = ROOMS.get(layer)
        if not order or not name.endswith(".h"):
            continue
        for number, target in targets:
            if not target.startswith(f"hotaru/{layer}/"):
                continue
            there = room(target)[1]
            if order.index(there) > order.index(here):
                found.append(
                    f"{name}:{number}: includes {target}, a room above its own"
                )
    return found


def misplaced(files: list[str]) -> list[str]:
    """Files in rooms that their layer does not have, and rooms too full."""
    found = []
    for name in files:
        if not name.startswith("hotaru/") or name == UMBRELLA:
            continue
        layer, here = room(name)
        if layer == "backend":
            device, _, here = here.partition("/")
            known = FAMILIES | DEVICE_ROOMS.get(device, set()) | {""}
        elif layer == "ops":
            known = FAMILIES | {"", "own"}  # own: those of programs
        elif layer in ROOMS:
            # Plug-ins are programs of their own, one folder further down.
            here = here.removesuffix("/backends")
            known = set(ROOMS[layer])
        else:
            known = {""}
        if here not in known:
            found.append(
                f"{name}:1: {layer} has no room {here or 'of its own'!r}"
            )
    sizes = Counter(Path(name).parent.as_posix() for name in files)
    found += [
        f"{folder}:1: {size} files; a room holds {LARGEST_ROOM} at most"
        for folder, size in sizes.items()
        if size > LARGEST_ROOM
    ]
    return found


def cycles(edges: Edges) -> list[str]:
    """One message for each circle of includes that a depth-first walk meets."""
    found = []
    done: set[str] = set()
    for start in edges:
        if start in done:
            continue
        path = [start]
        pending = [iter(edges[start])]
        while pending:
            _, target = next(pending[-1], (0, None))
            if target is None:
                done.add(path.pop())
                pending.pop()
            elif target in path:
                circle = [*path[path.index(target) :], target]
                found.append(f"{target}:1: circle {' -> '.join(circle)}")
            elif target not in done:
                path.append(target)
                pending.append(iter(edges[target]))
    return found


# Who works on addresses that a call or a graph hands to kernels.
_ASKS_THE_TENSOR = (
    "hotaru/backend/",
    "hotaru/comm/group/collective_kernel.cpp",
    "hotaru/core/host.h",
    "hotaru/core/tensor.h",
    "hotaru/graph/program/",
    "tests/",
    "bench/",
    "examples/",
)
_BYTES = re.compile(r"\b(raw_data\(\)|data<[^>]+>\(\))")


def past_the_host_door(files: list[str]) -> list[str]:
    """Lines of host code that do not go through host_bytes or host_data."""
    hosts = [name for name in files if not name.startswith(_ASKS_THE_TENSOR)]
    return matches(_BYTES, hosts, "outside kernels; see core/host.h")


# The factories and `item` make and read what the host itself is asked for.
_LOOKS_AT_ELEMENTS = (
    "hotaru/ops/create/copy",
    "hotaru/ops/create/factory.cpp",
    "hotaru/ops/host_value.cpp",
)
_ELEMENT = re.compile(r"(?<![\w.>])(item\(|host_data<|host_bytes\()")


def looks_at_elements(files: list[str]) -> list[str]:
    """Lines of operators that read elements without naming the reason."""
    operators = [
        name
        for name in files
        if name.startswith("hotaru/ops/")
        and not name.startswith(_LOOKS_AT_ELEMENTS)
    ]
    return matches(_ELEMENT, operators, "in an operator; see ops/host_value.h")


def matches(pattern: re.Pattern, files: list[str], why: str) -> list[str]:
    """Lines in which the pattern's first group stands."""
    return [
        f"{name}:{number}: {match[1]} {why}"
        for name in files
        for number, line in enumerate(Path(name).read_text().splitlines(), 1)
        if (match := pattern.search(line))
    ]


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "*.h", "*.cpp", "*.cu"],
        check=True,
        capture_output=True,
        text=True,
    )
    files = [name for name in listed.stdout.splitlines() if Path(name).exists()]
    try:
        edges = includes(files)
        offences = upward(edges) + room_upward(edges) + cycles(edges)
        offences += misplaced(files) + past_the_host_door(files)
        offences += looks_at_elements(files)
    except ValueError as error:
        offences = [str(error)]
    for offence in offences:
        print(offence)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
