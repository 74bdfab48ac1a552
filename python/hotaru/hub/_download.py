"""Files from addresses, and the weights in them."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import uuid
import warnings
import zipfile
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from .. import serialization
from .._extension.new_file import new_file
from ._archive import extract
from ._places import get_dir, log

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # of "resnet-0123abcd.pth"
_PIECE = 128 * 1024


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Writes what is at the address to the file `dst`.

    The file is there whole or not at all; one that was there before stays until
    then. `hash_prefix` is how the SHA-256 of the contents begins, RuntimeError
    otherwise. `progress` shows how much has come, where standard error is a
    terminal. Raises OSError (urllib's URLError) where there is nothing.
    """
    dst = os.path.expanduser(dst)
    request = Request(url, headers={"User-Agent": "torch.hub"})
    # A link is replaced, not followed: what it leads to is somebody else's.
    linked = os.path.islink(dst)
    path = f"{dst}.{uuid.uuid4().hex}.partial" if linked else dst
    with new_file(path) as file, urlopen(request) as source:
        digest = _copy(source, file, progress)
        if hash_prefix is not None and not digest.startswith(hash_prefix):
            raise RuntimeError(
                f'invalid hash value (expected "{hash_prefix}", got "{digest}")'
            )
    if linked:
        os.replace(path, dst)


def _copy(source, file, progress: bool) -> str:
    """Copies all; returns the SHA-256."""
    total = int(source.headers.get("Content-Length") or 0)
    show = _bar(total) if progress and sys.stderr.isatty() else None
    found, done = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        file.write(piece)
        found.update(piece)
        done += len(piece)
        if show:
            show(done)
    if show:
        sys.stderr.write("\n")
    return found.hexdigest()


def _bar(total: int):
    def show(done: int) -> None:
        much = f"{100 * done / total:.1f}%" if total else f"{done} bytes"
        sys.stderr.write(f"\r{much}")
        sys.stderr.flush()

    return show


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location=None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
):
    """Loads the file at the address by `torch.load`.

    It is downloaded once, to `model_dir`, by default `checkpoints` in
    `get_dir()`, under the name that the address ends with, or `file_name`. With
    `check_hash` a name such as "resnet-0123abcd.pth" says how the SHA-256 of
    the contents begins. An archive of a single file is taken apart first.
    `map_location` and `weights_only` are those of `torch.load`; a file from a
    stranger should be loaded with `weights_only=True`.
    """
    if os.getenv("TORCH_MODEL_ZOO"):
        warnings.warn(
            "TORCH_MODEL_ZOO is deprecated, please use env TORCH_HOME instead",
            stacklevel=2,
        )
    if model_dir is None:
        model_dir = os.path.join(get_dir(), "checkpoints")
    os.makedirs(model_dir, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(model_dir, name)
    if not os.path.exists(path):
        log.info('Downloading: "%s" to %s', url, path)
        found = HASH_REGEX.search(name) if check_hash else None
        prefix = found.group(1) if found else None
        download_url_to_file(url, path, prefix, progress)
    inner = _single_file(path)
    if inner is not None:
        warnings.warn(
            "Falling back to the old format < 1.6. This support will be "
            "deprecated in favor of default zipfile format introduced in 1.6. "
            "Please redo torch.save() to save it in the new zipfile format.",
            FutureWarning,
            stacklevel=2,
        )
        with zipfile.ZipFile(path) as archive:
            extract(archive, model_dir)
        path = os.path.join(model_dir, inner)
    return serialization.load(path, map_location, weights_only=weights_only)


def _single_file(path: str) -> str | None:
    """The only file in an archive, if it is one and has but one."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    if len(entries) == 1 and not entries[0].is_dir():
        return entries[0].filename
    return None
