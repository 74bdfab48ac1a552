"""The order of products in `einsum`."""

from __future__ import annotations

from ._flags import Flag, Library


class _Never(Flag):
    """A setting for which there is no package to follow it."""

    def put(self, library, value) -> None:
        if value:
            raise ValueError(
                f"opt_einsum is not available, so setting `{self.name}` to "
                f"{value} will not be meaningful: hotaru's einsum contracts "
                "from left to right"
            )
        super().put(library, value)


class OptEinsum(Library):
    """The package opt_einsum, which finds an order of products for PyTorch's
    `einsum`. It is not used: products are taken from left to right.
    """

    enabled = _Never(False)
    strategy = _Never(None)
    _settable = ("enabled", "strategy")

    def get_opt_einsum(self):
        """The package: None."""
        return None

    def flags(self, enabled=None, strategy=None):
        """A block in which the flags are these; None leaves one as it is."""
        return self._set_for_a_while(enabled=enabled, strategy=strategy)
