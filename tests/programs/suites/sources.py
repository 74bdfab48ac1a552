"""The libraries' tests: from a folder of checkouts or from PyPI's sdists.

Only the tests are taken, so that what they import is the installed package.
"""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from libraries import Library


def _checkout(library: Library, options) -> Path | None:
    for given in options.sources or ():
        folder = Path(given).resolve() / (library.checkout or library.name)
        if folder.is_dir():
            return folder
    return None


def _sdist(library: Library, options, scratch: Path) -> Path | None:
    """The unpacked sdist of the installed version; None where pip has none."""
    asked = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    version = subprocess.run(
        [options.oracle, "-c", asked, library.package], capture_output=True, text=True
    )
    if version.returncode:
        return None
    wanted = f"{library.package}=={version.stdout.strip()}"
    command = [options.oracle, "-m", "pip", "download", "--quiet", "--no-deps"]
    # The library alone comes as sources: what builds it stays a wheel.
    command += ["--no-binary", library.package, "--dest", str(scratch), wanted]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        told = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    except subprocess.TimeoutExpired:
        told = ["pip took more than 600 s"]
    if told:
        print(f"no sdist of {wanted}: {told[0]}", file=sys.stderr)
    for archive in scratch.glob("*.tar.gz"):
        with tarfile.open(archive) as packed:
            packed.extractall(scratch, filter="data")
    return next((p for p in scratch.iterdir() if p.is_dir()), None)


def _copy(library: Library, source: Path, target: Path) -> None:
    for name in library.folders:
        path = source / name
        if path.is_dir():
            shutil.copytree(path, target / name, dirs_exist_ok=True)
        elif path.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / name)


def files_of(library: Library, folder: Path) -> list[str]:
    """The files of tests that are run."""
    mention = re.compile(library.mention)
    found = {
        path.relative_to(folder).as_posix()
        for pattern in library.tests
        for path in folder.glob(pattern)
        if not library.mention or mention.search(path.read_text(encoding="utf-8"))
    }
    return sorted(
        name
        for name in found
        if not any(fnmatch.fnmatch(name, p) for p in library.left_out)
    )


def root(library: Library, folder: Path, python: str) -> Path:
    """Where `python` runs the tests: `folder`, or where its packages lie."""
    if not library.installed:
        return folder
    asked = "import sysconfig; print(sysconfig.get_path('platlib'))"
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True)
    return Path(done.stdout.strip())


def fetched(library: Library, options) -> Path | None:
    """The folder of a library's tests; None where none can be had."""
    if library.installed:
        folder = root(library, Path(), options.oracle)
        return folder if files_of(library, folder) else None
    target = Path(options.cache).resolve() / "sources" / library.name
    if not files_of(library, target):
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            source = _checkout(library, options)
            source = source or _sdist(library, options, Path(scratch))
            if source is not None:
                _copy(library, source, target)
    return target if files_of(library, target) else None
