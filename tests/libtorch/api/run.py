"""PyTorch's own C++ tests (test/cpp/api) over hotaru, beside libtorch.

    run.py [--wheel PYTHON] [--build build] [--only NAME,NAME] [--jobs 2]
           [--work .cache/cpp-api] [--reasons N]
    run.py --sources DIR [--reasons N]: libraries that wrap libtorch instead

Each file is compiled as it is; a test that does not compile is cut out and
counts as failed, and so does one that crashes or hangs. hotaru's passes are
counted of those of wheel.txt, which libtorch's of PyPI's wheel passes; with
--wheel it is measured anew, from that Python's site-packages. Exits with 1 if a
test of passes.txt no longer passes, or fewer than 85 % of wheel.txt's.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import sources
from libraries import ROOT, Library, hotaru, libtorch
from wrappers import try_wrappers

HERE = Path(__file__).resolve().parent
PASSED = HERE / "passes.txt"
WHEEL = HERE / "wheel.txt"
# Environment in which compilers use no signs of their own.
PLAIN = {**os.environ, "LC_ALL": "C"}


def compile_file(name: str, root: Path, work: Path, library: Library):
    """The object, and why tests were cut out of it.

    Each round drops what the compiler complains of.
    """
    lines = (root / f"test/cpp/api/{name}.cpp").read_text().splitlines()
    source, target = work / f"{name}.cpp", work / f"{name}.o"
    command = [
        os.environ.get("CXX", "c++"),
        "-std=c++20",
        "-O0",
        "-w",
        "-fmax-errors=0",
        f"-I{work}/headers",
        f"-I{root}",
        *library.flags,
        "-c",
        source,
        "-o",
        target,
    ]
    reasons: dict = {}
    for _ in range(8):
        source.write_text("\n".join(lines) + "\n")
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=PLAIN
        )
        if done.returncode == 0:
            return target, reasons
        wrong = complaints(done.stderr, source)
        if not wrong:
            return None, {"": (done.stderr.splitlines() or ["?"])[0]}
        for block in reversed(sources.blocks(lines)):
            said = [w for line, w in wrong if block.first <= line - 1 <= block.last]
            if said:
                lines = sources.cut(lines, block, said[0])
                reasons[block.test or f"line {block.first + 1}"] = said[0]
    return None, {"": "still wrong after eight rounds"}


def complaints(text: str, source: Path) -> list[tuple[int, str]]:
    """(line of the source, message) of each error.

    One in a header belongs to the line that it was instantiated or included
    from.
    """
    found, pending = [], []
    included = wanted = None
    for line in text.splitlines():
        place = re.search(rf"{re.escape(str(source))}:(\d+)", line)
        number = int(place[1]) if place else None
        error = re.match(r"(.*?):\d+:\d+: (?:fatal )?error: (.*)", line)
        if error:
            missing = "No such file" in error[2]
            at = number if error[1] == str(source) else wanted
            at = at or (included if missing else None)
            pending = [] if at else [error[2]]
            found += [(at, error[2])] if at else []
            wanted = None
        elif "from " in line[:30] and not line.startswith(str(source)):
            included = number or included
        elif place and pending and "expansion of macro" in line:
            found += [(number, message) for message in pending]
            pending = []
        elif place and "required from here" in line:
            wanted = number
    return found


def run_tests(program: Path, limit: float) -> dict:
    """Test -> None if it passed, else what it said."""
    env = {**os.environ, "OMP_NUM_THREADS": "2"}
    listed = subprocess.run(
        [program, "--gtest_list_tests"], capture_output=True, text=True, env=env
    ).stdout
    wanted, suite = [], ""
    for line in listed.splitlines():
        if line and not line.startswith(" "):
            suite = line.split()[0]
        elif line.startswith("  "):
            wanted.append(suite + line.split()[0])
    wanted = [t for t in wanted if not re.search(r"_(Multi)?CUDA|_XPU", t)]
    results: dict = {}
    while wanted:
        answers = program.with_suffix(".json")
        answers.unlink(missing_ok=True)
        command = [
            program,
            f"--gtest_filter={':'.join(wanted)}",
            f"--gtest_output=json:{answers}",
        ]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                env=env,
                timeout=limit,
                cwd=program.parent,
                errors="replace",
            )
            out, why = done.stdout, f"exit status {done.returncode}"
        except subprocess.TimeoutExpired as late:
            out, why = (late.stdout or b"").decode(errors="replace"), "hangs"
        if answers.exists():
            results.update(read_answers(answers))
            break
        # The last test that began ended the process; the ones before are known.
        begun = re.findall(r"\[ RUN      \] (\S+)", out)
        for test in re.findall(r"\[       OK \] (\S+)", out):
            results[test] = None
        for test in re.findall(r"\[  FAILED  \] (\S+)", out):
            results[test] = "failed"
        if not begun:
            return results | dict.fromkeys(wanted, why)
        results[begun[-1]] = why
        wanted = [t for t in wanted if t not in results]
    return results


def read_answers(path: Path) -> dict:
    results = {}
    for suite in json.loads(path.read_text())["testsuites"]:
        for test in suite["testsuite"]:
            said = [f["failure"] for f in test.get("failures", [])]
            skipped = test.get("result") == "SKIPPED"
            results[f"{suite['name']}.{test['name']}"] = (
                said[0] if said else "skipped" if skipped else None
            )
    return results


def try_file(name: str, root: Path, work: Path, library: Library) -> dict:
    """All tests of a file."""
    target, reasons = compile_file(name, root, work, library)
    text = (root / f"test/cpp/api/{name}.cpp").read_text()
    names = [b.test for b in sources.blocks(text.splitlines()) if b.test]
    if target is None:
        return dict.fromkeys(names, reasons[""])
    program = work / name
    done = subprocess.run(
        [
            "c++",
            target,
            work / "support.o",
            "-o",
            program,
            *library.link,
            "-lgtest",
            "-lgtest_main",
            "-pthread",
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        missing = re.findall(r"undefined reference to `(.*)'", done.stderr)
        return dict.fromkeys(names, f"undefined: {missing[:1] or done.stderr[-200:]}")
    results = run_tests(program, 240)
    return results | {t: why for t, why in reasons.items() if t in results}


def run_library(library: Library, names: list[str], root: Path, options) -> dict:
    work = options.work / library.name
    for path, changes in sources.INSIDES.items():
        text = (root / path).read_text()
        for pattern, other in changes:
            text = re.sub(pattern, lambda _, o=other: o, text, flags=re.S)
        changed = work / "headers" / path
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(text)
    compile_file("support", root, work, library)
    results: dict = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tried = pool.map(lambda n: try_file(n, root, work, library), names)
        for name, found in zip(names, tried):
            good = sum(why is None for why in found.values())
            print(f"{library.name} {name}: {good} of {len(found)}", file=sys.stderr)
            results |= {(name, test): why for test, why in found.items()}
    return results


def passes(results: dict) -> set[str]:
    return {f"{name} {test}" for (name, test), why in results.items() if why is None}


def known_passes(path: Path, names: list[str]) -> set[str]:
    """Passes of the named files."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {line for line in lines if line.split()[0] in names}


