"""The working folder: tests, the harness, packages and results.

| | |
| --- | --- |
| `test/` | a copy of PyTorch's folder test/, changed by `changes.py` |
| `gifts/` | what of PyTorch the harness consists of, and its library of classes |
| `deps/` | links to packages that tests import over both |
| `child/` | `import torch` of programs that tests start |
| `results/SIDE/` | a line of JSON for each test |
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from suite.changes import change_harness, change_tests

ROOT = Path(__file__).resolve().parents[3]
_OF_TORCH = (
    "expecttest",
    "scipy",
    "scipy.libs",
    "typing_extensions.py",
    "sympy",
    "mpmath",
    "networkx",
    "filelock",
    "jinja2",
    "markupsafe",
    "packaging",
    "torchgen",
)
_OF_HYPOTHESIS = (
    "hypothesis",
    "_hypothesis_globals.py",
    "_hypothesis_ftz_detector.py",
    "sortedcontainers",
)
_CHILD = """\
import sys
del sys.modules['torch']
from hotaru import _alias
_alias.install()
import torch
"""


def site_of(python: str, package: str) -> Path | None:
    """Where an interpreter has a package; None if it has not."""
    asked = subprocess.run(
        [python, "-c", f"import {package}; print({package}.__file__)"],
        capture_output=True,
        text=True,
    )
    if asked.returncode:
        return None
    return Path(asked.stdout.strip().splitlines()[-1]).parent.parent


def _link(sources: list[Path], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        place = folder / source.name
        if source.exists() and not place.exists():
            place.unlink(missing_ok=True)
            place.symlink_to(source)


def prepare(folder: Path, tests: Path, oracle: str) -> None:
    """Makes the folder, or brings it up to date.

    Args:
        folder: the working folder.
        tests: PyTorch's folder test/; copied if it is another than before.
        oracle: an interpreter that imports torch and expecttest.

    Raises:
        SystemExit: the oracle has no torch.
    """
    site = site_of(oracle, "torch")
    if site is None:
        raise SystemExit(f"conformance: {oracle} does not import torch")
    hypothesis = site_of(sys.executable, "hypothesis")
    packages = [site / name for name in _OF_TORCH]
    if hypothesis is not None:
        packages += [hypothesis / name for name in _OF_HYPOTHESIS]
        packages += hypothesis.glob("hypothesis-*.dist-info")
    _link(packages, folder / "deps")
    _copy_tests(folder, tests.resolve())
    classes = tests.resolve() / "cpp" / "jit" / "test_custom_class_registrations.cpp"
    _copy_harness(folder / "gifts" / "torch", site / "torch", classes)
    child = folder / "child" / "torch"
    child.mkdir(parents=True, exist_ok=True)
    (child / "__init__.py").write_text(_CHILD)


def _copy_tests(folder: Path, tests: Path) -> None:
    copied, stamp = folder / "test", folder / "test.from"
    if copied.exists() and stamp.exists() and stamp.read_text() == str(tests):
        return
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(tests, copied, symlinks=True)
    change_tests(copied)
    stamp.write_text(str(tests))


def _copy_harness(gifts: Path, torch: Path, classes: Path) -> None:
    shutil.rmtree(gifts, ignore_errors=True)
    (gifts / "utils").mkdir(parents=True)
    shutil.copytree(
        torch / "testing",
        gifts / "testing",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for name in ("_pytree.py", "_import_utils.py"):
        shutil.copy(torch / "utils" / name, gifts / "utils" / name)
    change_harness(gifts)
    library = gifts / "build" / "lib" / "libtorchbind_test.so"
    _make_test_library(library, classes)


def _make_test_library(path: Path, source: Path) -> None:
    """The library of classes for tests, which some set-ups load.

    PyTorch's wheel has it, made of its C++; ours is made of the same source
    over libtorch/. Where that or the source is missing it is empty: tests that
    use the classes fail, the others of their files are run.

    Raises:
        SystemExit: there is no C++ compiler.
    """
    path.parent.mkdir(parents=True)
    compiler = shutil.which("c++")
    if compiler is None:
        raise SystemExit(f"conformance: no C++ compiler (c++) to make {path.name}")
    command = [compiler, "-std=c++20", "-shared", "-fPIC", "-w", "-o", str(path)]
    folders = [ROOT / "build" / "libtorch", ROOT / "build" / "hotaru"]
    if source.exists() and (folders[0] / "libhotaru_torch.so").exists():
        headers = ROOT / "libtorch" / "include"
        includes = [
            headers,
            headers / "torch" / "csrc" / "api" / "include",
            ROOT,
            folders[0] / "generated",
            source.parents[3],
        ]
        command += [str(source), *(f"-I{include}" for include in includes)]
        for place in folders:
            command += [f"-L{place}", f"-Wl,-rpath,{place}"]
        command += ["-lhotaru_torch", "-lhotaru"]
    else:
        command += ["-x", "c++", "/dev/null"]
    subprocess.run(command, check=True)
