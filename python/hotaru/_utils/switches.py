"""Modules of switches that programs set by PyTorch's names for them."""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import types

__all__ = ["Switches", "read_table"]


def read_table(text: str) -> dict:
    """Names and their values, of "name=value other=value" in any lines."""
    pairs = (word.partition("=") for word in text.split())
    return {name: ast.literal_eval(value) for name, _, value in pairs}


class _Group(types.SimpleNamespace):
    """Switches whose names begin with the same word: `config.triton`."""


def _path(module, name: str):
    """The object that has a switch "triton.cudagraphs", and its last name."""
    *above, last = name.split(".")
    return functools.reduce(getattr, above, module), last


class _Patch(contextlib.ContextDecorator):
    """A block, or a function, in which switches have other values."""

    def __init__(self, module, changes: dict) -> None:
        self._module, self._changes = module, changes
        self._before: list[dict] = []

    def __enter__(self) -> None:
        # Whatever is not there fails before anything is changed.
        places = {n: _path(self._module, n) for n in self._changes}
        before = {n: getattr(*place) for n, place in places.items()}
        for name, value in self._changes.items():
            setattr(*places[name], value)
        self._before.append(before)

    def __exit__(self, *failure) -> None:
        for name, value in self._before.pop().items():
            setattr(*_path(self._module, name), value)


class Switches(types.ModuleType):
    """A module's class: its plain values are switches.

    `_ALIASES` of the module are other names of its switches.
    """

    def fill(self, table: dict) -> None:
        """Adds switches of a table that are not there yet; those with points
        in groups.
        """
        for name, value in table.items():
            owner: object = self
            *above, last = name.split(".")
            for word in above:
                if word not in vars(owner):
                    setattr(owner, word, _Group())
                owner = vars(owner)[word]
            vars(owner).setdefault(last, value)

    def __getattribute__(self, name: str):
        find = super().__getattribute__
        if name.startswith("__"):
            return find(name)
        aliases = find("__dict__").get("_ALIASES", {})
        return find(aliases.get(name, name))

    def __setattr__(self, name: str, value) -> None:
        aliases = vars(self).get("_ALIASES", {})
        super().__setattr__(aliases.get(name, name), value)

    def get_config_copy(self) -> dict:
        """Values of all switches by their names, which are copies."""
        found: dict = {}
        own = (bool, int, float, str, list, set, dict, tuple, type(None))
        for name, value in vars(self).items():
            if name.startswith("_"):
                continue
            if isinstance(value, _Group):
                found.update({f"{name}.{n}": v for n, v in vars(value).items()})
            elif isinstance(value, own):
                found[name] = value
        return copy.deepcopy(found)

    shallow_copy_dict = get_config_copy

    def load_config(self, maybe_pickled_config) -> None:
        """Sets switches as `save_config` or `get_config_copy` has them.

        TypeError: it is no dictionary.
        """
        if not isinstance(maybe_pickled_config, dict):
            raise TypeError(
                "load_config: expected the dictionary of save_config(), not "
                f"{type(maybe_pickled_config).__name__}"
            )
        for name, value in maybe_pickled_config.items():
            setattr(*_path(self, name), value)

    def save_config(self) -> dict:
        """Values of all switches, for `load_config`: a dictionary, where
        PyTorch's is a pickle.
        """
        return self.get_config_copy()

    def patch(self, arg1=None, arg2=None, **changes) -> _Patch:
        """Other values inside of a `with` or a decorated function.

        Args:
            arg1: a name, with its value as arg2, or a dictionary of them.
        """
        if isinstance(arg1, str):
            changes = {arg1: arg2}
        elif arg1 is not None:
            changes = {**arg1, **changes}
        return _Patch(self, changes)
