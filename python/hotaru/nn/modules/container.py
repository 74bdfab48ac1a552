"""Modules that hold modules."""

from __future__ import annotations

import operator
from collections import OrderedDict
from typing import Any, overload

from ..._utils import typename
from .module import Module, _global_module_registration_hooks, indent_rest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import (
        ItemsView,
        Iterable,
        Iterator,
        KeysView,
        Mapping,
        ValuesView,
    )

    from typing_extensions import Self

    from .former import Container as Container
    from .parameters import ParameterDict as ParameterDict
    from .parameters import ParameterList as ParameterList


def place_of(index: int, count: int) -> int:
    """The place from 0 on, of `count`; IndexError if out of range."""
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range")
    return index % count


class _Numbered(Module):
    """Children named "0", "1", … and indexed like a list."""

    def _key(self, index: int) -> str:
        """The name at `index`; IndexError if out of range."""
        return str(place_of(index, len(self)))

    def _replace_all(self, modules) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: int | slice) -> None:
        modules = list(self._modules.values())
        if not isinstance(index, slice):
            index = int(self._key(index))
        del modules[index]
        self._replace_all(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list:
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Numbered):
    """Calls its modules one after the other, each on the result of the last.

    Takes modules, or one dict of names and modules.
    """

    @overload
    def __init__(self, *args: Module) -> None: ...
    @overload
    def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...
    def __init__(self, *args) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict) and _is_ordered(args[0]):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def _key(self, index: int) -> str:
        return list(self._modules)[place_of(index, len(self._modules))]

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Module | Sequential:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __delitem__(self, index: int | slice) -> None:
        if isinstance(index, slice):
            names = list(self._modules)[index]
        else:
            names = [self._key(index)]
        for name in names:
            delattr(self, name)
        self._replace_all(self._modules.values())

    def __add__(self, other: Sequential) -> Sequential:
        _need_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Sequential:
        _need_sequential(other)
        return self.extend(list(other))

    def __mul__(self, times: int) -> Sequential:
        self._check_times(times)
        return Sequential(*(list(self) * times))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Sequential:
        self._check_times(times)
        return self.extend(list(self) * (times - 1))

    def _check_times(self, times: int) -> None:
        if not isinstance(times, int):
            raise TypeError(
                f"unsupported operand type(s) for *: {type(self)} and {type(times)}"
            )
        if times <= 0:
            raise ValueError(
                f"Non-positive multiplication factor {times} for {type(self)}"
            )

    def append(self, module: Module) -> Self:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Adds modules at the end."""
        for module in sequential:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Adds a module before `index`; the following ones are renamed."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        count = len(self)
        if not -count <= index <= count:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index if index >= 0 else index + count, module)
        self._replace_all(modules)
        return self

    def pop(self, key: int | slice) -> Module:
        """Removes and returns the module at `key`."""
        module = self[key]
        del self[key]
        return module


def _is_ordered(mapping: dict) -> bool:
    # A plain dict is no Module subclass and is refused as such.
    return isinstance(mapping, OrderedDict)


def _need_sequential(value) -> None:
    if not isinstance(value, Sequential):
        raise ValueError(
            "add operator supports only objects of Sequential class, but "
            f"{type(value)} is given."
        )


class ModuleList(_Numbered):
    """A list of modules, all registered."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> ModuleList: ...
    def __getitem__(self, index: int | slice) -> Module | ModuleList:
        if isinstance(index, slice):
            return self._part(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def _part(self, modules: list) -> ModuleList:
        """A list of some of the modules."""
        if type(self) is not ModuleList or _global_module_registration_hooks:
            return type(self)(modules)
        # Models slice their layers in each call: these are checked already.
        part = ModuleList()
        part._modules.update(zip(map(str, range(len(modules))), modules))
        return part

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def append(self, module: Module) -> Self:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end; TypeError if not iterable."""
        _need_iterable(modules, "ModuleList.extend")
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Adds a module before `index`; the following ones are renamed."""
        modules = list(self)
        modules.insert(index, module)
        self._replace_all(modules)

    def pop(self, key: int | slice) -> Module:
        """Removes and returns the module at `key`."""
        module = self[key]
        del self[key]
        return module

    def __repr__(self) -> str:
        """Equal neighbours share a line, as in `(0-2): 3 x ReLU()`."""
        runs = []
        for i, text in enumerate(repr(module) for module in self):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return f"{self._get_name()}()"
        lines = []
        for first, last, text in runs:
            if first == last:
                line = f"({first}): {text}"
            else:
                line = f"({first}-{last}): {last - first + 1} x {text}"
            lines.append(indent_rest(line, 2))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dict of modules by name, all registered, in order of insertion."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Removes all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Removes and returns a module."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """Pairs of name and module."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module]) -> None:
        """Adds modules from a mapping or from pairs."""
        for key, module in pairs_of(modules, "ModuleDict", "ModuleDict"):
            self[key] = module


def pairs_of(source, what: str, called: str) -> list:
    """Pairs of key and value of a mapping or an iterable of pairs.

    TypeError or ValueError, in terms of `what`, if it is neither.
    """
    if not hasattr(source, "__iter__"):
        raise TypeError(
            f"{called}.update should be called with an iterable of key/value "
            f"pairs, but got {type(source).__name__}"
        )
    if hasattr(source, "items"):
        return list(source.items())
    pairs = []
    for i, pair in enumerate(source):
        if not hasattr(pair, "__iter__"):
            raise TypeError(
                f"{what} update sequence element #{i} should be Iterable; is"
                f"{type(pair).__name__}"
            )
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(
                f"{what} update sequence element #{i} has length {len(pair)}; "
                "2 is required"
            )
        pairs.append(pair)
    return pairs


def _need_iterable(values, who: str) -> None:
    if not hasattr(values, "__iter__"):
        raise TypeError(
            f"{who} should be called with an iterable, but got {typename(values)}"
        )
