"""Records what a PyTorch callable calls, as a program of plain data."""

from __future__ import annotations

import dataclasses
import weakref

import torch
from plain import Encoder, NotPlainError, resolve
from torch.overrides import TorchFunctionMode

# Where a function is looked for, in the order in which names are preferred.
_PLACES = (
    ("torch", torch),
    ("torch.nn.functional", torch.nn.functional),
    ("torch.linalg", torch.linalg),
    ("torch.fft", torch.fft),
    ("torch.special", torch.special),
    ("torch.sparse", torch.sparse),
    ("torch.nested", torch.nested),
    ("torch.masked", torch.masked),
    ("torch.signal.windows", torch.signal.windows),
    ("torch.nn.init", torch.nn.init),
    ("torch.Tensor", torch.Tensor),
)


def _names() -> dict[int, str]:
    out: dict[int, str] = {}
    for place, holder in _PLACES:
        for name in sorted(dir(holder), key=lambda n: n.startswith("_")):
            if name.startswith("__") and place != "torch.Tensor":
                continue
            value = getattr(holder, name, None)
            if callable(value):
                out.setdefault(id(value), f"{place}.{name}")
    return out


_NAMES = _names()


def name_of(function) -> str:
    """A public name of a function or method; of properties with `.__get__`."""
    if id(function) in _NAMES:
        return _NAMES[id(function)]
    owner = getattr(function, "__self__", None)
    short = getattr(function, "__name__", "?")
    if short in ("__get__", "__set__") and hasattr(owner, "__name__"):
        return f"torch.Tensor.{owner.__name__}.{short}"
    if isinstance(function, torch._ops.OpOverloadPacket):
        return f"torch.ops.aten.{function.__name__}"
    if isinstance(function, torch._ops.OpOverload):
        return f"torch.ops.aten.{function.overloadpacket.__name__}"
    objclass = getattr(function, "__objclass__", None)
    if objclass is not None and hasattr(torch.Tensor, short):
        return f"torch.Tensor.{short}"
    module = getattr(function, "__module__", None) or "torch"
    return f"{module}.{getattr(function, '__qualname__', short)}"


# Arguments that each module, optimizer and scheduler was made of.
_MADE = weakref.WeakKeyDictionary()


def remember(cls) -> None:
    """Notes from now on what instances of `cls` are made of."""

    def new(kind, *args, **kwargs):
        self = object.__new__(kind)
        _MADE[self] = (kind, args, kwargs)
        return self

    cls.__new__ = staticmethod(new)


remember(torch.nn.Module)


def made_of(value) -> tuple:
    """The class of an object, and the arguments that it was made of."""
    return _MADE[value]


def class_name(cls) -> str:
    """The public name of a class."""
    package = ".".join(cls.__module__.split(".")[:2])
    for place in (package, "torch.optim.lr_scheduler"):
        if getattr(resolve(torch, place), cls.__name__, None) is cls:
            return f"{place}.{cls.__name__}"
    return f"{cls.__module__}.{cls.__name__}"


class TorchEncoder(Encoder):
    """Knows functions by their names, and objects by how they were made."""

    def __init__(self):
        super().__init__(torch)

    def other(self, value):
        if callable(value) and id(value) in _NAMES:
            return {"name": _NAMES[id(value)]}
        if dataclasses.is_dataclass(value):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return self.made(type(value), (), fields)
        try:
            kind, args, kwargs = _MADE[value]
        except (KeyError, TypeError):  # others, and what has no hash
            return super().other(value)
        return self.made(kind, args, kwargs)

    def made(self, kind, args, kwargs):
        parts = [class_name(kind), self(list(args)), self(dict(kwargs))]
        return {"new": parts}


def tensors_in(value, path=()):
    """Tensors of a result with where they stand in it."""
    if isinstance(value, torch.Tensor):
        yield list(path), value
    elif isinstance(value, (tuple, list)):
        for i, v in enumerate(value):
            yield from tensors_in(v, (*path, i))


class Recorder(TorchFunctionMode):
    """Collects `steps`: [name, arguments, named arguments]; what a step makes
    is known by its number.
    """

    def __init__(self):
        super().__init__()
        self.encode = TorchEncoder()
        self.steps: list = []
        self._alive: list = []

    def __enter__(self):
        self._seed = torch.manual_seed

        def manual_seed(seed):
            self.steps.append(["torch.manual_seed", self.encode([seed]), {"dict": []}])
            return self._seed(seed)

        torch.manual_seed = manual_seed
        return super().__enter__()

    def __exit__(self, *error):
        torch.manual_seed = self._seed
        return super().__exit__(*error)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = name_of(function)
        step = [name, self.encode(list(args)), self.encode(dict(kwargs))]
        self.steps.append(step)
        result = function(*args, **kwargs)
        made = list(tensors_in(result))
        if not made and name.endswith((".__get__", ".size", ".dim")):
            self.steps.pop()  # a question whose answer is known from now on
            return result
        self._alive.append((args, kwargs, result))
        known = self.encode
        for path, x in made:
            if id(x) not in known._known:
                known.results.setdefault(id(x), [len(self.steps) - 1, *path])
        return result


def record(function, args, kwargs, finish=None):
    """Records calls of `function`, what it returns, and that as plain data.

    A public function is one call; any other is what it calls. `finish` makes
    of the result what counts. Returns (recorder, result, plain result). Raises
    what the function raises, with the recorder as its `recorder`, and
    NotPlainError.
    """
    recorder = Recorder()
    # Arguments come first, whatever steps use.
    for _, x in tensors_in([list(args), list(kwargs.values())]):
        recorder.encode.tensor(x)
    try:
        if id(function) in _NAMES:
            result = recorder.__torch_function__(function, (), args, kwargs)
        else:
            with recorder:
                result = function(*args, **kwargs)
        if finish:
            with recorder:
                result = finish(result)
    except NotPlainError:
        raise
    except Exception as error:
        error.recorder = recorder
        raise
    return recorder, result, recorder.encode(result)
