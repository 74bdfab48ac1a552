"""How much is compiled anew when a header changes.

Walks the quoted includes of the sources that a full build compiles, and prints
for each header how many percent of them stand above it: include it, or include
what does. What CMake generates, and includes within `#if`, count as if they
were there always.

    python scripts/include_costs.py
    python scripts/include_costs.py --header hotaru/core/tensor.h
    python scripts/include_costs.py --limit hotaru/core/error.h=40

With --header, prints the includes through which most sources get that header:
`through` are the sources with a chain over this include, `saved` those that
would not have the header any more if this one include were cut. With --limit,
exits with 1 if more than so many percent stand above the header.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILED = (
    "hotaru/",
    "python/bindings/",
    "cli/",
    "libtorch/",
    "tests/cpp/",
    "tests/libtorch/",
    "tests/attack/",
    "bench/cpp/",
)
# Where the compiler looks, after the including file's own folder.
ROOTS = ("", "python/", "libtorch/include/", "libtorch/")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)

Graph = dict[str, set[str]]
Edge = tuple[str, str]


def read_graph() -> Graph:
    """The files that each file below the compiled folders includes."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    known = {
        name
        for name in listed.stdout.splitlines()
        if name.startswith(COMPILED)
        and name.endswith((".h", ".cpp", ".cu"))
        and (ROOT / name).exists()
    }
    graph: Graph = {}
    for name in known:
        own = Path(name).parent.as_posix() + "/"
        graph[name] = set()
        for target in INCLUDE.findall((ROOT / name).read_text("utf-8")):
            places = [root + target for root in (own, *ROOTS)]
            found = next((place for place in places if place in known), None)
            if found:
                graph[name].add(found)
    return graph


def is_source(name: str) -> bool:
    return not name.endswith(".h")


def above(includers: Graph, start: str, cut: Edge | None = None) -> set[str]:
    """The start and everything that includes it, without one include."""
    seen = {start}
    pending = [start]
    while pending:
        target = pending.pop()
        for name in includers[target]:
            if name not in seen and (name, target) != cut:
                seen.add(name)
                pending.append(name)
    return seen


def sources(names: Iterable[str]) -> set[str]:
    return {name for name in names if is_source(name)}


def print_header(includers: Graph, header: str, total: int, rows: int) -> None:
    """The includes by which sources get `header`, the costliest first."""
    everything = above(includers, header)
    having = sources(everything)
    print(f"{header}: {100 * len(having) / total:.1f} % of {total} sources")
    named = sources(includers[header])
    print(f"{100 * len(named) / total:.1f} % include it themselves")
    costs = []
    for target in everything - having:
        for name in includers[target] - having:
            saved = len(having - above(includers, header, (name, target)))
            through = len(sources(above(includers, name)))
            costs.append((saved, through, name, target))
    print("  saved  through  include")
    for saved, through, name, target in sorted(costs, reverse=True)[:rows]:
        print(
            f"{100 * saved / total:6.1f} {100 * through / total:8.1f}"
            f"  {name} -> {target}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--header", help="print who brings it to the sources")
    parser.add_argument("--rows", type=int, default=30, help="lines to print")
    parser.add_argument(
        "--limit", action="append", default=[], metavar="HEADER=PERCENT"
    )
    options = parser.parse_args()
    graph = read_graph()
    includers: Graph = defaultdict(set)
    for name, targets in graph.items():
        for target in targets:
            includers[target].add(name)
    total = len(sources(graph))

    wrong = 0
    for header in [options.header, *(x.split("=")[0] for x in options.limit)]:
        if header and (header not in graph or is_source(header)):
            parser.error(f"{header} is no header of the tree")
    for limit in options.limit:
        header, _, allowed = limit.partition("=")
        share = 100 * len(sources(above(includers, header))) / total
        if share > float(allowed):
            print(f"{header}: {share:.1f} % of the sources stand above it")
            print(f"more than {allowed} %; see scripts/include_costs.py")
            wrong = 1
    if options.header:
        print_header(includers, options.header, total, options.rows)
    elif not options.limit:
        costs = [
            (len(sources(above(includers, name))), name)
            for name in graph
            if not is_source(name)
        ]
        for count, name in sorted(costs, reverse=True)[: options.rows]:
            print(f"{100 * count / total:6.1f}  {name}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
