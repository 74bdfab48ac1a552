r"""`run.py --suite tests`: PyTorch's own test files, side by side.

The files are PyTorch's and not part of this project. `--tests DIR` names its
folder test/, of version 2.6:

    git clone --depth 1 --branch v2.6.0 --filter=blob:none --sparse \
        https://github.com/pytorch/pytorch && cd pytorch &&
        git sparse-checkout set test

or the same folder of Debian's source package (`apt-get source pytorch`). The
harness, torch.testing, is that of the oracle. What PyTorch makes of a file is
kept below the cache, as are the results of both (`results/`).
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from suite import counts, files, folder, known

HERE = Path(__file__).resolve().parent
NO_FOLDER = (
    "tests: not run, as PyTorch's test files are not here: name the folder "
    "test/ of PyTorch 2.6 with --tests DIR (from https://github.com/pytorch/"
    "pytorch at v2.6.0, or Debian's source package of pytorch)."
)
# Seconds for a test and for a file; hotaru's tests may take three times that.
_LIMIT, _BUDGET, _MORE = 20, 300, 150


def _key(version: str) -> str:
    """Changes with what PyTorch's side depends on."""
    parts = ("changes.py", "versions.py", "files.py")
    text = version.encode() + b"".join((HERE / p).read_bytes() for p in parts)
    return hashlib.sha1(text).hexdigest()[:10]


def _read(path: Path) -> list[list]:
    if not path.exists():
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def counted(rows: list[list]) -> list[str]:
    """The tests that PyTorch passes.

    Not those of torch._refs: operators once more, in Python, for its own use.
    """
    return [r[0] for r in rows if r[1] == "P" and "_refs_" not in r[0]]


class Side:
    """One of the two: its interpreter and its results."""

    def __init__(self, over: str, python: str, work: Path, results: Path):
        self._over, self._python, self._work = over, python, work
        self._results = results
        results.mkdir(parents=True, exist_ok=True)

    def path(self, file: str) -> Path:
        return self._results / (file.replace("/", "__") + ".jsonl")

    def rows(self, file: str) -> list[list]:
        return _read(self.path(file))

    def is_complete(self, file: str) -> bool:
        rows = self.rows(file)
        return bool(rows) and rows[-1][0] in ("END", "LOAD")

    def run(self, file: str, names: list[str] | None = None) -> None:
        """Runs a file, or these tests of it."""
        if not (self._work / "test" / file).exists():
            return
        out = self.path(file)
        factor = 1 if self._over == "torch" else 3
        command = [
            self._python,
            str(HERE / "worker.py"),
            self._over,
            str(self._work),
            file,
            str(out),
            "--limit",
            str(factor * _LIMIT),
            "--budget",
            str(_BUDGET),
        ]
        start, told = time.time(), ""
        with tempfile.TemporaryDirectory() as scratch:
            if names is None:
                command += ["--most", str(files.FILES[file])]
            else:
                listed = Path(scratch) / "names"
                listed.write_text("\n".join(names) + "\n")
                command += ["--names", str(listed)]
            try:
                done = subprocess.run(
                    command,
                    env=self._environment(scratch),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    timeout=_BUDGET + _MORE,
                    start_new_session=True,
                )
                told = done.stderr.decode(errors="replace").strip()[-300:]
            except subprocess.TimeoutExpired:
                told = "the worker's time was up"
        rows = self.rows(file)
        told = "" if self.is_complete(file) and len(rows) > 1 else f" {told}"
        seconds = time.time() - start
        print(
            f"  {self._over} {file}: {seconds:.0f} s{told}", file=sys.stderr, flush=True
        )

    def _environment(self, scratch: str) -> dict:
        env = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": scratch}
        if self._over == "hotaru":
            # Programs that tests start say `import torch`, too.
            child = str(self._work / "child")
            paths = [child, env.get("PYTHONPATH", "")]
            env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        return env


def _results(want: list[str], rows: list[list]) -> dict[str, counts.Row]:
    """Hotaru's result for each test that counts."""
    got = {row[0]: tuple(row[1:]) for row in rows}
    load = next((row for row in rows if row[1] == "L"), None)
    none = ("L", 0, load[3], "") if load else ("-", 0, "", "")
    return {name: got.get(name, none) for name in want}


def _import(source: Path, results: Path) -> None:
    """Takes over results of PyTorch's side that are recorded elsewhere."""
    results.mkdir(parents=True, exist_ok=True)
    for path in source.glob("*.jsonl"):
        if not (results / path.name).exists():
            shutil.copy(path, results / path.name)


def run(options, version: str) -> tuple[counts.Found, int]:
    """Both sides of the chosen files.

    Args:
        options: `tests` (PyTorch's folder, or None), `file` (parts of paths),
            `oracle`, `cache`, `jobs`, `update`, `reasons`, `imported`,
            `recorded` (run nothing: what the last run has found, of files that
            it has done).
        version: of the oracle.

    Returns:
        hotaru's results by file and test, and 1 if a test that was promised
        does not pass. Nothing, and 0, if there is no folder of tests.
    """
    if not options.tests:
        print(NO_FOLDER)
        return {}, 0
    work = Path(options.cache).resolve() / "tests"
    if not options.recorded:
        folder.prepare(work, Path(options.tests), options.oracle)
    base = work / "results"
    recorded = base / f"torch-{_key(version)}"
    if options.imported:
        _import(Path(options.imported), recorded)
    oracle = Side("torch", options.oracle, work, recorded)
    subject = Side("hotaru", sys.executable, work, base / "hotaru")
    found: counts.Found = {}

    def both(file: str) -> None:
        if not options.recorded and not oracle.is_complete(file):
            oracle.run(file)
        want = counted(oracle.rows(file))
        if want and not options.recorded:
            subject.run(file, want)
        if want and (subject.is_complete(file) or not options.recorded):
            found[file] = _results(want, subject.rows(file))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(both, files.chosen(options.file)))
    if options.reasons:
        print(counts.clustered(found, options.reasons))
    return found, _compare(found, options.update)


def _compare(found: counts.Found, update: bool) -> int:
    """Tells the counts and what is broken; 1 if something is."""
    broken = mended = 0
    for file, rows in sorted(found.items()):
        print(counts.line(file, rows))
        right = counts.passed(rows)
        if update:
            known.promise(file, set(rows), right)
            continue
        promised = known.promised(file, set(rows))
        for name in sorted(promised - right):
            status, _, text, _ = rows[name]
            print(f"broken: {file} {name}: {status} {text[:200]}")
        broken += len(promised - right)
        mended += len(right - promised)
    right = sum(len(counts.passed(rows)) for rows in found.values())
    print(f"tests: {right} of {sum(map(len, found.values()))}")
    if mended:
        print(f"{mended} more pass than are promised; --update lists them")
    return 1 if broken else 0
