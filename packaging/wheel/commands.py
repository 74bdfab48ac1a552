"""Commands that the makers of wheels run, and links that they set."""

import os
import subprocess
from pathlib import Path


def run(*command, **options) -> str:
    """Standard output of a command that must succeed.

    Raises SystemExit with the last lines of what it printed if it does not.
    """
    words = [str(word) for word in command]
    done = subprocess.run(words, text=True, capture_output=True, **options)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise SystemExit(f"{' '.join(words)}\n{last}")
    return done.stdout


def jobs() -> str:
    """How many compilers run at a time: JOBS of the environment, or the cores."""
    return os.environ.get("JOBS", str(os.cpu_count()))


def relink(link: Path, target: Path | str) -> None:
    """Makes a symbolic link, in place of one that is there."""
    link.unlink(missing_ok=True)
    link.symlink_to(target)
