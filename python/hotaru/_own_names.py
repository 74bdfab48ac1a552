"""What the modules of this package are called.

A program that imports the package by another name (`_interpreter`) sees
modules, classes and functions by that name: `torch.nn.modules.linear`. What
asks whether something is of this package asks here.
"""

from __future__ import annotations

_HOME = __package__
# By what a program may know the package; the last one is told to others.
_roots = [_HOME]


def is_own(name: str | None, below: str = "") -> bool:
    """Whether a module's name is one of this package.

    Args:
        name: as `__name__` and `__module__` give it; None is nobody's.
        below: "nn" for those of `nn` and its parts alone.
    """
    root, _, rest = (name or "").partition(".")
    if root not in _roots:
        return False
    return not below or rest == below or rest.startswith(below + ".")


def own_root() -> str:
    """The name that programs see now."""
    return _roots[-1]


def add_root(root: str) -> None:
    """From now on the package is called `root`, too, and says so."""
    if root in _roots:
        _roots.remove(root)
    _roots.append(root)
