"""Programs of PyTorch calls as plain data, which both sides read.

A value is JSON: numbers, strings, booleans and None stand for themselves,
everything else is a dictionary with one key that says what it is. Tensors lie
in a list beside it, which `torch.save` writes and hotaru reads, so that strides
and shared memory stay as they were.
"""

from __future__ import annotations

import math

_NAMED = {"dtype": "dtype", "layout": "layout", "memory_format": "format"}


class NotPlainError(Exception):
    """A value that a program cannot carry; the text says which kind."""


# Dtypes of hotaru's tensors; everything else is named as what is needed.
_DTYPES = {
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
}
_MOST_DIMS = 64


def check_plain(torch, x) -> None:
    """Raises NotPlainError for a tensor that a file for hotaru cannot hold."""
    if x.layout != torch.strided or x.is_quantized or x.is_nested:
        raise NotPlainError(str(x.layout).removeprefix("torch."))
    name = str(x.dtype).removeprefix("torch.")
    if name not in _DTYPES:
        raise NotPlainError(name)
    if x.device.type != "cpu":
        raise NotPlainError(f"device {x.device.type}")
    if x.dim() > _MOST_DIMS:
        raise NotPlainError(f"{x.dim()} dimensions")


class Encoder:
    """Turns values into plain data; `tensors` collects the tensors.

    `results` maps the id of a tensor that an earlier step made to where it
    stands: [step, position, ...].
    """

    def __init__(self, torch):
        self.torch = torch
        self.tensors: list = []
        self.results: dict[int, list[int]] = {}
        self._known: dict[int, int] = {}

    def tensor(self, x) -> dict:
        if id(x) in self.results:
            return {"r": self.results[id(x)]}
        if id(x) not in self._known:
            check_plain(self.torch, x)
            self._known[id(x)] = len(self.tensors)
            self.tensors.append(x)
        return {"t": self._known[id(x)]}

    def __call__(self, value):
        torch = self.torch
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else {"f": repr(value)}
        if isinstance(value, complex):
            return {"c": [self(value.real), self(value.imag)]}
        if isinstance(value, torch.Size):
            return {"size": list(value)}
        if isinstance(value, tuple):
            return {"tuple": [self(v) for v in value]}
        if isinstance(value, list):
            return {"list": [self(v) for v in value]}
        if isinstance(value, dict):
            return {"dict": [[self(k), self(v)] for k, v in value.items()]}
        if isinstance(value, slice):
            parts = (value.start, value.stop, value.step)
            return {"slice": [self(v) for v in parts]}
        if value is ...:
            return {"ellipsis": 0}
        kind = type(value).__name__
        if kind in _NAMED:
            return {_NAMED[kind]: str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if kind == "ndarray":
            return {"array": self.tensor(torch.from_numpy(value.copy()))}
        if type(value).__module__ == "numpy":
            return self(value.item())
        return self.other(value)

    def other(self, value):
        """Hook for what is left, for those who know more."""
        kind = type(value)
        raise NotPlainError(f"{kind.__module__}.{kind.__name__}")


def resolve(torch, name: str):
    """A function or class by its public name; AttributeError without it."""
    value = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


class Decoder:
    """The reverse, over whatever module `torch` is; `results` are the values
    that the steps made so far.
    """

    def __init__(self, torch, tensors):
        self.torch = torch
        self.tensors = tensors
        self.results: list = []

    def __call__(self, value):
        if not isinstance(value, dict):
            return value
        ((kind, data),) = value.items()
        return getattr(self, "_" + kind)(data)

    def _t(self, index):
        return self.tensors[index]

    def _r(self, path):
        value = self.results[path[0]]
        for position in path[1:]:
            value = value[position]
        return value

    def _f(self, text):
        return float(text)

    def _c(self, parts):
        return complex(self(parts[0]), self(parts[1]))

    def _size(self, values):
        return self.torch.Size(values)

    def _tuple(self, values):
        return tuple(self(v) for v in values)

    def _list(self, values):
        return [self(v) for v in values]

    def _dict(self, items):
        return {self(k): self(v) for k, v in items}

    def _slice(self, parts):
        return slice(*(self(v) for v in parts))

    def _ellipsis(self, _):
        return ...

    def _dtype(self, name):
        return getattr(self.torch, name)

    _layout = _format = _dtype

    def _device(self, text):
        return self.torch.device(text)

    def _array(self, value):
        return self(value).numpy()

    def _name(self, text):
        return resolve(self.torch, text)

    def _new(self, parts):
        name, args, kwargs = parts
        return resolve(self.torch, name)(*self(args), **self(kwargs))


def decoder(torch, case: dict, tensors: list) -> Decoder:
    """Reads a case beside the tensors of its file, whose copies need grad where
    PyTorch's did.
    """
    first, count = case["first"], case["count"]
    inputs = [x.clone() for x in tensors[first : first + count]]
    for x, needs in zip(inputs, case["needs"]):
        x.requires_grad_(needs)
    return Decoder(torch, inputs)
