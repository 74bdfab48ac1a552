"""Which tests `./dev test WHAT...` means.

WHAT is a Python test (a file, a folder, a node such as FILE::NAME), a C++ test
file, or a source folder or file, whose tests tests/by_folder.txt names. Prints
two lines: what goes to pytest, and GoogleTest's filter for each of the C++
test programs (`NAME=FILTER`); either may be empty. Exits with 2, and says why,
where something is none of these.

    python scripts/select_tests.py WHAT...
    python scripts/select_tests.py --check     whether the table is complete
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "by_folder.txt"
# Folders that hold sources, and what is below them but none.
SOURCES = ("hotaru/", "python/", "cli/", "libtorch/", "examples/", "bench/")
NO_SOURCES = ("libtorch/include", "libtorch/generate")
CASE = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+)\s*,")
# C++ tests by folder, and the program that has them.
PROGRAMS = {
    "tests/cpp/cuda/": "hotaru_cuda_tests",
    "tests/cpp/device/": "hotaru_device_tests",
    "tests/cpp/": "hotaru_tests",
    "tests/libtorch/": "hotaru_torch_tests",
}


def alternatives(pattern: str, **named: str) -> list[str]:
    """The patterns that one with `{a,b}` stands for; `{name}` is replaced."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    inner = named.get(found[1], found[1])
    out = []
    for part in inner.split(","):
        text = pattern[: found.start()] + part + pattern[found.end() :]
        out += alternatives(text, **named)
    return out


@dataclass
class Row:
    """A pattern of folders with its patterns of tests."""

    folders: list[str]
    tests: list[str] = field(default_factory=list)

    def patterns(self, folder: str) -> list[str]:
        """The patterns of tests, for one of the row's folders."""
        name = folder.rpartition("/")[2]
        return [
            f"tests/{one}"
            for test in self.tests
            for one in alternatives(test, name=name)
        ]


def read_table() -> list[Row]:
    rows: list[Row] = []
    for line in TABLE.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            rows[-1].tests.append(line.strip())
        else:
            rows.append(Row(alternatives(line.strip())))
    return rows


def listed(*patterns: str) -> list[str]:
    """Git's files, new ones too."""
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def rows_of(folder: str, rows: list[Row]) -> list[tuple[str, Row]]:
    """The rows of a folder or, where it has none, of the nearest above it."""
    while folder and folder != ".":
        found = [(folder, row) for row in rows if folder in row.folders]
        if found:
            return found
        folder = folder.rpartition("/")[0]
    return []


def tests_of(folder: str, rows: list[Row], files: list[str]) -> list[str]:
    patterns = [
        one for nearest, row in rows_of(folder, rows) for one in row.patterns(nearest)
    ]
    return [f for f in files if any(fnmatchcase(f, p) for p in patterns)]


def test_files() -> list[str]:
    return [
        f
        for f in listed("tests/cpp", "tests/libtorch", "tests/python")
        if re.search(r"/test_[^/]*\.py$|_test\.cpp$", f)
        and not f.startswith("tests/libtorch/api/")
    ]


def check() -> int:
    """Prints what the table lacks."""
    rows, files, wrong = read_table(), test_files(), []
    folders = {
        f.rpartition("/")[0]
        for f in listed()
        if f.startswith(SOURCES) and not f.startswith(NO_SOURCES)
    }
    belongs: set[str] = set()
    for folder in sorted(folders):
        found = tests_of(folder, rows, files)
        belongs.update(found)
        if not found:
            wrong.append(f"no row gives {folder} a test")
    for row in rows:
        for folder in row.folders:
            known = any(f"{f}/".startswith(f"{folder}/") for f in folders)
            if known or folder == "tests":
                wrong += [
                    f"{folder}: {pattern} is no test"
                    for pattern in row.patterns(folder)
                    if not any(fnmatchcase(f, pattern) for f in files)
                ]
        belongs.update(tests_of(row.folders[0], rows, files))
    wrong += [f"no row has {f}" for f in files if f not in belongs]
    names = Counter(Path(f).name for f in files if f.endswith(".py"))
    wrong += [
        f"{name} is the name of {count} tests: one run of pytest takes one"
        for name, count in names.items()
        if count > 1
    ]
    for text in wrong:
        print(f"tests/by_folder.txt: {text}")
    return 1 if wrong else 0


def suites(path: str) -> list[str]:
    """GoogleTest's names of the suites in a file."""
    return sorted(set(CASE.findall((ROOT / path).read_text())))


def gtest_filter(names: list[str]) -> str:
    """Every test of these suites, of values and of types too."""
    return ":".join(f"{s}.*:*/{s}.*:{s}/*" for s in sorted(set(names)))


def select(what: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    rows, files = read_table(), test_files()
    python: list[str] = []
    native: dict[str, list[str]] = {}
    for text in what:
        path = text.partition("::")[0].rstrip("/")
        if not (ROOT / path).exists():
            raise SystemExit(f"select_tests: there is no {path}")
        if path.startswith("tests/python"):
            python.append(text)
            continue
        if path.startswith("tests/"):
            found = [f for f in files if f == path or f.startswith(path + "/")]
        else:
            folder = path if (ROOT / path).is_dir() else path.rpartition("/")[0]
            found = tests_of(folder, rows, files)
        if not found:
            raise SystemExit(
                f"select_tests: {text} is no test, and tests/by_folder.txt "
                "names none for it"
            )
        for file in found:
            if file.endswith(".py"):
                python.append(file)
                continue
            program = next(n for f, n in PROGRAMS.items() if file.startswith(f))
            native.setdefault(program, []).extend(suites(file))
    return list(dict.fromkeys(python)), native


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        return check()
    python, native = select(sys.argv[1:])
    print(" ".join(python))
    print(" ".join(f"{n}={gtest_filter(found)}" for n, found in native.items()))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
            sys.exit(2)
        raise
