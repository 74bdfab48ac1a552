"""Copies of subclasses' tensors: what is left of class, attributes and values.

Cases of outcomes.py: kinds of classes, and ways in which their tensors travel.
"""

from __future__ import annotations

import copy
import functools
import importlib
import io
import pickle
import sys
from itertools import product

HERE = sys.modules[__name__]


def _published(cls, name: str):
    """The class under a name of this module, so that pickles find it."""
    cls.__name__ = cls.__qualname__ = name
    cls.__module__ = __name__
    setattr(HERE, name, cls)
    return cls


@functools.cache
def classes(lib) -> dict:
    """Kinds of classes of a library's tensors."""
    Tensor = lib.Tensor

    class Plain(Tensor):
        pass

    class Function(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    def unwrapped(x):
        return x.held if hasattr(x, "held") else x

    class Wrapper(Tensor):
        """Keeps a tensor, and answers with those."""

        @staticmethod
        def __new__(cls, held, tag=None):
            made = Tensor._make_wrapper_subclass(
                cls,
                held.size(),
                strides=held.stride(),
                dtype=held.dtype,
                requires_grad=held.requires_grad,
            )
            made.held, made.tag = held.detach(), tag
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            tag = next((a.tag for a in args if hasattr(a, "tag")), None)
            found = func(*map(unwrapped, args), **(kwargs or {}))
            return cls(found, tag) if isinstance(found, Tensor) else found

    class Flat(Wrapper):
        def __tensor_flatten__(self):
            return ["held"], (self.tag,)

        @staticmethod
        def __tensor_unflatten__(inner, context, size, stride):
            return classes(lib)["flat"](inner["held"], context[0])

    class Reducing(Wrapper):
        def __reduce_ex__(self, protocol):
            return type(self), (self.held, self.tag)

    class Deep(Wrapper):
        def __deepcopy__(self, memo):
            return type(self)(copy.deepcopy(self.held, memo), "deep")

    class Dispatching(Tensor):
        """Has memory, and is asked for operators."""

        @staticmethod
        def __new__(cls, held, tag=None):
            made = Tensor._make_subclass(cls, held.detach(), held.requires_grad)
            made.held, made.tag = held.detach(), tag
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            found = func(*map(unwrapped, args), **(kwargs or {}))
            return cls(found) if isinstance(found, Tensor) else found

    Dispatching.__torch_function__ = lib._C._disabled_torch_function_impl
    kinds = {
        "plain": Plain,
        "function": Function,
        "wrapper": Wrapper,
        "flat": Flat,
        "reducing": Reducing,
        "deep": Deep,
        "dispatching": Dispatching,
    }
    return {
        name: _published(cls, f"{name}_{lib.__name__}") for name, cls in kinds.items()
    }


def made(lib, kind: str, requires_grad: bool = False):
    """A tensor of the kind, with an attribute."""
    values = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=requires_grad)
    cls = classes(lib)[kind]
    if kind in ("plain", "function"):
        x = values.detach().as_subclass(cls)
        x.tag = "tag"
        return x.requires_grad_(requires_grad)
    return cls(values, "tag")


def described(lib, x) -> list:
    """List of what is left: the class, the attribute, sizes and values."""
    name = type(x).__name__.rpartition("_")[0] or type(x).__name__
    held = getattr(x, "held", None)
    if held is None and not name.startswith(("wrapper", "flat")):
        held = x.detach().as_subclass(lib.Tensor) if isinstance(x, lib.Tensor) else x
    values = None if held is None else held.tolist()
    return [
        name,
        getattr(x, "tag", "no tag"),
        list(x.shape),
        str(x.dtype).rpartition(".")[2],
        bool(x.requires_grad),
        values,
    ]


def _pickled(lib, x):
    return pickle.loads(pickle.dumps(x))


def _saved(lib, x, **options):
    file = io.BytesIO()
    lib.save(x, file)
    file.seek(0)
    return lib.load(file, **options)


def _refused(lib, x):
    """Classes that nobody allowed; texts of errors name the class."""
    try:
        return _saved(lib, x, weights_only=True)
    except pickle.UnpicklingError:
        return x


def _parameter(lib, x):
    return lib.nn.Parameter(x, x.requires_grad)


def _module(lib, x):
    module = lib.nn.Module()
    module.register_buffer("x", x)
    return module


class Rows:
    """A data set of numbers, which `Collate` makes tensors of."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        return index


class Collate:
    """Makes a tensor of a kind, in a worker."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind

    def __call__(self, rows):
        return made(importlib.import_module(self.name), self.kind)


def _worked(lib, x):
    kind = type(x).__name__.rpartition("_")[0]
    data = importlib.import_module(f"{lib.__name__}.utils.data")
    loader = data.DataLoader(
        Rows(),
        batch_size=1,
        num_workers=1,
        collate_fn=Collate(lib.__name__, kind),
        multiprocessing_context="fork",
    )
    return list(loader)[1]


WAYS = {
    "copy": lambda lib, x: copy.copy(x),
    "deepcopy": lambda lib, x: copy.deepcopy(x),
    "deepcopy of a list": lambda lib, x: copy.deepcopy([x, x])[1],
    "pickle": _pickled,
    "save": lambda lib, x: _saved(lib, x, weights_only=False),
    "save in a dict": lambda lib, x: _saved(lib, {"x": x}, weights_only=False)["x"],
    "save, weights only": _refused,
    "clone": lambda lib, x: x.clone(),
    "detach": lambda lib, x: x.detach(),
    "parameter": _parameter,
    "deepcopy of a parameter": lambda lib, x: copy.deepcopy(_parameter(lib, x)),
    "pickle of a parameter": lambda lib, x: _pickled(lib, _parameter(lib, x)),
    "deepcopy of a module": lambda lib, x: copy.deepcopy(_module(lib, x)).x,
    "module.to": lambda lib, x: _module(lib, x).to(lib.float32).x,
    "module.double": lambda lib, x: _module(lib, x).double().x,
    "state_dict": lambda lib, x: _saved(
        lib, _module(lib, x).state_dict(), weights_only=False
    )["x"],
}
KINDS = ("plain", "function", "wrapper", "flat", "reducing", "deep", "dispatching")


def _case(kind: str, way, requires_grad: bool):
    def case(lib):
        return described(lib, way(lib, made(lib, kind, requires_grad)))

    return case


CASES = {
    f"{kind}, {name}{', grad' if grad else ''}": _case(kind, way, grad)
    for kind, (name, way), grad in product(KINDS, WAYS.items(), (False, True))
}
CASES.update({f"{kind}, worker": _case(kind, _worked, False) for kind in KINDS})
