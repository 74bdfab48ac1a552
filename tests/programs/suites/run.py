"""Libraries' own, unmodified tests over hotaru, beside PyTorch.

For each library of libraries.py a sample of its tests, the same for the same
seed, runs over PyTorch until the library's part of the processor time is used;
those that passed run over hotaru. Prints what does not pass, by library and by
cause.

    run.py --oracle PYTHON --subject PYTHON [--sources DIR] [--minutes N]
           [--tests N] [--only NAME ...] [--table docs/programs.md]
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import causes
import files
import sources
from libraries import LIBRARIES, Library

HERE = Path(__file__).parent


def environment(library: Library, folder: Path, options, hotaru: bool) -> dict:
    """One thread, no network, nothing of the other side's."""
    path = [str(folder / name) for name in library.path]
    env = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONDONTWRITEBYTECODE": "1",
        **library.env,
    }
    if not hotaru:
        path.insert(0, str(HERE.parent / "oracle"))
        env.pop("LD_LIBRARY_PATH", None)
    env["PYTHONPATH"] = os.pathsep.join(path)
    return env


def version_of(library: Library, python: str) -> str:
    """The installed version; empty where the package is not installed."""
    asked = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    done = subprocess.run(
        [python, "-c", asked, library.package], capture_output=True, text=True
    )
    return done.stdout.strip()


def in_order(names: list[str], seed: int) -> list[str]:
    """The names, shuffled by the seed."""
    return sorted(names, key=lambda n: hashlib.sha1(f"{seed} {n}".encode()).hexdigest())


def sample(library: Library, folder: Path, options) -> dict:
    """PyTorch's side: {file: {"tests": ..., "collect": ...}}, kept."""
    version = version_of(library, options.oracle)
    asked = [repr(library), version, options.seed, options.tests]
    asked += [options.minutes, options.limit]
    key = hashlib.sha1(json.dumps(asked).encode()).hexdigest()[:12]
    path = Path(options.cache) / "torch" / f"{library.name}-{key}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    env = environment(library, folder, options, False)
    limit = options.limit
    side = files.Side(options.oracle, env, limit, library.arguments, library.named)
    found = sources.files_of(library, folder)
    each = max(3, -(-options.tests // len(found)))
    seconds, count, kept = 60 * options.share, 0, {}
    for file in in_order(found, options.seed):
        if seconds <= 0 or count >= options.tests:
            break
        if len(kept) == 8 and all(k["collect"] for k in kept.values()):
            break  # its tests need something that is not installed
        run = files.choose(side, folder, file, options.seed, each)
        seconds -= run.seconds
        count += sum(t["outcome"] == "passed" for t in run.tests.values())
        kept[file] = {"tests": run.tests, "collect": run.collect}
    result = {"version": version, "files": kept}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1), encoding="utf-8")
    return result


def judge(library: Library, options) -> dict:
    """One row of the table."""
    row = {"name": library.name, "wanted": 0, "passed": 0, "failed": {}}
    row["version"] = version_of(library, options.subject)
    if not row["version"]:
        return {**row, "note": "not installed"}
    folder = sources.fetched(library, options)
    if folder is None:
        return {**row, "note": "no sources of its tests (--sources)"}
    want = sample(library, folder, options)
    env = environment(library, folder, options, True)
    limit = 3 * options.limit
    side = files.Side(options.subject, env, limit, library.arguments, library.named)
    folder = sources.root(library, folder, options.subject)
    told = {}
    for file, kept in want["files"].items():
        names = [n for n, t in kept["tests"].items() if t["outcome"] == "passed"]
        if not names:
            continue
        run = files.repeat(side, folder, file, names)
        for name in names:
            row["wanted"] += 1
            told[name] = run.tests[name]
            if run.tests[name]["outcome"] == "passed":
                row["passed"] += 1
            else:
                row["failed"][name] = run.tests[name]
    path = Path(options.cache) / "hotaru" / f"{library.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told, indent=1), encoding="utf-8")
    if not row["wanted"]:
        told = [k["collect"] for k in want["files"].values() if k["collect"]]
        row["note"] = "no test of the sample passes over PyTorch"
        row["note"] += f": {told[0]['collect']}" if told else ""
    return row


def show(row: dict) -> None:
    """One row, and what does not pass."""
    note = row.get("note", "")
    print(f"{row['passed']:4}/{row['wanted']:<4} {row['name']:22} {note}")
    for cause, count, _ in causes.causes([row]):
        print(f"     {count:4}  {cause}", flush=True)


def main() -> int:
    """Runs what was chosen; 1 where a library is below its bound."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--subject", required=True)
    parser.add_argument("--sources", nargs="*")
    parser.add_argument("--cache", default=".cache/suites")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--tests", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--below", type=float, default=0)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    options.share = options.minutes / len(LIBRARIES)
    options.oracle = os.path.abspath(options.oracle)
    options.subject = os.path.abspath(options.subject)
    chosen = [one for one in LIBRARIES if not options.only or one.name in options.only]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda one: judge(one, options), chosen):
            show(row)
            rows.append(row)
    wanted = sum(row["wanted"] for row in rows)
    passed = sum(row["passed"] for row in rows)
    print(f"{passed} of {wanted} pass, of those that pass over PyTorch")
    if options.table:
        causes.write_table(rows, options.table)
    low = [
        row["name"]
        for row in rows
        if 100 * row["passed"] < options.below * row["wanted"]
    ]
    if low:
        print(f"below {options.below} %: {', '.join(low)}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
