"""`python -m hotaru.serialization COMMAND VERB FILE ...`: files of `torch.save`
from before PyTorch 1.6.

What `hotaru info FILE` and `hotaru convert FILE TO` run for them: the file is
written as one of today in a folder of its own, and the command called with it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile

import hotaru as torch


def main(words: list[str]) -> int:
    """The command's status; errors are one line and a status of 1."""
    command, verb, path, *rest = words
    with tempfile.TemporaryDirectory() as folder:
        new = os.path.join(folder, os.path.basename(path))
        try:
            value = torch.load(path, map_location="cpu", weights_only=True)
            torch.save(value, new)
        except (
            EOFError,
            OSError,
            RuntimeError,
            TypeError,
            ValueError,
            pickle.UnpicklingError,
        ) as error:
            said = str(error) or "the file ends before its contents do"
            print(f"hotaru: {path}: {said}", file=sys.stderr)
            return 1
        return subprocess.run([command, verb, new, *rest]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
