"""Lists and dicts of parameters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from ... import Tensor
from ..._utils import typename
from ..parameter import Parameter
from .container import _need_iterable, pairs_of, place_of
from .module import Module


def _as_parameter(value):
    """Tensors become parameters; anything else stays as it is."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _line(key, value, type_text: str) -> str:
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    size = "x".join(str(n) for n in value.size())
    device = "" if not value.is_cuda else f" (GPU {value.get_device()})"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {kind} containing: [{type_text} of size {size}{device}]"


class ParameterList(Module):
    """A list of parameters (and other values), registered as "0", "1", …."""

    def __init__(self, values=None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _key(self, index: int) -> str:
        return str(place_of(index, self._size))

    def __getitem__(self, index: int | slice):
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(self._size)[index]])
        return getattr(self, self._key(index))

    def __setitem__(self, index: int, value) -> None:
        setattr(self, self._key(index), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self):
        return iter([self[i] for i in range(self._size)])

    def __iadd__(self, values) -> ParameterList:
        return self.extend(values)

    def __dir__(self) -> list:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value) -> ParameterList:
        """Adds a value at the end; a tensor becomes a parameter."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values) -> ParameterList:
        """Adds values at the end; TypeError if not iterable."""
        if isinstance(values, Tensor):  # whose rows are no parameters
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but "
                f"got {type(values).__name__}"
            )
        _need_iterable(values, "ParameterList.extend")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        lines = [
            _line(i, v, str(v.dtype) if isinstance(v, Tensor) else "")
            for i, v in enumerate(self)
        ]
        return "\n".join(lines)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters (and other values) by name."""

    def __init__(self, parameters=None) -> None:
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str):
        return getattr(self, self._attribute(key))

    @staticmethod
    def _attribute(key) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is "
                f"not a string (type is '{type(key).__name__}'). "
                "Open an issue on github if you need non-string keys."
            )
        return key

    def __setitem__(self, key: str, value) -> None:
        # In this order: a key that is refused must not be remembered.
        setattr(self, self._attribute(key), _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __or__(self, other) -> ParameterDict:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other) -> ParameterDict:
        result = ParameterDict(other)
        result.update(self)
        return result

    def __ior__(self, other) -> ParameterDict:
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """A new dict with the same values."""
        return ParameterDict({key: self[key] for key in self._keys})

    def setdefault(self, key: str, default=None):
        """The value at `key`, set to `default` first if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def get(self, key: str, default=None):
        """The value at `key`, or `default`."""
        return self[key] if key in self._keys else default

    def clear(self) -> None:
        """Removes everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str):
        """Removes and returns the value at `key`."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple:
        """Removes and returns the last pair."""
        key, _ = self._keys.popitem()
        # `pop` needs the key to be there.
        self._keys[key] = None
        return key, self.pop(key)

    def fromkeys(self, keys, default=None) -> ParameterDict:
        """A new dict with `default` at every key."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """Pairs of name and value."""
        return [(key, self[key]) for key in self._keys]

    def values(self):
        """The values."""
        return [self[key] for key in self._keys]

    def update(self, parameters) -> None:
        """Adds values from a mapping or from pairs, of a mapping that promises
        no order by their keys.
        """
        pairs = pairs_of(parameters, "ParameterDict", "ParametersDict")
        ordered = (OrderedDict, ParameterDict)
        if isinstance(parameters, Mapping) and not isinstance(parameters, ordered):
            pairs.sort(key=lambda pair: pair[0])
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_line(key, v, typename(v)) for key, v in self.items())

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterDict should not be called.")
