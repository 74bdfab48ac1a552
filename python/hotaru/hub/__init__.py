"""Models of repositories, by name, and weights by their address.

A repository has a file `hubconf.py` whose functions make models. It is code
and runs as such: see `trust_repo`. Folders on this machine are taken as they
are; those of GitHub are downloaded once, into `get_dir()`. Where it imports
`torch` it gets this package, unless another of that name is imported already.

Nothing is printed: what is downloaded, or taken from earlier, is told to the
logger "hotaru.hub"; a program that wants to see it says so to `logging`.
"""

from __future__ import annotations

from ._download import (
    HASH_REGEX,
    download_url_to_file,
    load_state_dict_from_url,
    urlparse,
)
from ._places import _get_torch_home, get_dir, set_dir
from ._repository import help, list, load

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]
