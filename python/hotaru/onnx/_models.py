"""Interface of compiled ONNX models, whatever engine has compiled them."""

from __future__ import annotations

import os
from typing import NamedTuple

from .. import Tensor, dtype


class Port(NamedTuple):
    """An input or output: a size of `shape` is a number, a name that stands
    for one, or None; `shape` itself is None where nothing is said.
    """

    name: str
    dtype: dtype
    shape: tuple | None


class Model:
    """A compiled model: call it with its inputs by position or by name.

    Gives its output, or a tuple of several. Threads may call it at once.
    """

    def __init__(self, run, name: str, engine: str, inputs, outputs) -> None:
        self._run, self._name, self._engine = run, name, engine
        #: Ports of what it takes and gives, in order.
        self.inputs = [Port(*port) for port in inputs]
        self.outputs = [Port(*port) for port in outputs]

    def __call__(self, *args: Tensor, **kwargs: Tensor):
        if kwargs:
            args = self._in_order(args, kwargs)
        return self._run(*args)

    def _in_order(self, args: tuple, kwargs: dict) -> tuple:
        rest = [port.name for port in self.inputs[len(args) :]]
        unknown = sorted(set(kwargs).difference(rest))
        missing = [name for name in rest if name not in kwargs]
        if unknown or missing:
            names = [port.name for port in self.inputs]
            raise TypeError(
                f"{self._name}: inputs are {names}; missing are "
                f"{missing}, unknown or given twice {unknown}"
            )
        return (*args, *(kwargs[name] for name in rest))

    def __repr__(self) -> str:
        ports = (*self.inputs, *self.outputs)
        sides = [f"{p.name}: {p.dtype}{list(p.shape or '?')}" for p in ports]
        n = len(self.inputs)
        return f"{self._engine} Model({', '.join(sides[:n])}) -> {', '.join(sides[n:])}"


def source_of(f) -> tuple[str | bytes, str]:
    """(a path or bytes, the name in errors) of what `load` was given: a path,
    a file opened for reading bytes, or bytes.
    """
    if isinstance(f, (str, os.PathLike)):
        return os.fspath(f), os.fspath(f)
    if isinstance(f, (bytes, bytearray, memoryview)):
        return bytes(f), "<bytes>"
    return f.read(), str(getattr(f, "name", "<bytes>"))
