"""The rules of C++ files.

A file of a layer includes its own layer and those before it (`native_order`);
everything outside `hotaru/` may include every layer, and no layer may include
what is outside. Within a layer whose rooms have an order, headers include only
rooms before theirs (sources may call each other: a function is compiled when it
first runs). Rooms of operators and kernels are families, with the same names in
every layer. No circles. Host code reaches a tensor's bytes through core/host.h;
kernels, graphs and tests ask the tensor itself. Operators look at elements
through ops/host_value.h, which names the reason. What is a system's own stands in
hotaru/platform.
"""

from __future__ import annotations

import re
from pathlib import Path

from layers.circles import circles
from layers.native_order import DEVICE_ROOMS, FAMILIES, LAYERS, ROOMS

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
    """Files in rooms that their layer does not have."""
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
            found.append(f"{name}:1: {layer} has no room {here or 'of its own'!r}")
    return found


def in_circles(edges: Edges) -> list[str]:
    """One message for each circle of includes."""
    graph = {name: [target for _, target in targets] for name, targets in edges.items()}
    return [f"{circle[0]}:1: circle {' -> '.join(circle)}" for circle in circles(graph)]


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
        if name.startswith("hotaru/ops/") and not name.startswith(_LOOKS_AT_ELEMENTS)
    ]
    return matches(_ELEMENT, operators, "in an operator; see ops/host_value.h")


# Headers of the system whose promises differ between systems, and files and
# calls that Linux alone has; those of files and sockets are POSIX's and the
# same on all that have it. The GPU in software is Linux's as a whole.
_SYSTEM = re.compile(
    r"#\s*include\s*<((?:linux/|asm/)[\w/]+\.h"
    r"|sys/(?:auxv|epoll|eventfd|inotify|ipc|mman|personality|prctl|random|sendfile"
    r"|shm|signalfd|statfs|syscall|sysinfo|timerfd|vfs|xattr)\.h"
    r"|(?:sched|pthread|signal|csignal|ucontext|dlfcn|execinfo|malloc|error|link)"
    r"\.?h?)>"
    r"|[\"(](/(?:proc|sys)/)"
    r"|\b(gettid|memfd_create|sched_getcpu|mallinfo2?|malloc_trim|syscall)\("
)
_ROOM_OF_THE_SYSTEM = ("hotaru/platform/", "hotaru/backend/soft_gpu/")


def outside_the_platform(files: list[str]) -> list[str]:
    """Lines of the library and the command that ask the system past its room."""
    rest = [
        name
        for name in files
        if name.startswith(("hotaru/", "cli/", "python/"))
        and not name.startswith(_ROOM_OF_THE_SYSTEM)
    ]
    return matches(_SYSTEM, rest, "outside hotaru/platform; see docs/porting.md")


def matches(pattern: re.Pattern, files: list[str], why: str) -> list[str]:
    """Lines in which a group of the pattern stands."""
    return [
        f"{name}:{number}: {match[match.lastindex]} {why}"
        for name in files
        for number, line in enumerate(Path(name).read_text().splitlines(), 1)
        if (match := pattern.search(line))
    ]


def native_offences(files: list[str]) -> list[str]:
    """Offences in C++ files."""
    try:
        for name in files:
            rank(name)
        edges = includes(files)
        found = upward(edges) + room_upward(edges) + in_circles(edges)
        found += misplaced(files) + past_the_host_door(files)
        found += outside_the_platform(files)
        return found + looks_at_elements(files)
    except ValueError as error:
        return [str(error)]
