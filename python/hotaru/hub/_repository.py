"""Repositories: found, downloaded, and asked for their models."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import sys
import warnings
import zipfile
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from .._alias import interpreter as _interpreter
from . import _trust
from ._archive import extract
from ._download import download_url_to_file
from ._places import get_dir, log

_HUBCONF = "hubconf.py"
_names = list  # the function below hides it


def load(
    repo_or_dir: str,
    model: str,
    *args,
    source: str = "github",
    trust_repo="check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs,
):
    """Calls the function `model` of a repository with the arguments.

    `repo_or_dir` is "owner/name" or "owner/name:ref" of GitHub, `ref` being a
    branch, a tag or a commit, by default main or master; or with
    `source="local"` a folder. `trust_repo` is "check", True (no question) or
    False (always one); `force_reload` downloads again; `verbose` tells the
    logger of earlier downloads; `skip_validation` does not ask GitHub whether
    the commit is of the repository itself, and not of a fork.

    Raises ValueError for other sources, RuntimeError where there is no such
    function or what it depends on is not there.
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(
            f'Unknown source: "{source}". Allowed values: "github" | "local".'
        )
    folder = repo_or_dir
    if source == "github":
        folder = _fetched(
            repo_or_dir, force_reload, trust_repo, verbose, skip_validation
        )
    with _importable(folder):
        return _entry(_hubconf(folder), model)(*args, **kwargs)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo="check",
    verbose: bool = True,
) -> _names[str]:
    """The names of the functions of a repository of GitHub; see `load`."""
    folder = _fetched(github, force_reload, trust_repo, verbose, skip_validation)
    with _importable(folder):
        module = _hubconf(folder)
    return [
        name
        for name in dir(module)
        if callable(getattr(module, name)) and not name.startswith("_")
    ]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo="check",
) -> str | None:
    """The documentation of a function of a repository of GitHub; see `load`."""
    folder = _fetched(github, force_reload, trust_repo, True, skip_validation)
    with _importable(folder):
        return _entry(_hubconf(folder), model).__doc__


# --- the code -----------------------------------------------------------------


@contextlib.contextmanager
def _importable(folder: str):
    """Modules of the folder can be imported inside, and import `torch`."""
    if "torch" not in sys.modules:
        _interpreter.install()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _hubconf(folder: str):
    path = os.path.join(folder, _HUBCONF)
    spec = importlib.util.spec_from_file_location(_HUBCONF, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _entry(module, model: str):
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    missing = [
        name
        for name in getattr(module, "dependencies", None) or ()
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    function = getattr(module, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return function


# --- the download -------------------------------------------------------------


def _fetched(github, force_reload, trust_repo, verbose, skip_validation) -> str:
    """The folder of the repository, downloaded if need be."""
    os.makedirs(get_dir(), exist_ok=True)
    owner, name, ref = _parse_repo_info(github)
    folder = f"{owner}_{name}_{ref.replace('/', '_')}"
    _trust.check(owner, name, folder, trust_repo)
    path = os.path.join(get_dir(), folder)
    if not force_reload and os.path.exists(path):
        if verbose:
            log.info("Using cache found in %s", path)
        return path
    if not skip_validation:
        _check_not_of_a_fork(owner, name, ref)
    _download(owner, name, ref, path)
    return path


def _download(owner: str, name: str, ref: str, path: str) -> None:
    """Downloads the repository, and puts its files in the folder `path`."""
    packed = path + ".zip"
    unpacked = path + ".new"
    try:
        _download_archive(owner, name, ref, packed)
        shutil.rmtree(unpacked, ignore_errors=True)
        with zipfile.ZipFile(packed) as archive:
            extract(archive, unpacked)
            top = archive.infolist()[0].filename.split("/")[0]
        shutil.rmtree(path, ignore_errors=True)
        shutil.move(os.path.join(unpacked, top), path)
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.remove(packed)


def _download_archive(owner: str, name: str, ref: str, packed: str) -> None:
    url = _archive_url(owner, name, ref)
    log.info('Downloading: "%s" to %s', url, packed)
    try:
        download_url_to_file(url, packed, progress=False)
    except HTTPError as error:
        if error.code != 300:  # multiple choices
            raise
        warnings.warn(
            f"The ref {ref} is ambiguous. Perhaps it is both a tag and a "
            "branch in the repo? Torchhub will now assume that it's a branch. "
            "You can disambiguate tags and branches by explicitly passing "
            "refs/heads/branch_name or refs/tags/tag_name as the ref. That "
            "might require using skip_validation=True.",
            stacklevel=5,
        )
        url = _archive_url(owner, name, f"refs/heads/{ref}")
        download_url_to_file(url, packed, progress=False)


def _archive_url(owner: str, name: str, ref: str) -> str:
    return f"https://github.com/{owner}/{name}/zipball/{ref}"


def _parse_repo_info(github: str) -> tuple[str, str, str]:
    """Owner, name and ref; without one main, if there is such a branch, else
    master. RuntimeError where neither GitHub nor a download can be reached.
    """
    repository, _, ref = github.partition(":")
    owner, name = repository.split("/")
    return owner, name, ref or _default_branch(owner, name)


def _default_branch(owner: str, name: str) -> str:
    try:
        with urlopen(f"https://github.com/{owner}/{name}/tree/main/"):
            return "main"
    except HTTPError as error:
        if error.code == 404:
            return "master"
        raise
    except URLError as error:
        for ref in ("main", "master"):
            if os.path.exists(f"{get_dir()}/{owner}_{name}_{ref}"):
                return ref
        raise RuntimeError(
            "It looks like there is no internet connection and the repo could "
            f"not be found in the cache ({get_dir()})"
        ) from error


def _check_not_of_a_fork(owner: str, name: str, ref: str) -> None:
    """Raises ValueError unless the repository has such a branch, tag or head.

    GitHub serves commits of forks under the name of what they forked.
    """
    for kind in ("branches", "tags"):
        address = f"https://api.github.com/repos/{owner}/{name}/{kind}"
        page = 1
        while found := _read(f"{address}?per_page=100&page={page}"):
            for entry in found:
                sha = entry["commit"]["sha"]
                if entry["name"] == ref or sha.startswith(ref):
                    return
            page += 1
    raise ValueError(
        f"Cannot find {ref} in https://github.com/{owner}/{name}. "
        "If it's a commit from a forked repo, please call hub.load() with "
        "forked repo directly."
    )


def _read(url: str):
    """The JSON at an address of GitHub; by $GITHUB_TOKEN if that may."""
    headers = {"Accept": "application/vnd.github.v3+json"}
    token = os.environ.get("GITHUB_TOKEN")
    if token is not None:
        known = {**headers, "Authorization": f"token {token}"}
        with (
            contextlib.suppress(HTTPError),
            urlopen(Request(url, headers=known)) as response,
        ):
            return json.load(response)
    with urlopen(Request(url, headers=headers)) as response:
        return json.load(response)
