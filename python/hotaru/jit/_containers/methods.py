"""Methods of compiled containers, which their programs need not have."""

from __future__ import annotations


class OfList:
    """Methods of a compiled ModuleList, Sequential or ParameterList."""

    @staticmethod
    def _members(module) -> list:
        children = list(module.children())
        return children or [p for _, p in module._c.named_parameters(False)]

    def __len__(self) -> int:
        return len(OfList._members(self))

    def __iter__(self):
        return iter(OfList._members(self))

    def __getitem__(self, index):
        return OfList._members(self)[index]


class OfDict:
    """Methods of a compiled ModuleDict or ParameterDict."""

    @staticmethod
    def _members(module) -> dict:
        children = dict(module.named_children())
        return children or dict(module._c.named_parameters(False))

    def __len__(self) -> int:
        return len(OfDict._members(self))

    def __iter__(self):
        return iter(OfDict._members(self))

    def __contains__(self, key: str) -> bool:
        return key in OfDict._members(self)

    def __getitem__(self, key: str):
        return OfDict._members(self)[key]

    def keys(self) -> list:
        """The members' names."""
        return list(OfDict._members(self))

    def items(self) -> list:
        """Pairs of name and member."""
        return list(OfDict._members(self).items())

    def values(self) -> list:
        """The modules or parameters."""
        return list(OfDict._members(self).values())


METHODS = {"list": OfList, "dict": OfDict}
