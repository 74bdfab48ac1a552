"""Random number generators of Python's and numpy's."""

from __future__ import annotations

import sys

# Modules with generators, which a program need not have imported.
_HOMES = ("random", "numpy.random")


class Generators:
    """Generators that a function can draw from, as they are now.

    Args:
        reach: what the function can read, generators of its own among it.
    """

    def __init__(self, reach) -> None:
        self._absent = [name for name in _HOMES if name not in sys.modules]
        python, numpy = map(sys.modules.get, _HOMES)
        kinds, found = {}, []
        if python is not None:
            found.append(_OfPython(python))
            kinds[python.Random] = _OfPython
        if numpy is not None:
            found.append(_OfNumpy(numpy))
            kinds[numpy.RandomState] = _OfNumpy
            kinds[numpy.Generator] = _OfBits
        for _, value in reach.seen.values():
            for kind, wrapper in kinds.items():
                if isinstance(value, kind):
                    found.append(wrapper(value))
        self._found = [(one, one.state()) for one in found]

    def came(self) -> bool:
        """True if there are some by now that there were not."""
        return any(name in sys.modules for name in self._absent)

    def changed(self) -> bool:
        """True if somebody drew from one since."""
        return any(not _equal(one.state(), old) for one, old in self._found)

    def restore(self) -> None:
        for one, old in self._found:
            if not _equal(one.state(), old):
                one.put(old)


class _OfPython:
    def __init__(self, generator) -> None:
        self._generator = generator

    def state(self):
        try:
            return self._generator.getstate()
        except NotImplementedError:  # of the system's
            return None

    def put(self, state) -> None:
        self._generator.setstate(state)


class _OfNumpy(_OfPython):
    def state(self):
        return self._generator.get_state()

    def put(self, state) -> None:
        self._generator.set_state(state)


class _OfBits(_OfPython):
    def state(self):
        return self._generator.bit_generator.state

    def put(self, state) -> None:
        self._generator.bit_generator.state = state


def _equal(a, b) -> bool:
    """Also where arrays are among what is compared."""
    if isinstance(a, dict):
        return all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return all(map(_equal, a, b))
    return bool(a == b) if not hasattr(a, "shape") else bool((a == b).all())
