"""The folder where PyTorch's compiler keeps kernels: hotaru writes none there,
other programs may.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import tempfile

__all__ = ["cache_dir", "default_cache_dir", "temporary_cache_dir"]
_KEY = "TORCHINDUCTOR_CACHE_DIR"


def default_cache_dir() -> str:
    """The folder of this user, where the environment names none."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        user = f"uid_{os.getuid()}"
    name = re.sub(r'[\\/:*?"<>|]', "_", user)
    return os.path.join(tempfile.gettempdir(), f"torchinductor_{name}")


def cache_dir() -> str:
    """The folder, which is made if it is not there."""
    folder = os.environ.get(_KEY)
    if folder is None:
        os.environ[_KEY] = folder = default_cache_dir()
    os.makedirs(folder, exist_ok=True)
    return folder


@contextlib.contextmanager
def temporary_cache_dir(directory: str):
    """A block in which the folder is another one."""
    before = os.environ.get(_KEY)
    os.environ[_KEY] = directory
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_KEY, None)
        else:
            os.environ[_KEY] = before
