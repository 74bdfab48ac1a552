"""A bar of what has come, for programs that take `tqdm` from PyTorch."""

from __future__ import annotations

import sys


class _Bar:
    """The part of tqdm's bar that is used here, where it isn't installed."""

    def __init__(
        self,
        iterable=None,
        total=None,
        disable: bool = False,
        unit=None,
        unit_scale=None,
        unit_divisor=None,
        **options,
    ) -> None:
        self.iterable = iterable
        self.total = total
        self.disable = disable
        self.n = 0

    def __iter__(self):
        for item in self.iterable:
            yield item
            self.update(1)
        self.close()

    def update(self, n) -> None:
        """Tells that `n` more have come."""
        self.n += n
        if self.disable:
            return
        done = f"{100 * self.n / self.total:.1f}%" if self.total else self.n
        sys.stderr.write(f"\r{done}")
        sys.stderr.flush()

    def set_description(self, *args, **kwargs) -> None:
        """The bar has no text."""

    def close(self) -> None:
        """Ends the line."""
        if not self.disable:
            self.disable = True
            sys.stderr.write("\n")

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        self.close()


try:
    from tqdm import tqdm
except ImportError:
    tqdm = _Bar
