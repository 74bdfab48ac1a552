"""`python -m hotaru alias`: `import torch` in every process of an environment.

It puts a package `torch` of one small file into the environment's folder of
packages, with the metadata by which tools ask for a version.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.machinery
import importlib.metadata
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from . import metadata

ALIAS = "torch"
# By the first line a file is known as ours.
_MARK = "# Written by `hotaru alias`; `hotaru alias --remove` takes it away."
_SOURCE = f'''\
{_MARK}
"""PyTorch's name for hotaru."""

import sys

# Not there while the name is given to hotaru, which asks whether it is free.
_here = sys.modules.pop(__name__)

from hotaru._alias import install

install(__name__)
sys.modules[__name__] = sys.modules["hotaru"]
'''


class AliasError(RuntimeError):
    """Why there can be no alias here, or none to remove."""


def site_packages() -> Path:
    """Where this environment has its packages."""
    return Path(sysconfig.get_path("purelib"))


def put(folder: Path | None = None) -> Path:
    """Puts `torch` into a folder of packages, in the place of an older alias.

    Raises:
        AliasError: a real `torch` is installed, or the folder cannot be
            written.
    """
    folder = folder or site_packages()
    _refuse_real(folder)
    _take_away(folder)
    info = metadata.folder_name(ALIAS)
    written = {f"{ALIAS}/__init__.py": _SOURCE}
    written.update(
        (f"{info}/{name}", text) for name, text in metadata.files(ALIAS).items()
    )
    record = f"{info}/RECORD"
    written[record] = _record(written) + f"{record},,\n"
    try:
        for name, text in written.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AliasError(f"cannot write to {folder}: {error}") from error
    return folder / ALIAS


def remove(folder: Path | None = None) -> Path:
    """Takes the alias away.

    AliasError: there is none; a real `torch` is left alone.
    """
    folder = folder or site_packages()
    if not _is_alias(folder / ALIAS):
        _refuse_real(folder)
        raise AliasError(f"there is no alias in {folder}")
    _take_away(folder)
    return folder / ALIAS


def _record(written: dict[str, str]) -> str:
    """As installers write it, so that they can remove the files, too."""
    lines = []
    for name, text in written.items():
        body = text.encode()
        digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest())
        plain = digest.rstrip(b"=").decode()
        lines.append(f"{name},sha256={plain},{len(body)}\n")
    return "".join(lines)


def _is_alias(package: Path) -> bool:
    try:
        text = (package / "__init__.py").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return text.startswith(_MARK)


def _refuse_real(folder: Path) -> None:
    """AliasError where `import torch` finds something that is not an alias."""
    # A folder of that name where the command runs is no installation.
    here = {"", os.getcwd()}
    places = [str(folder), *(p for p in sys.path if p not in here)]
    spec = importlib.machinery.PathFinder.find_spec(ALIAS, places)
    if spec is not None and spec.origin is not None:
        package = Path(spec.origin).parent
        if not _is_alias(package):
            raise AliasError(
                f"a real {ALIAS} is installed, in {package}: remove it first "
                f"(pip uninstall {ALIAS}), or use an environment without it"
            )
    for found in importlib.metadata.distributions(name=ALIAS, path=[str(folder)]):
        if (found.read_text("INSTALLER") or "").strip() != metadata.INSTALLER:
            raise AliasError(
                f"{ALIAS} {found.version} is installed in {folder}: remove it "
                f"first (pip uninstall {ALIAS})"
            )


def _take_away(folder: Path) -> None:
    """An alias and its metadata, of whichever version."""
    if _is_alias(folder / ALIAS):
        shutil.rmtree(folder / ALIAS)
    for info in folder.glob(f"{ALIAS}-*.dist-info"):
        installer = info / "INSTALLER"
        if installer.exists() and installer.read_text().strip() == metadata.INSTALLER:
            shutil.rmtree(info)


def main(args: list[str]) -> None:
    """The command `hotaru alias`; exit code 1 with a line that says why."""
    parser = argparse.ArgumentParser(
        prog="hotaru alias",
        description=f"Makes `import {ALIAS}` give hotaru in every process of "
        f"this environment ({site_packages()}).",
    )
    parser.add_argument(
        "--remove", action="store_true", help="take the alias away again"
    )
    options = parser.parse_args(args)
    try:
        path = remove() if options.remove else put()
    except AliasError as error:
        print(f"hotaru alias: {error}", file=sys.stderr)
        sys.exit(1)
    did = "removed" if options.remove else "written"
    print(f"{path}: {did}")
