"""Programs and libraries that people run on PyTorch, over hotaru.

Each script runs under two interpreters: one whose `torch` is PyTorch, one
whose `torch` is hotaru. What they print is compared. Prints a table and exits
with 1 if a program differs that is not known to (known.txt).

    run.py --oracle PYTHON --subject PYTHON [--sources DIR] [--only PART] [--ci]

Without --oracle, PyTorch's side of the programs of --ci is what --record kept
in golden/.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import recorded
from judge import verdict
from table import PROGRAMS, Program

HERE = Path(__file__).parent
LEFT_OUT = 77


def environment(options, hotaru: bool) -> dict:
    """One thread, no network, nothing of the other side's."""
    env = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "MPLBACKEND": "Agg",
        "PROGRAMS_SOURCES": str(Path(options.sources).resolve()),
        "PYTHONWARNINGS": "ignore",
    }
    if not hotaru:
        env["PYTHONPATH"] = str(HERE / "oracle")
        env.pop("LD_LIBRARY_PATH", None)
    return env


def run_side(python: str, program: Program, env: dict, limit: float):
    """(exit status, stdout, stderr, seconds) of one side."""
    command = [python, str(HERE / "side.py"), program.script, *program.args]
    start = time.monotonic()
    try:
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=limit
        )
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        status, out, err = -1, "", f"more than {limit:.0f} s"
    return status, out, err, time.monotonic() - start


def blocker(text: str) -> str:
    """The error that ended a program; of a chain of errors, the first."""
    text = text.split("The above exception was the direct cause")[0]
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if not lines:
        return "ended without an error"
    at = len(lines) - 1
    while at > 0 and lines[at].startswith((" ", "\t")):
        at -= 1
    return lines[at][:240]


def oracle(program: Program, options):
    """PyTorch's side, kept until the script or the packages change."""
    if not options.oracle:
        return recorded.recorded(program)
    parts = [program.path, HERE / "probe.py"]
    stamp = Path(options.oracle).parent.parent / ".stamp"  # of its packages
    parts += [stamp] if stamp.exists() else []
    text = b"".join(p.read_bytes() for p in parts) + options.oracle.encode()
    key = hashlib.sha1(text).hexdigest()[:12]
    path = Path(options.cache) / f"{program.name}-{key}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    env = environment(options, False)
    result = run_side(options.oracle, program, env, options.limit)
    if result[0] == 0:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result), encoding="utf-8")
    return result


def record(programs: list[Program], options) -> int:
    """Keeps PyTorch's side of programs for runs without PyTorch."""
    for program in programs:
        status, text, err, _ = oracle(program, options)
        if status:
            print(f"{program.name}: {blocker(err)}")
            return 1
        recorded.record(program, text)
    print(f"{len(programs)} recorded")
    return 0


def judge(program: Program, options) -> dict:
    """One row of the table."""
    row = {"program": program.name, "state": "same", "note": program.reason}
    status, want, err, row["pytorch_s"] = oracle(program, options)
    if status:
        state = "left out" if status == LEFT_OUT else "PyTorch stops"
        return {**row, "state": state, "note": blocker(err)}
    env = environment(options, True)
    status, have, err, row["hotaru_s"] = run_side(
        options.subject, program, env, options.limit
    )
    if status:
        return {**row, "state": "stops", "note": blocker(err)}
    found = verdict(want, have, program.rtol)
    if found:
        return {**row, "state": "differs", "note": found[:300]}
    return row


def chosen(options) -> list[Program]:
    """The programs that the command line asks for."""
    return [
        p
        for p in PROGRAMS
        if (not options.ci or p.ci)
        and (not options.only or any(o in p.name for o in options.only))
    ]


def show(row: dict) -> None:
    seconds = f"{row.get('hotaru_s', 0):.0f}/{row['pytorch_s']:.0f} s"
    text = f"{row['state']:14} {row['program']:44} {seconds:>9}  {row['note']}"
    print(text, flush=True)


def write_table(rows: list[dict], path: Path) -> None:
    """The rows as a table of Markdown, between the marks of `path`."""
    table = ["| Program | Result | Note |", "| --- | --- | --- |"]
    for row in rows:
        note = row["note"].replace("|", "\\|")
        table.append(f"| {row['program']} | {row['state']} | {note} |")
    same = sum(row["state"] == "same" for row in rows)
    text = path.read_text(encoding="utf-8")
    begin, end = "<!-- programs: begin -->", "<!-- programs: end -->"
    head, tail = text.split(begin)[0], text.split(end)[1]
    body = f"{same} of {len(rows)} give PyTorch's numbers.\n\n"
    body += "\n".join(table)
    path.write_text(f"{head}{begin}\n\n{body}\n\n{end}{tail}", encoding="utf-8")


def known() -> set[str]:
    """Programs that are known not to give PyTorch's numbers yet."""
    lines = (HERE / "known.txt").read_text(encoding="utf-8").splitlines()
    return {line.split(":")[0] for line in lines if line}


def main() -> int:
    """Runs what was chosen and tells what changed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--oracle")
    parser.add_argument("--subject")
    parser.add_argument("--sources", default=".cache/programs/sources")
    parser.add_argument("--cache", default=".cache/programs/oracle")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    programs, rows = chosen(options), []
    if options.record:
        return record(programs, options)
    if not options.subject or not (options.oracle or options.ci):
        parser.error("needs --subject, and --oracle without --ci")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda p: judge(p, options), programs):
            show(row)
            rows.append(row)
    wrong = ["stops", "differs"]
    if not options.oracle:  # a value that is not recorded guards nothing
        wrong.append("PyTorch stops")
    bad = {r["program"]: r for r in rows if r["state"] in wrong}
    print(f"{sum(r['state'] == 'same' for r in rows)} of {len(rows)} the same")
    if options.table:
        write_table(rows, options.table)
    if options.update:
        text = "".join(f"{n}: {r['note']}\n" for n, r in sorted(bad.items()))
        (HERE / "known.txt").write_text(text, encoding="utf-8")
        return 0
    broken = sorted(set(bad) - known())
    if broken:
        print(f"no longer PyTorch's numbers: {', '.join(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
