"""Registry of what is known of operators beside their kernels."""

from __future__ import annotations

from .fake_impl import FakeImplHolder


class SimpleOperatorEntry:
    """Entry of one operator, defined or not."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self.fake_impl = FakeImplHolder(qualname)


class SimpleLibraryRegistry:
    """Entries by the operators' names, made when first asked for."""

    def __init__(self) -> None:
        self._data: dict[str, SimpleOperatorEntry] = {}

    def find(self, qualname: str) -> SimpleOperatorEntry:
        """The entry of "ns::name.overload"."""
        return self._data.setdefault(qualname, SimpleOperatorEntry(qualname))


singleton = SimpleLibraryRegistry()
