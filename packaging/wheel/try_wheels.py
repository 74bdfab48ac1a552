"""Installs wheels as users do, in bare systems without a compiler, and uses them.

Each system is a debootstrap'ed folder that chroot enters: needs root. What is
tried there: `pip install` from the folder of wheels alone, an import, README's
first example, the command, and a part of the tests.

    python packaging/wheel/try_wheels.py dist [SYSTEM...] [--tests EVERY]
        [--rooms core,nn]

`debootstrap` and `busybox-static` are Debian's packages of these names.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from commands import run
from systems import SYSTEMS, System, bare_system

ROOT = Path(__file__).resolve().parents[2]

#: README's first example. Prints 1 where the numbers are right.
EXAMPLE = """
import hotaru as torch
model = torch.jit.load("/try/silero_vad.jit")
probability = model(torch.zeros(1, 512), 16000)
print(int(0 <= probability.item() < 0.1))
"""

#: Prints the bytes of the package without Python's caches.
MEASURE = """
import hotaru, pathlib
files = pathlib.Path(hotaru.__path__[0]).rglob("*")
print(sum(f.stat().st_size for f in files if f.is_file() and f.suffix != ".pyc"))
"""


@contextmanager
def entered(root: Path):
    """Yields a function that runs a command within the folder, as in a machine."""
    for name, kind in (("proc", "proc"), ("dev/shm", "tmpfs")):
        (root / name).mkdir(exist_ok=True)
        run("mount", "-t", kind, kind, root / name)

    def inside(*command, **options) -> str:
        return run("chroot", root, *command, **options)

    try:
        yield inside
    finally:
        for name in ("dev/shm", "proc"):
            run("umount", "-l", root / name)


def fetch_packages(system: System, folder: Path) -> None:
    """Puts what the tests import into a folder, of the index's wheels alone."""
    tags = ["manylinux_2_28", "manylinux_2_17", "manylinux2014"]
    if system.suite == "musl":
        tags = ["musllinux_1_2"]
    # The last three are pytest's on Python 3.10, which pip here does not know;
    # setuptools was part of environments until 3.12.
    wanted = ("numpy", "pytest", "hypothesis", "setuptools")
    for package in (*wanted, *("exceptiongroup", "tomli", "typing_extensions")):
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet"),
                *("--only-binary=:all:", "--python-version", system.python),
                *(f"--platform={tag}_x86_64" for tag in tags),
                *("--dest", str(folder), package),
            ],
            check=False,  # a Python may be newer than a package's wheels
            stderr=subprocess.DEVNULL,
        )


def seconds(work) -> float:
    """How long a call takes."""
    start = time.monotonic()
    work()
    return time.monotonic() - start


def try_tests(root: Path, every: int, rooms: list[str]) -> str:
    """Runs each EVERY-th test file of these folders there, or of all; returns
    pytest's last line.
    """
    shutil.copytree(ROOT / "tests", root / "try/tests", dirs_exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", root / "try")
    tests = root / "try/tests/python"
    folders = [tests / room for room in rooms] or [tests]
    files = sorted(f for folder in folders for f in folder.rglob("test_*.py"))[::every]
    names = [path.relative_to(root / "try") for path in files]
    done = subprocess.run(
        [
            *("chroot", str(root), "sh", "-c"),
            "cd /try && exec /try/venv/bin/python -m pytest -q -x --maxfail=1000"
            f" -p no:cacheprovider {' '.join(map(str, names))}",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "HOTARU_SILERO": "/try/silero_vad.jit"},
    )
    (root / "try/tests.log").write_text(done.stdout + done.stderr)
    return done.stdout.strip().splitlines()[-1]


def try_system(
    system: System, wheels: Path, folder: Path, every: int, rooms: list[str]
) -> dict:
    """Installs and uses the wheel there; returns what was measured."""
    root = bare_system(system, folder)
    place = root / "try"
    shutil.rmtree(place, ignore_errors=True)
    (place / "wheels").mkdir(parents=True)
    for wheel in wheels.glob("*.whl"):
        shutil.copy(wheel, place / "wheels")
    model = os.environ.get("HOTARU_SILERO", ROOT / ".cache/silero_vad.jit")
    shutil.copy(model, place / "silero_vad.jit")
    (place / "example.py").write_text(EXAMPLE)
    with entered(root) as inside:
        python = "/try/venv/bin/python"
        inside(system.executable, "-m", "venv", "/try/venv")
        install = (python, "-m", "pip", "install", "--no-index", "--find-links")
        took = seconds(lambda: inside(*install, "/try/wheels", "hotaru"))
        size = int(inside(python, "-c", MEASURE))
        example = inside(python, "/try/example.py").strip()
        command = inside("/try/venv/bin/hotaru", "info").splitlines()[0]
        tests = "not run"
        if every:
            fetch_packages(system, place / "packages")
            found = {p.name.split("-")[0] for p in (place / "packages").glob("*.whl")}
            inside(*install, "/try/packages", *sorted(found))
            tests = try_tests(root, every, rooms)
    return {
        "system": system.name,
        "seconds": round(took, 1),
        "megabytes": round(size / 1e6, 1),
        "example": example == "1",
        "command": command,
        "tests": tests,
    }


def main() -> None:
    """Prints a line of JSON for each system."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheels", type=Path)
    parser.add_argument("systems", nargs="*", default=list(SYSTEMS))
    parser.add_argument("--folder", type=Path, default=ROOT / ".cache/systems")
    parser.add_argument("--tests", type=int, default=0, help="each EVERY-th file")
    parser.add_argument("--rooms", default="", help="folders of tests; all of them")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.systems:
        found = try_system(
            *(SYSTEMS[name], arguments.wheels, arguments.folder.resolve()),
            *(arguments.tests, [r for r in arguments.rooms.split(",") if r]),
        )
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
