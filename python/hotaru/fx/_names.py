"""How functions and types are called in generated code and in print.

Code is written for `import torch`: what this package defines stands there
under PyTorch's public name, and `torch` is this package where the code runs.
"""

from __future__ import annotations

import builtins
import keyword
import re
import types
import typing

import hotaru

from .. import _C
from .._C import Tensor
from .._extension.functions import IN_NN
from .._ops import OpOverload, OpOverloadPacket
from .._own_names import is_own

_METHOD = type(Tensor.dim)
_SLOT = type(Tensor.__add__)


def is_method(function) -> bool:
    """True if it is a method of Tensor, called with a tensor in front."""
    if isinstance(function, _C.Op):
        return bool(function.__reduce__()[1][1])
    if isinstance(function, (_METHOD, _SLOT)):
        return getattr(Tensor, function.__name__, None) is function
    return False


def public_module(name: str) -> str:
    """As "torch.nn.functional" of "hotaru.nn.functional._pooling"."""
    parts = name.split(".")
    if not is_own(name):
        return name
    if parts[1:2] == ["_C"]:  # all of its names are PyTorch's
        return ".".join(["torch", *parts[1:]])
    kept = ["torch"]
    for part in parts[1:]:
        if part.startswith("_") and part != "_symbolic_trace":
            break
        kept.append(part)
    return ".".join(kept)


def qualified_name(function) -> str:
    """The name by which code finds it: "torch.relu", "_operator.add"."""
    if getattr(builtins, getattr(function, "__name__", ""), None) is function:
        return function.__name__
    if is_method(function):
        return f"torch.Tensor.{function.__name__}"
    name = function.__name__
    if isinstance(function, _C.Op) and name in IN_NN:
        return f"torch._C._nn.{name}"
    if isinstance(function, (OpOverload, OpOverloadPacket)):
        return f"torch.ops.{function}"
    if name == "<lambda>":
        # Two of them are two names.
        name = _source_of_lambda(function)
    module = public_module(_module_of(function))
    is_function = isinstance(function, _C.Function)
    if is_function and vars(hotaru.functional).get(name) is function:
        module = "torch.functional"
    if module == "torch" and not isinstance(function, _C.Op):
        name = getattr(function, "__qualname__", name)
    return f"{module}.{name}"


def _source_of_lambda(function) -> str:
    import inspect

    try:
        return inspect.getsource(function).split("=", 1)[0].strip()
    except (OSError, TypeError):
        raise RuntimeError("Unable to represent lambda") from None


def _module_of(function) -> str:
    module = getattr(function, "__module__", None)
    if module is None:
        raise RuntimeError(f"cannot find module for {function}")
    return module


def is_from_torch(obj) -> bool:
    """True if code reaches it through the name `torch`."""
    if is_method(obj):
        return False
    module = getattr(obj, "__module__", None)
    if module is not None:
        root = module.partition(".")[0]
        return (root == "torch" or is_own(module)) and not module.startswith(
            "torch.testing"
        )
    return False


def type_repr(kind) -> str:
    """A type for people: "int", "torch.Tensor", "typing.List[int]"."""
    if isinstance(kind, type) and not typing.get_args(kind):
        if kind.__module__ == "builtins":
            return kind.__qualname__
        return f"{public_module(kind.__module__)}.{kind.__qualname__}"
    if kind is ...:
        return "..."
    if isinstance(kind, types.FunctionType):
        return kind.__name__
    return re.sub(r"\bhotaru\.", "torch.", repr(kind))


def pretty_target(target) -> str:
    """Names what a call node calls, for people: "operator.add"."""
    if isinstance(target, str):
        return target
    if getattr(target, "__module__", None) is None and not is_method(target):
        return getattr(target, "__name__", str(target))
    name = qualified_name(target)
    if "." not in name:
        return f"builtins.{name}"
    return re.sub(r"^_operator\.", "operator.", name)


def is_magic(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def snake_case(name: str) -> str:
    """As "re_lu" of "ReLU"."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


class CustomBuiltin(typing.NamedTuple):
    """A name that all generated code may use, and how it is imported."""

    import_str: str
    obj: object


custom_builtins: dict = {}


def _fill_builtins() -> None:
    from ..utils import _pytree as pytree
    from . import _pytree as fx_pytree

    for name, text, value in (
        ("inf", "from math import inf", float("inf")),
        ("nan", "from math import nan", float("nan")),
        ("NoneType", "NoneType = type(None)", type(None)),
        ("torch", "import torch", hotaru),
        ("device", "from torch import device", hotaru.device),
        ("fx_pytree", "import torch.fx._pytree as fx_pytree", fx_pytree),
        ("pytree", "import torch.utils._pytree as pytree", pytree),
    ):
        custom_builtins[name] = CustomBuiltin(text, value)


_fill_builtins()


class Namespace:
    """Gives names that are unique in a graph and no keyword or builtin."""

    def __init__(self) -> None:
        self._names_of: dict = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj) -> str:
        """A name like `candidate`, kept for `obj` where one is given."""
        if obj is not None and obj in self._names_of:
            return self._names_of[obj]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.match(r"(.*)_(\d+)$", candidate)
        base, number = candidate, 0
        if match is not None:
            base, number = match.group(1), int(match.group(2))
        name = candidate
        if name in self._used:
            number = max(number, self._counts.get(base, 0))
        while name in self._used or self._is_illegal(name, obj):
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        self._counts[base] = max(number, self._counts.get(base, 0))
        if obj is not None:
            self._names_of[obj] = name
        return name

    def associate_name_with_obj(self, name: str, obj) -> None:
        """Keeps a name that is taken already for an object."""
        present = self._names_of.setdefault(obj, name)
        if present != name:
            raise AssertionError("obj is already associated")

    def rename_object(self, obj, name: str) -> None:
        self._names_of[obj] = name
        self._used.add(name)

    def forget(self, name: str) -> None:
        """The name may be given again."""
        self._used.discard(name)

    @staticmethod
    def _is_illegal(name: str, obj) -> bool:
        if name == "None":
            return False
        if keyword.iskeyword(name):
            return True
        if name in vars(builtins):
            return getattr(builtins, name) is not obj
        return name in custom_builtins and custom_builtins[name].obj is not obj
