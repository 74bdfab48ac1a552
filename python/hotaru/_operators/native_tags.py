"""Tags of hotaru's own operators."""

from __future__ import annotations

import functools

from ._native_tag_names import NAMES
from .tags import Tag, listed


@functools.cache
def _sets() -> dict[Tag, frozenset[str]]:
    return {Tag[t]: frozenset(names.split()) for t, names in NAMES.items()}


def of(qualname: str) -> list[Tag]:
    """The tags of "aten::name.overload".

    Those that PyTorch's own operators all have, `pt2_compliant_tag`, and
    `inplace` for those that write to their first argument, follow from names.
    """
    name = qualname.partition("::")[2]
    found = {Tag.pt2_compliant_tag}
    found |= {tag for tag, names in _sets().items() if name in names}
    if name.partition(".")[0].endswith("_") and not name.startswith("__"):
        found.add(Tag.inplace)
    return listed(found)
