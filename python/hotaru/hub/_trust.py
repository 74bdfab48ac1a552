"""Whose code may run."""

from __future__ import annotations

import os

from ._places import get_dir

_OWNERS = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")


def check(owner: str, name: str, folder: str, trust_repo) -> None:
    """Asks whether to trust a repository, unless that is known.

    Known are those of some owners, those that were downloaded before (`folder`)
    and those that were trusted before, in the list `trusted_list`. `trust_repo`
    is True (no question), False (always one) or "check". Raises Exception where
    the answer is no, ValueError where it is none.
    """
    listed = os.path.join(get_dir(), "trusted_list")
    with open(listed, "a+") as file:
        file.seek(0)
        known = {line.strip() for line in file}
    repository = f"{owner}_{name}"
    trusted = (
        repository in known
        or owner in _OWNERS
        or os.path.isdir(os.path.join(get_dir(), folder))
    )
    if trust_repo is False or (trust_repo == "check" and not trusted):
        _ask(repository)
    if not trusted:
        with open(listed, "a") as file:
            file.write(repository + "\n")


def _ask(repository: str) -> None:
    answer = input(
        f"The repository {repository} does not belong to the list of trusted "
        "repositories and as such cannot be downloaded. Do you trust this "
        "repository and wish to add it to the trusted list of repositories "
        "(y/N)?"
    )
    if answer.lower() in ("n", "no", ""):
        raise Exception("Untrusted repository.")
    if answer.lower() not in ("y", "yes"):
        raise ValueError(f"Unrecognized response {answer}.")
