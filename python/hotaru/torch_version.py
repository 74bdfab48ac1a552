"""A version that is text and compares as a version."""

from __future__ import annotations

from .version import __version__ as _version

__all__ = ["TorchVersion"]

# The parts of a version (PEP 440), in its normal form and the spellings that
# it allows for it.
_VERSION = (
    r"\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<kind>alpha|beta|preview|pre|a|b|c|rc)[-_.]?(?P<n>\d*))?"
    r"(?:-(?P<implied>\d+)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<p>\d*))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<d>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*"
)
_KINDS = {"a": 0, "alpha": 0, "b": 1, "beta": 1}  # others are candidates
_LAST = 3


def _key(text: str) -> tuple | None:
    """Key that orders versions; None if the text is no version."""
    import re  # not before somebody compares: starting up is short

    found = re.fullmatch(_VERSION, text, re.IGNORECASE)
    if found is None:
        return None
    part = found.groupdict()
    release = [int(n) for n in part["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    post, dev = part["post"] or part["implied"], part["dev"]
    if part["kind"]:
        kind = (_KINDS.get(part["kind"].lower(), 2), int(part["n"] or 0))
    else:  # a build before any pre-release, or the release itself
        kind = (-1, 0) if dev and not post else (_LAST, 0)
    behind = int(part["implied"] or part["p"] or 0) if post else -1
    before = int(part["d"] or 0) if dev else float("inf")
    local = re.split(r"[-_.]", part["local"].lower()) if part["local"] else []
    # Numbers are behind words, and longer ones behind their beginnings.
    places = tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in local)
    return int(part["epoch"] or 0), tuple(release), kind, behind, before, places


def _text(other) -> str:
    """Text of a version's other side: text, parts, or another's version."""
    if isinstance(other, str):
        return other
    if isinstance(other, (tuple, list)):
        return ".".join(str(part) for part in other)
    return str(other)


class TorchVersion(str):
    """Text of a version, which is ordered as a version.

    >>> TorchVersion("1.10.0a") > (1, 2), TorchVersion("1.10.0a") > "1.2.1"
    (True, True)

    Beside text that is no version it is ordered as text.
    """

    def _compared(self, other, method: str):
        text = _text(other)
        mine, theirs = _key(str(self)), _key(text)
        if mine is None or theirs is None:
            return getattr(str, method)(self, text)
        return getattr(tuple, method)(mine, theirs)

    def __eq__(self, other):
        return self._compared(other, "__eq__")

    def __ne__(self, other):
        return not self._compared(other, "__eq__")

    def __lt__(self, other):
        return self._compared(other, "__lt__")

    def __le__(self, other):
        return self._compared(other, "__le__")

    def __gt__(self, other):
        return self._compared(other, "__gt__")

    def __ge__(self, other):
        return self._compared(other, "__ge__")

    __hash__ = str.__hash__


# The package's.
__version__ = TorchVersion(_version)
