"""A process that loads one test file over PyTorch or hotaru and runs its tests.

    worker.py OVER FOLDER FILE OUT [--names FILE] [--most N] [--only PART]
              [--limit S] [--budget S]

Writes a line of JSON for each test to OUT (`forked.py` says which); META comes
first, END last, LOAD alone if the file does not load, N for a name that there
is no such test of.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import sys
import time
import traceback
import unittest
import warnings
from pathlib import Path

_ENVIRONMENT = {
    "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu",
    "PYTORCH_PRINT_REPRO_ON_FAILURE": "0",
    "PYTORCH_TEST_WITH_SLOW": "0",
    "OMP_NUM_THREADS": "1",
}


# Variable with the file that spawned processes load: their functions are its.
_OF_PARENT = "HOTARU_CONFORMANCE_FILE"


class _NoTorchvision:
    """Not installed over either, whatever lies about."""

    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("over", choices=("torch", "hotaru"))
    parser.add_argument("folder")
    parser.add_argument("file")
    parser.add_argument("out")
    parser.add_argument("--names")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--budget", type=float, default=1e9)
    return parser.parse_args()


def _paths(folder: Path, file: str) -> None:
    """The file's neighbours first, our own package and packages last."""
    tests = folder / "test"
    here = Path(__file__).resolve().parent
    sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != here]
    sys.path[:0] = [str(tests), str((tests / file).parent)]
    sys.path += [str(here.parent), str(folder / "deps")]
    sys.meta_path.insert(0, _NoTorchvision())


def _load(options, folder: Path):
    """The module of the file."""
    from suite import changes, versions

    tests = folder / "test"
    target = tests / options.file
    loader = None
    if options.over == "hotaru":
        from suite import loading

        loading.install(str(folder / "gifts"), str(tests))
        loader = loading.SoftLoader(target.stem, str(target))
    os.chdir(tests)
    spec = importlib.util.spec_from_file_location(target.stem, target, loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[target.stem] = module
    versions.apply(target.read_text(encoding="utf-8"), options.over)
    spec.loader.exec_module(module)
    if options.over == "hotaru":
        changes.loosen_test_case()
        loading.strict()
    return module


def _tests(module) -> dict[str, unittest.TestCase]:
    from suite.forked import name_of

    # It wants the file to be the program that runs.
    vars(module).pop("load_tests", None)
    found: dict[str, unittest.TestCase] = {}
    todo = [unittest.defaultTestLoader.loadTestsFromModule(module)]
    while todo:
        test = todo.pop()
        if isinstance(test, unittest.TestSuite):
            todo += test
        elif type(test).__name__ != "_FailedTest":
            found[name_of(test)] = test
    return dict(sorted(found.items()))


def _sha1(name: str) -> str:
    return hashlib.sha1(name.encode()).hexdigest()


def _chosen(options, tests: dict, emit) -> list[str]:
    names = list(tests)
    if options.names:
        wanted = Path(options.names).read_text().split("\n")
        wanted = [name for name in wanted if name]
        for name in wanted:
            if name not in tests:
                emit(name, "N", 0, "not instantiated", "")
        names = [name for name in wanted if name in tests]
    if options.only:
        names = [name for name in names if options.only in name]
    if options.most and len(names) > options.most:
        names = sorted(sorted(names, key=_sha1)[: options.most])
    return names


def main() -> int:
    options = _arguments()
    folder = Path(options.folder).resolve()
    os.environ[_OF_PARENT] = json.dumps([options.over, str(folder), options.file])
    out_path = Path(options.out).resolve()
    if options.names:
        options.names = Path(options.names).resolve()
    sys.argv = sys.argv[:1]
    for key, value in _ENVIRONMENT.items():
        os.environ.setdefault(key, value)
    _paths(folder, options.file)
    warnings.filterwarnings("ignore")
    start = time.time()
    with open(out_path, "w", encoding="utf-8") as out:

        def emit(*row):
            out.write(json.dumps(row) + "\n")
            out.flush()

        try:
            module = _load(options, folder)
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
            places = traceback.extract_tb(error.__traceback__)[-6:]
            where = " < ".join(
                f"{os.path.basename(f.filename)}:{f.lineno}" for f in reversed(places)
            )
            emit("LOAD", "L", time.time() - start, text[:600], where)
            return 3
        from suite.forked import run_tests
        from suite.names import State

        tests = _tests(module)
        names = _chosen(options, tests, emit)
        about = {"chosen": len(names), "missing": sorted(State.seen)}
        emit("META", "M", time.time() - start, json.dumps(about), "")
        run_tests(
            {name: tests[name] for name in names},
            Path(options.file).stem,
            options.limit,
            options.budget - (time.time() - start),
            emit,
        )
        emit("END", "M", time.time() - start, "", "")
    return 0


def _inherit() -> None:
    """Loads the file in a process that one of its tests has spawned."""
    over, folder, file = json.loads(os.environ[_OF_PARENT])
    warnings.filterwarnings("ignore")
    _paths(Path(folder), file)
    _load(argparse.Namespace(over=over, file=file), Path(folder))


if __name__ == "__main__":
    sys.exit(main())
if __name__ == "__mp_main__":
    _inherit()
