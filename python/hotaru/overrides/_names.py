"""Which functions the protocol sees, and what they are called."""

from __future__ import annotations

import functools
import inspect
import keyword

import hotaru

from .. import _C
from .._C import Tensor


def _places():
    """Where functions are public, with the names of the places."""
    for name in hotaru._offered():  # also those that nobody has asked for yet
        getattr(hotaru, name)
    return (
        ("torch", hotaru),
        ("torch.functional", hotaru.functional),
        ("torch.nn.functional", hotaru.nn.functional),
        ("torch.nn.init", hotaru.nn.init),
        ("torch.Tensor", Tensor),
        ("torch.linalg", hotaru.linalg),
        ("torch.fft", hotaru.fft),
        ("torch.special", hotaru.special),
    )


_CALLABLES = (_C.Op, _C.Function)
_SLOT = type(Tensor.__add__)
_METHOD = type(Tensor.dim)
_GETTER = type(Tensor.shape)


def _functions_of(place) -> list:
    """The names and functions of a place that the protocol sees."""
    found = []
    for name, value in sorted(_offers(place).items()):
        if place is Tensor:
            if isinstance(value, (property, _GETTER)):
                if name != "__dict__":
                    found.append((f"{name}.__get__", value.__get__))
                    found.append((f"{name}.__set__", value.__set__))
            elif isinstance(value, (*_CALLABLES, _SLOT, _METHOD)):
                found.append((name, value))
        elif (
            isinstance(value, _CALLABLES)
            and not name.startswith("__")
            and (place is not hotaru.functional or name != "nonzero")
        ):
            found.append((name, value))
    return found


def _offers(place) -> dict:
    """Names of a place with what they are, also those not yet asked for."""
    if place is not hotaru.nn.functional:
        return vars(place)
    return {name: getattr(place, name) for name in dir(place)}


_PREFIXES = ("fft_", "linalg_", "special_")


@functools.cache
def _all() -> tuple[dict, dict]:
    """Functions by place, and the name of each."""
    by_place, names = {}, {}
    for text, place in _places():
        functions = _functions_of(place)
        by_place[place] = [f for _, f in functions if not _is_ignored(f)]
        for name, function in functions:
            if place is hotaru and name.startswith(_PREFIXES):
                continue  # linalg_svd is torch.linalg.svd
            # An operator that another place offers is that place's, as long
            # as it is no other one's there ("special_erf").
            prefix = f"{text.rpartition('.')[2]}_"
            if prefix in _PREFIXES and not function.__name__.startswith(prefix):
                names.setdefault(function, f"{text}.{name}")
            elif function.__name__.startswith("_") or (
                names.get(function) != f"{text}.{function.__name__}"
            ):
                names[function] = f"{text}.{name}"
    # One function in PyTorch, which the later name is of.
    names[Tensor.__rdiv__] = "torch.Tensor.__rtruediv__"
    return by_place, names


def resolve_name(f) -> str | None:
    """The public name of a function, "torch.add"; None if it is none."""
    return _all()[1].get(f)


def get_overridable_functions() -> dict:
    """Lists of the functions that the protocol sees, by module or class."""
    return _all()[0]


def is_tensor_method_or_property(func) -> bool:
    """True if it is a method of Tensor, or the getter of an attribute."""
    name = resolve_name(func)
    return func.__name__ in ("__get__", "__set__") or bool(
        name and name.startswith("torch.Tensor.")
    )


_IGNORED = [
    "__class__",
    "__delattr__",
    "__dict__",
    "__dir__",
    "__doc__",
    "__getattribute__",
    "__init__",
    "__init_subclass__",
    "__new__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__setattr__",
    "__sizeof__",
    "__str__",
    "__subclasshook__",
    "__torch_function__",
    "__weakref__",
    "__hash__",
    "__array_priority__",
]


def _is_ignored(function) -> bool:
    return getattr(function, "__name__", "") in _IGNORED


def get_testing_overrides() -> dict:
    """For each function that the protocol sees one with its parameters that
    returns -1.
    """
    return {f: _stand_in(f) for f in _all()[1] if not _is_ignored(f)}


def _stand_in(function):
    def answer(*args, **kwargs):
        return -1

    answer.__name__ = function.__name__
    answer.__signature__ = _signature(function)
    return answer


def _signature(function) -> inspect.Signature:
    if isinstance(function, _C.Op):
        return _schema_signature(_C._op_schemas(function.__name__)[0])
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        names = ["self"]
        if resolve_name(function).endswith(".__setitem__"):
            names += ["index", "value"]
        elif isinstance(function, _SLOT) and not _is_unary(function):
            names += ["other"]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(n, kind) for n in names])


def _is_unary(slot) -> bool:
    return slot.__name__ in [
        "__abs__",
        "__bool__",
        "__float__",
        "__index__",
        "__int__",
        "__invert__",
        "__iter__",
        "__len__",
        "__neg__",
        "__pos__",
    ]


def _schema_signature(text: str) -> inspect.Signature:
    """Parameters from "add(Tensor self, *, Scalar alpha=1) -> Tensor"."""
    from .._function_schema.signatures import split

    inside = text[text.index("(") + 1 : text.rindex(") ->")]
    parameters, kind = [], inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in split(inside):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        declared, _, default = part.partition("=")
        name = declared.split()[-1]
        name = name + "_" if keyword.iskeyword(name) else name
        name = "input" if name == "self" and not parameters else name
        value = None if default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=value))
    return inspect.Signature(parameters)