def renew(path: Path, names: list[str], passed: set[str]) -> None:
    lines = path.read_text().splitlines() if path.exists() else []
    kept = {line for line in lines if line.split()[0] not in names}
    path.write_text("\n".join(sorted(kept | passed)) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", metavar="PYTHON", help="a Python with PyTorch")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--only", type=lambda t: t.split(","))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=Path, default=ROOT / ".cache/cpp-api")
    parser.add_argument("--reasons", type=int, default=0, metavar="N")
    parser.add_argument("--sources", type=Path, metavar="DIR")
    parser.add_argument("--update", action="store_true", help="write the lists")
    return parser.parse_args()


def main() -> int:
    options = parse()
    if options.sources:
        folder, library = options.sources.resolve(), hotaru(options.build)
        return 0 if try_wrappers(folder, library, options.reasons) else 1
    options.work = options.work.resolve()
    root = sources.fetch(options.work)
    names = options.only or sorted(
        path.stem
        for path in (root / "test/cpp/api").glob("*.cpp")
        if "\nTEST" in path.read_text() and path.stem not in sources.LEFT_OUT
    )
    results = run_library(hotaru(options.build), names, root, options)
    ours = passes(results)
    theirs = known_passes(WHEEL, names)
    if options.wheel:
        wheel = libtorch(options.wheel)
        theirs = passes(run_library(wheel, names, root, options))
    known = known_passes(PASSED, names)
    if options.update:
        renew(PASSED, names, ours)
        renew(WHEEL, names, theirs)
    lost = sorted(known - ours)
    for name in names:
        n = [sum(t.split()[0] == name for t in x) for x in (ours, theirs)]
        print(f"{name:20} {n[0]:4} of {n[1]:4}")
    both = len(ours & theirs)
    print(
        f"{both} of the {len(theirs)} that libtorch passes: "
        f"{both / max(len(theirs), 1):.1%}; {len(ours)} of all "
        f"{len(results)}"
    )
    why = Counter(re.sub(r"\s+", " ", w)[:150] for (n, t), w in results.items() if w)
    for reason, count in why.most_common(options.reasons):
        print(f"  {count} x {reason}")
    for line in lost:
        print(f"FAILED: no longer passes: {line}")
    return 1 if lost or both < 0.85 * len(theirs) else 0


if __name__ == "__main__":
    sys.exit(main())
