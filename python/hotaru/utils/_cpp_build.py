"""Compiling C++ extensions: commands, several at a time, and what changed."""

from __future__ import annotations

import concurrent.futures
import json
import os
import shutil
import subprocess
from dataclasses import asdict, dataclass


@dataclass
class Job:
    """A library or program of some sources."""

    compiler: str
    sources: list[str]
    flags: list[str]
    link: list[str]
    output: str
    folder: str
    verbose: bool = False


def is_ninja_available() -> bool:
    """True if the command ninja is there; extensions do not need it."""
    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """RuntimeError where ninja is missing, for programs that want it."""
    if not is_ninja_available():
        raise RuntimeError(
            "Ninja is required to load C++ extensions (pip install ninja to get it)"
        )


def _run(command: list[str], job: Job, what: str) -> None:
    if job.verbose:
        print(" ".join(command))
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"Error building extension {os.path.basename(job.output)!r}: "
            f"{what} failed:\n{' '.join(command)}\n{done.stdout}{done.stderr}"
        )


def _objects(job: Job) -> list[str]:
    return [
        os.path.join(job.folder, f"{i}_{os.path.basename(source)}.o")
        for i, source in enumerate(job.sources)
    ]


def compile_all(job: Job) -> None:
    """Compiles and links, as many sources at a time as `MAX_JOBS` or cores.

    RuntimeError with the command and what it said where one fails.
    """
    compiler = job.compiler.split()
    objects = _objects(job)

    def compile_one(pair):
        source, target = pair
        command = [*compiler, "-MMD", "-c", source, "-o", target, *job.flags]
        _run(command, job, source)

    most = int(os.environ.get("MAX_JOBS") or os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(most) as pool:
        list(pool.map(compile_one, zip(job.sources, objects)))
    # Not over a file that may be mapped by this process.
    if os.path.exists(job.output):
        os.remove(job.output)
    _run([*compiler, *objects, "-o", job.output, *job.link], job, "linking")


def _dependencies(job: Job) -> list[str]:
    """The sources and the headers that they read when they were compiled."""
    found = set(job.sources)
    for target in _objects(job):
        listed = f"{target.removesuffix('.o')}.d"
        try:
            with open(listed) as file:
                words = file.read().replace("\\\n", " ").split()
        except OSError:
            continue
        found.update(words[1:])
    return sorted(found)


def _state(job: Job) -> dict:
    times = {}
    for path in _dependencies(job):
        times[path] = os.stat(path).st_mtime_ns if os.path.exists(path) else 0
    plain = asdict(job)
    del plain["verbose"]
    return {"job": plain, "times": times}


def _noted(job: Job) -> str:
    return os.path.join(job.folder, "hotaru_build.json")


def has_changed(job: Job) -> bool:
    """Tells whether something is other than when it was built."""
    if not os.path.exists(job.output):
        return True
    try:
        with open(_noted(job)) as file:
            return json.load(file) != _state(job)
    except (OSError, ValueError):
        return True


def remember(job: Job) -> None:
    """Notes what it was built of."""
    with open(_noted(job), "w") as file:
        json.dump(_state(job), file)
