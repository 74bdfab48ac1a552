"""How much of PyTorch runs on hotaru, by PyTorch's own databases.

PyTorch's side writes, once for each version, what every entry of a database
does; hotaru's side runs the same and compares. Prints a table, compares the
failures with those that are known (known/SUITE.txt), and exits with 1 if
something failed that used to be right.

    run.py --oracle PYTHON [--suite op] [--op NAME] [--dtype NAME] [--update]
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DTYPES = (
    "float32", "float64", "int64", "int32", "bool", "bfloat16", "float16",
    "complex64", "complex128",
)  # fmt: skip
FORMS = ("forward", "grad", "method", "inplace", "out", "error")

Outcome = tuple[str, str, str, str]


def parts(command: list[str], jobs: int, env: dict) -> None:
    """Runs a command once for each part of its work, at the same time."""
    running = [
        subprocess.Popen([*command, "--part", f"{k}/{jobs}"], env=env)
        for k in range(jobs)
    ]
    failed = [p.args for p in running if p.wait() != 0]
    if failed:
        raise SystemExit(f"conformance: {failed[0]} failed")


def key(suite: str) -> str:
    """Changes with the sources of PyTorch's side, whose files are kept."""
    names = (f"{suite}_oracle.py", "plain.py", "recorder.py")
    text = b"".join((HERE / name).read_bytes() for name in names)
    return hashlib.sha1(text).hexdigest()[:10]


def outcomes(options) -> list[Outcome]:
    """Runs both sides; one outcome for each entry, dtype and form."""
    folder = Path(options.cache) / f"{options.suite}-{key(options.suite)}"
    chosen = [x for d in options.dtype for x in ("--dtype", d)]
    chosen += [x for name in options.op or () for x in ("--op", name)]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    oracle = str(HERE / f"{options.suite}_oracle.py")
    parts(
        [options.oracle, oracle, str(folder), *chosen], options.jobs, env
    )  # fmt: skip
    found = []
    for k in range(options.jobs):
        Path(f"{folder}.{k}.jsonl").unlink(missing_ok=True)
    subject = str(HERE / f"{options.suite}_subject.py")
    running = [
        subprocess.Popen(
            [
                sys.executable, subject, str(folder), f"{folder}.{k}.jsonl",
                *chosen, "--part", f"{k}/{options.jobs}",
            ],
            env=env,
        )
        for k in range(options.jobs)
    ]  # fmt: skip
    if any(p.wait() != 0 for p in running):
        raise SystemExit("conformance: hotaru's side failed")
    for k in range(options.jobs):
        with open(f"{folder}.{k}.jsonl", encoding="utf-8") as lines:
            found += [tuple(json.loads(line)) for line in lines]
    return sorted(found)


def form_of(kind: str) -> str:
    return "error" if kind.startswith("error") else kind


def table(found: list[Outcome]) -> str:
    """Right of all, by dtype and form."""
    counts: dict = collections.defaultdict(lambda: [0, 0])
    for _, dtype, kind, text in found:
        cell = counts[dtype, form_of(kind)]
        cell[0] += text == "ok"
        cell[1] += 1
    dtypes = [d for d in DTYPES if any(d == key[0] for key in counts)]
    lines = [
        "| | " + " | ".join(FORMS) + " |",
        "| --- |" + " ---: |" * len(FORMS),
    ]
    for dtype in dtypes:
        cells = [
            "{} of {}".format(*counts[dtype, form])
            if (dtype, form) in counts
            else "–"
            for form in FORMS
        ]
        lines.append(f"| {dtype} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def failures(found: list[Outcome]) -> dict[str, set[str]]:
    """Dtypes that fail, by "entry form"."""
    out: dict[str, set[str]] = collections.defaultdict(set)
    for entry, dtype, kind, text in found:
        if text != "ok":
            out[f"{entry} {kind}"].add(dtype)
    return out


def read_known(path: Path) -> dict[str, set[str]]:
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split(": ") for line in lines if line]
    return {key: set(dtypes.split()) for key, dtypes in rows}


def write_known(path: Path, known: dict[str, set[str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [
        f"{key}: {' '.join(d for d in DTYPES if d in dtypes)}\n"
        for key, dtypes in sorted(known.items())
        if dtypes
    ]
    path.write_text("".join(lines), encoding="utf-8")


def compare(found, path: Path, update: bool) -> int:
    """Tells what changed against the known failures; 1 if something broke."""
    known, now = read_known(path), failures(found)
    tried: dict[str, set[str]] = collections.defaultdict(set)
    for entry, dtype, kind, _ in found:
        tried[f"{entry} {kind}"].add(dtype)
    reasons = {(e, d, k): text for e, d, k, text in found}
    broken = [
        (key, dtype)
        for key, dtypes in sorted(now.items())
        for dtype in sorted(dtypes - known.get(key, set()))
    ]
    mended = sum(
        len((dtypes & tried[key]) - now.get(key, set()))
        for key, dtypes in known.items()
    )
    if update:
        for key, dtypes in tried.items():
            rest = known.get(key, set()) - dtypes
            known[key] = rest | now.get(key, set())
        write_known(path, known)
        return 0
    for key, dtype in broken:
        entry, kind = key.rsplit(" ", 1)
        print(f"broken: {key} {dtype}: {reasons[entry, dtype, kind]}")
    if mended:
        print(f"{mended} failures are mended; --update takes them off {path}")
    return 1 if broken else 0


def reasons(found: list[Outcome], most: int) -> str:
    """The most frequent reasons, with how many entries each fails."""
    entries: dict[str, set[str]] = collections.defaultdict(set)
    for entry, _, _, text in found:
        if text != "ok":
            entries[text].add(entry)
    rows = sorted(entries.items(), key=lambda row: -len(row[1]))[:most]
    return "\n".join(
        f"{len(names):4} {text[:110]}   {', '.join(sorted(names)[:3])}"
        for text, names in rows
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--oracle", default=sys.executable)
    parser.add_argument("--suite", default="op", choices=["op"])
    parser.add_argument("--op", action="append")
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--reasons", type=int, default=0, metavar="N")
    parser.add_argument(
        "--cache",
        default=".cache/conformance",
        help="where PyTorch's side is kept",
    )
    options = parser.parse_args()
    options.dtype = options.dtype or list(DTYPES)
    Path(options.cache).mkdir(parents=True, exist_ok=True)
    found = outcomes(options)
    if options.op:
        for row in found:
            print(*row)
    print(table(found))
    if options.reasons:
        print(reasons(found, options.reasons))
    return compare(
        found, HERE / "known" / f"{options.suite}.txt", options.update
    )


if __name__ == "__main__":
    sys.exit(main())
