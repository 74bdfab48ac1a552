"""Costs of a build: objects and headers.

Reads what cmake/timed_compile.sh noted of every object that was compiled here
(`./dev` builds with it): processor seconds, the last time that it was not in
the compiler's cache. Prints the sum of each build, the largest objects and,
with --headers, what each header of the project costs: the seconds of the
sources that are compiled again when it changes, and their share of all.

    python scripts/build_times.py [--build NAME] [--objects N] [--headers N]
    python scripts/build_times.py --limit 60 [--free PART]
                                              exits with 1 above the limit

The limit is that of a processor which compiles a probe in PROBE_SECONDS; it
grows on slower ones, and where other work slows the machine down.

Without the compiler's cache, CCACHE_DISABLE=1 ./dev build notes everything.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    / "hotaru"
    / "object_seconds.log"
)

# A source of standard headers alone. Beside another compiler on the second
# core, a Zen 3 (EPYC) takes 7.2 processor seconds for it: 60 s are 86 there.
PROBE = """
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main(int n, char** a) {
  std::map<std::string, std::vector<double>> m;
  std::regex r(a[0]);
  for (int i = 0; i < n; ++i)
    if (std::regex_match(a[i], r)) m[a[i]].push_back(i);
  for (auto& [k, v] : m) std::sort(v.begin(), v.end());
  return int(m.size());
}
"""
PROBE_SECONDS = 5


def slowness() -> float:
    """How much longer than PROBE_SECONDS the probe takes here; 1 at least."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(PROBE)
        source.flush()
        compile_probe = [
            *(os.environ.get("CXX", "c++"), "-std=c++20", "-O2"),
            *("-c", source.name, "-o", os.devnull),
        ]
        running = [subprocess.Popen(compile_probe) for _ in range(2)]
        for process in running:
            process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = sum(
        getattr(after, name) - getattr(before, name)
        for name in ("ru_utime", "ru_stime")
    )
    return max(1.0, seconds / len(running) / PROBE_SECONDS)


def noted() -> dict[str, dict[str, float]]:
    """Seconds by build and object, those noted last."""
    out: dict[str, dict[str, float]] = defaultdict(dict)
    for line in LOG.read_text().splitlines() if LOG.exists() else ():
        build, name, seconds = line.split(" ")
        out[build][name] = float(seconds)
    return out


def objects(build: str, seconds: dict[str, float]) -> dict[str, float]:
    """The noted objects that the build still has, if it is there."""
    ninja = ROOT / build / "build.ninja"
    if not ninja.exists():
        return seconds
    known = {
        line[len("build ") :].split(":")[0]
        for line in ninja.read_text().splitlines()
        if line.startswith("build ") and ".o" in line
    }
    return {name: s for name, s in seconds.items() if name in known}


def plain(name: str) -> str:
    """An object's name without CMake's folders."""
    return name.replace("CMakeFiles/", "").removesuffix(".o")


def headers(build: str, seconds: dict[str, float]) -> dict[str, float]:
    """Seconds of the objects below each of the project's headers."""
    folder = ROOT / build
    deps = subprocess.run(
        ["ninja", "-C", str(folder), "-t", "deps"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    cost: dict[str, float] = defaultdict(float)
    current = 0.0
    for line in deps.splitlines():
        if line.startswith("    "):
            path = os.path.normpath(folder / line.strip())
            if path.startswith(f"{ROOT}/") and path.endswith(".h"):
                cost[os.path.relpath(path, ROOT)] += current
        elif ": #deps" in line:
            current = seconds.get(line.partition(": #deps")[0], 0.0)
    return cost


def table(rows: dict[str, float], count: int, whole: float) -> None:
    for name, seconds in sorted(rows.items(), key=lambda r: -r[1])[:count]:
        print(f"{seconds:8.1f} s {100 * seconds / whole:5.1f} %  {name}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--build", help="one build folder, such as build-asan")
    parser.add_argument("--objects", type=int, default=20, metavar="N")
    parser.add_argument("--headers", type=int, default=0, metavar="N")
    parser.add_argument("--limit", type=float, help="seconds of one object")
    parser.add_argument(
        "--free",
        default="",
        metavar="PART",
        help="objects with this in their names are not held to the limit",
    )
    options = parser.parse_args()
    if options.limit is not None:
        options.limit *= slowness()
    above = []
    for build, found in sorted(noted().items()):
        if options.build not in (None, build):
            continue
        seconds = objects(build, found)
        whole = sum(seconds.values())
        if not whole:
            continue
        print(f"{build}: {len(seconds)} objects, {whole / 60:.1f} minutes")
        named = {plain(name): s for name, s in seconds.items()}
        if options.limit is None:
            table(named, options.objects, whole)
        else:
            above += [
                f"{build}: {name} takes {s:.0f} s of processor time"
                for name, s in named.items()
                if s > options.limit and not (options.free and options.free in name)
            ]
        if options.headers:
            print("headers, by what is compiled again when they change:")
            table(headers(build, seconds), options.headers, whole)
    for text in above:
        print(f"{text}, and the limit is {options.limit:.0f} s: split it")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
