"""How much of PyTorch runs on hotaru, by PyTorch's own databases.

PyTorch's side writes, once for each version, what every entry of a database
does; hotaru's side runs the same and compares. Prints a table, compares the
failures with those that are known (known/SUITE.txt), and exits with 1 if
something failed that used to be right.

    run.py --oracle PYTHON [--suite all] [--op NAME] [--dtype NAME] [--update]
    run.py --oracle PYTHON --suite op --device cuda [--dtype NAME] [--update]
    run.py --oracle PYTHON --suite interchange [--op ENTRY] [--update]

The suite "tests" is PyTorch's own test files (suite/main.py says whence):

    run.py --oracle PYTHON --suite tests --tests DIR [--file PART] [--update]
"""

from __future__ import annotations

import argparse
import collections
import functools
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from report import DTYPES, FORMS, Outcome, reasons, report, table
from suite import counts
from suite import main as tests

HERE = Path(__file__).parent
# Before the reason of a known failure.
NOTE = "  # "
# Programs that the suite "interchange" puts into files, beside modules.
PROGRAMS = (
    "interchange_programs.py",
    "export/export_table.py",
    "export/own_table.py",
    "export/export_programs.py",
    "export/export_sequence.py",
    "export/export_vision.py",
)


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
    names = [f"{suite}_oracle.py", "case_file.py", "plain.py", "recorder.py"]
    if suite != "op":
        names.append(f"{suite}_trials.py")
    if suite == "interchange":
        names += ["module_oracle.py", "module_trials.py", *PROGRAMS]
    text = b"".join((HERE / name).read_bytes() for name in names)
    return hashlib.sha1(text).hexdigest()[:10]


def outcomes(suite: str, options) -> list[Outcome]:
    """Runs both sides; one outcome for each entry, dtype and form."""
    folder = Path(options.cache) / f"{suite}-{key(suite)}"
    if suite == "interchange":  # whose files are of a version
        folder = folder.with_name(f"{folder.name}-{version_of(options.oracle)}")
    chosen = [x for d in options.dtype for x in ("--dtype", d)]
    chosen += [x for name in options.op or () for x in ("--op", name)]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    if options.device != "cpu":
        env["HOTARU_CONFORMANCE_DEVICE"] = options.device
    oracle = str(HERE / f"{suite}_oracle.py")
    parts([options.oracle, oracle, str(folder), *chosen], options.jobs, env)
    found = judged(
        sys.executable, f"{suite}_subject.py", folder, chosen, options.jobs, env
    )
    if suite == "interchange":
        found += judged(
            options.oracle, f"{suite}_judge.py", folder, chosen, options.jobs, env
        )
    return sorted(found)


def judged(python, script, folder, chosen, jobs, env) -> list[Outcome]:
    """Collects what a script says of the cases in a folder."""
    # Runs on different devices may go on side by side.
    device = env.get("HOTARU_CONFORMANCE_DEVICE", "cpu")
    outs = [f"{folder}.{device}.{k}.jsonl" for k in range(jobs)]
    for out in outs:
        Path(out).unlink(missing_ok=True)
    running = [
        subprocess.Popen(
            [
                python,
                str(HERE / script),
                str(folder),
                out,
                *chosen,
                "--part",
                f"{k}/{jobs}",
            ],
            env=env,
        )
        for k, out in enumerate(outs)
    ]
    if any(p.wait() != 0 for p in running):
        raise SystemExit(f"conformance: {script} failed")
    found = []
    for out in outs:
        with open(out, encoding="utf-8") as lines:
            found += [tuple(json.loads(line)) for line in lines]
    return found


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
    rows = [line.split(NOTE)[0].split(": ") for line in lines if line]
    return {key: set(dtypes.split()) for key, dtypes in rows}


def notes_of(path: Path) -> dict[str, str]:
    """Why some of the known failures are there."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split(NOTE) for line in lines if NOTE in line]
    return {row.split(": ")[0]: NOTE + note for row, note in rows}


def write_known(path: Path, known: dict[str, set[str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    notes = notes_of(path)
    lines = [
        f"{key}: {' '.join(d for d in DTYPES if d in dtypes)}{notes.get(key, '')}\n"
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
    texts = {(e, d, k): text for e, d, k, text in found}
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
        print(f"broken: {key} {dtype}: {texts[entry, dtype, kind]}")
    if mended:
        print(f"{mended} failures are mended; --update takes them off {path}")
    return 1 if broken else 0


@functools.cache
def version_of(oracle: str) -> str:
    """PyTorch's version, without what it was built for."""
    asked = subprocess.run(
        [oracle, "-c", "import torch; print(torch.__version__)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return asked.stdout.strip().split("+")[0]


def run_suite(suite: str, options) -> tuple[list[Outcome], int]:
    """Returns what one suite found, and 1 if something broke."""
    found = outcomes(suite, options)
    if options.op:
        for row in found:
            print(*row)
    if found:
        print(f"{suite}\n{table(suite, found)}")
    if options.reasons:
        print(reasons(found, options.reasons))
    where = "" if options.device == "cpu" else f"_{options.device}"
    if suite == "interchange" and version_of(options.oracle).startswith("1."):
        # An old PyTorch, from before exported programs, does not read all.
        where = "_" + version_of(options.oracle).rpartition(".")[0]
    path = HERE / "known" / f"{suite}{where}.txt"
    return found, compare(found, path, options.update)


def write_report(path: Path, found: dict, of_tests: dict, version: str) -> None:
    """Writes what was found; a page whose part did not run stays as it is.

    PyTorch's own tests have a page beside the other's: NAME_tests.md.
    """
    if found:
        path.write_text(report(found, version), encoding="utf-8")
    if of_tests:
        beside = path.with_stem(path.stem + "_tests")
        beside.write_text(counts.page(of_tests, version), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--oracle", default=sys.executable)
    parser.add_argument("--suite", default="all", choices=["all", *FORMS, "tests"])
    parser.add_argument("--op", action="append", metavar="ENTRY")
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument(
        "--device",
        default="cpu",
        choices=["cpu", "cuda"],
        help="of op: where hotaru's tensors lie",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--reasons", type=int, default=0, metavar="N")
    parser.add_argument("--report", metavar="FILE", help="write it as Markdown")
    parser.add_argument(
        "--cache", default=".cache/conformance", help="where PyTorch's side is kept"
    )
    parser.add_argument("--tests", metavar="DIR", help="PyTorch's test/")
    parser.add_argument(
        "--file", action="append", metavar="PART", help="of tests: only these"
    )
    parser.add_argument(
        "--imported", metavar="DIR", help="of tests: recorded results of PyTorch's side"
    )
    parser.add_argument(
        "--recorded",
        action="store_true",
        help="of tests: run nothing, tell what the last run has found",
    )
    options = parser.parse_args()
    options.dtype = options.dtype or list(DTYPES)
    Path(options.cache).mkdir(parents=True, exist_ok=True)
    suites = [options.suite]
    if options.suite == "all":  # but for those that take minutes
        suites = [suite for suite in FORMS if suite != "interchange"]
    found, of_tests, broke = {}, {}, 0
    for suite in suites:
        if suite == "tests":
            continue
        found[suite], failed = run_suite(suite, options)
        broke |= failed
    if options.suite == "tests" or (options.suite == "all" and not options.op):
        version = version_of(options.oracle) if options.tests else ""
        of_tests, failed = tests.run(options, version)
        broke |= failed
    if options.report:
        version = version_of(options.oracle)
        write_report(Path(options.report), found, of_tests, version)
    return broke


if __name__ == "__main__":
    sys.exit(main())
