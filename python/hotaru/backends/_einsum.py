"""The order of products in `einsum`."""

from __future__ import annotations

import functools
import importlib

from .. import _C
from ._flags import Flag, Library

_STRATEGIES = ("auto", "greedy", "optimal")


@functools.cache
def _package():
    """The package, imported when it is first asked for; None without it."""
    try:
        return importlib.import_module("opt_einsum")
    except ImportError:
        return None


class _Order(Flag):
    """A setting whose default depends on the package. An assignment keeps any
    value, as PyTorch's does; `set_flags` and `flags` check it.
    """

    def __get__(self, library, owner=None):
        if library is None:
            return self
        value = library._values[self.name]
        if value is None and _package() is not None:
            return {"enabled": True, "strategy": "auto"}[self.name]
        return False if value is None and self.name == "enabled" else value

    def __set__(self, library, value) -> None:
        library._values[self.name] = value
        _C._count_setting_change()

    def put(self, library, value) -> None:
        if value:
            self._refuse(library, value)
        self.__set__(library, value)

    def _refuse(self, library, value) -> None:
        if _package() is None:
            raise ValueError(
                f"opt_einsum is not available, so setting `{self.name}` to "
                f"{value} will not be meaningful: einsum contracts from left "
                "to right"
            )
        if self.name == "enabled":
            return
        if not library.enabled:
            raise ValueError(
                "opt_einsum is not enabled, so setting a `strategy` to "
                f"{value} will not be meaningful: einsum contracts from left "
                "to right"
            )
        if value not in _STRATEGIES:
            raise ValueError(
                "`strategy` must be one of the following: "
                f"[{', '.join(_STRATEGIES)}] but is {value}"
            )


class OptEinsum(Library):
    """The package opt_einsum, where it is installed, finds an order of
    products for `einsum`; without it they are taken from left to right.
    """

    enabled = _Order(None)
    strategy = _Order(None)
    _settable = ("enabled", "strategy")

    def is_available(self) -> bool:
        """Tells whether the package is installed."""
        return _package() is not None

    def get_opt_einsum(self):
        """The package; None where it is not installed."""
        return _package()

    def flags(self, enabled=None, strategy=None):
        """A block in which the flags are these; None leaves one as it is."""
        return self._set_for_a_while(enabled=enabled, strategy=strategy)

    def set_flags(self, _enabled=None, _strategy=None) -> tuple:
        """Sets those that are not None; returns both as they were."""
        before = (self.enabled, self.strategy)
        super().set_flags(_enabled, _strategy)
        return before

    def products(self, equation: str, operands) -> list | None:
        """(places, equation) of each product, in the order that the package
        finds: operands at the places are taken away, their product is put
        behind the rest. None where no package is to be asked.
        """
        if len(operands) < 3 or not self.enabled or _package() is None:
            return None
        _, found = _package().contract_path(equation, *operands, optimize=self.strategy)
        return [step[:3:2] for step in found.contraction_list]
