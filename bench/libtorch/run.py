"""C++ programs over hotaru and over libtorch: the same sources, in turns.

    .venv/bin/python bench/libtorch/run.py --peer .venv-peers/bin/python
        [--networks NAME,NAME] [--threads 1,8] [--rounds 5] [--build build]

Compiles forward.cpp and start.cpp against both libraries and measures: a call
of each network of bench/models.py at batch 1, and a replay of its graph; from
the start of a process to the first result; the compilation of start.cpp; the
size of what that program needs, stripped. A figure is the median of the
rounds, a ratio the median of the rounds' ratios: libtorch's time over
hotaru's. Prints tables and writes bench-out/libtorch.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(ROOT / "tests/libtorch/api"))

from libraries import Library, hotaru, libtorch  # noqa: E402
from networks import mean, table  # noqa: E402


def compile_program(name: str, library: Library, folder: Path) -> float:
    """Seconds it took; the program is FOLDER/NAME.LIBRARY."""
    target = folder / f"{name}.{library.name}"
    command = [
        os.environ.get("CXX", "c++"),
        "-std=c++20",
        "-O2",
        "-w",
        HERE / f"{name}.cpp",
        *library.flags,
        "-o",
        target,
        *library.link,
        "-pthread",
    ]
    begin = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - begin


class Forward:
    """A process that measures one archive; stopped between its turns."""

    def __init__(self, program: Path, archive: Path, threads: int):
        env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [program, archive, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit(f"{program} {archive} ended")
        self.process.send_signal(signal.SIGSTOP)

    def measure(self, seconds: float) -> list[float]:
        """Microseconds of a call, and of a replay."""
        self.process.send_signal(signal.SIGCONT)
        print(seconds, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        self.process.send_signal(signal.SIGSTOP)
        return list(map(float, answer.split()))

    def close(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def in_turns(rounds: int, sides: dict) -> dict:
    """Results of each one's function, by round; who begins changes."""
    found: dict = {name: [] for name in sides}
    for number in range(rounds):
        for name in list(sides)[:: -1 if number % 2 else 1]:
            found[name].append(sides[name]())
    return found


def ratios(found: dict, own, peer) -> float:
    pairs = zip(found["hotaru"], found["libtorch"])
    return statistics.median(peer(b) / own(a) for a, b in pairs)


def forwards(options, folder: Path, networks: list[str]) -> list[dict]:
    rows = []
    for threads in options.threads:
        for name in networks:
            workers = {
                side: Forward(
                    folder / f"forward.{side}", folder / f"{name}.pt", threads
                )
                for side in ("hotaru", "libtorch")
            }
            found = in_turns(
                options.rounds,
                {s: lambda w=w: w.measure(options.seconds) for s, w in workers.items()},
            )
            for worker in workers.values():
                worker.close()
            middle = [
                statistics.median(times)
                for side in ("hotaru", "libtorch")
                for times in zip(*found[side])
            ]
            rows.append(
                {
                    "network": name,
                    "threads": threads,
                    "us": middle,
                    "eager": ratios(found, lambda a: a[0], lambda b: b[0]),
                    "graph": ratios(found, lambda a: a[1], lambda b: b[0]),
                }
            )
            print(rows[-1], file=sys.stderr)
    return rows


def show(rows: list[dict], threads: list[int]) -> str:
    lines = [
        [
            "forward, batch 1",
            "threads",
            "hotaru, eager",
            "as a graph",
            "libtorch",
            "libtorch over eager",
            "over graph",
        ]
    ]
    for row in rows:
        lines.append(
            [row["network"], str(row["threads"])]
            + [f"{us:.3g} us" for us in row["us"]]
            + [f"{row['eager']:.2f}", f"{row['graph']:.2f}"]
        )
    for n in threads:
        part = [row for row in rows if row["threads"] == n]
        means = [mean([row[key] for row in part]) for key in ("eager", "graph")]
        lines.append(["geometric mean", str(n), "", "", "", *means])
    return table(lines)


def stripped(paths: list[Path], folder: Path) -> int:
    """Bytes of the files without their symbols."""
    total = 0
    for path in paths:
        copy = folder / f"stripped-{path.name}"
        shutil.copy(path, copy)
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)
        total += copy.stat().st_size
        copy.unlink()
    return total


def needed(program: Path, library: Library) -> list[Path]:
    """The program, and libraries from the library's own folders."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    found = [line.split()[2] for line in text.splitlines() if "=> /" in line]
    folders = tuple(f[2:] for f in library.link if f.startswith("-L"))
    return [program, *(Path(f).resolve() for f in found if f.startswith(folders))]


def whole_programs(options, folder: Path, libraries: list[Library]) -> dict:
    """Start, compilation and size, by library."""
    start = in_turns(
        4 * options.rounds,
        {x.name: lambda x=x: timed(f"start.{x.name}", folder) for x in libraries},
    )
    compiled = in_turns(
        min(options.rounds, 3),
        {x.name: lambda x=x: compile_program("start", x, folder) for x in libraries},
    )
    size = {
        x.name: stripped(needed(folder / f"start.{x.name}", x), folder)
        for x in libraries
    }
    plain = (lambda a: a, lambda b: b)
    return {
        "start": {x: statistics.median(t) for x, t in start.items()},
        "start ratio": ratios(start, *plain),
        "compile": {x: statistics.median(t) for x, t in compiled.items()},
        "compile ratio": ratios(compiled, *plain),
        "bytes": size,
    }


def timed(program: str, folder: Path) -> float:
    begin = time.perf_counter()
    subprocess.run([folder / program], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def show_programs(found: dict) -> str:
    lines = [["start.cpp", "hotaru", "libtorch", "libtorch over hotaru"]]
    for title, key, scale, unit in (
        ("start to first result", "start", 1e3, "ms"),
        ("compilation", "compile", 1, "s"),
        ("program and libraries, stripped", "bytes", 1e-6, "MB"),
    ):
        own, peer = found[key]["hotaru"], found[key]["libtorch"]
        ratio = found.get(f"{key} ratio", peer / own)
        sides = [f"{x * scale:.3g} {unit}" for x in (own, peer)]
        lines.append([title, *sides, f"{ratio:.1f}"])
    return table(lines)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True, help="a Python with PyTorch")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--networks", type=lambda t: t.split(","))
    parser.add_argument(
        "--threads", default=[1, 8], type=lambda t: list(map(int, t.split(",")))
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3)
    return parser.parse_args()


def main() -> int:
    options = parse()
    out = ROOT / "bench-out"
    folder = out / "libtorch"
    folder.mkdir(parents=True, exist_ok=True)
    libraries = [hotaru(options.build.resolve()), libtorch(options.peer)]
    written = subprocess.run(
        [sys.executable, "-m", "hotaru", HERE / "archives.py", folder],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    for library in libraries:
        compile_program("forward", library, folder)
        compile_program("start", library, folder)
    networks = options.networks or written.stdout.splitlines()
    report = {"programs": whole_programs(options, folder, libraries)}
    print(show_programs(report["programs"]))
    report["forward"] = forwards(options, folder, networks)
    print(show(report["forward"], options.threads))
    (out / "libtorch.json").write_text(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
