"""The public names that the reference describes, and what each of them is.

The list is that of tests/conformance/names/check.py: names that hotaru has and that
docs/compatibility.md counts.
"""

from __future__ import annotations

import inspect
import sys
import types
import warnings
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/conformance/names"))

import check  # noqa: E402  (found by the line above)

ABSENT = object()
_ROUTINES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.WrapperDescriptorType,
)


class Public(NamedTuple):
    """A public name: `owner` is a module or, with `in_class`, a class."""

    owner: str
    name: str
    in_class: bool
    value: Any
    raw: Any  # as the class has it: a property, a class method ...
    counted: bool = True  # False of names that only lead to an operator

    @property
    def full(self) -> str:
        return f"{self.owner}.{self.name}"

    @property
    def kind(self) -> str:
        """One of operator, class, module, function, property, constant."""
        value, raw = self.value, self.raw
        if type(value).__name__ == "Op":
            return "operator"
        if isinstance(value, types.ModuleType):
            return "module"
        if isinstance(value, type):
            return "class"
        if self.in_class and is_property(raw):
            return "property"
        if isinstance(value, _ROUTINES) or is_routine(value):
            return "function"
        return "property" if self.in_class and value is ABSENT else "constant"


def is_property(raw: Any) -> bool:
    """True for what computes an attribute of instances."""
    return inspect.isdatadescriptor(raw) or type(raw).__name__ in (
        "_LazyPropertyOfClass",
        "_Asked",
        "cached_property",
        "_tuplegetter",
    )


def is_routine(value: Any) -> bool:
    """True for callables that are no classes and have a name."""
    kind = type(value).__name__
    return kind in ("nb_func", "nb_method", "Function", "method") or (
        callable(value) and hasattr(value, "__name__") and hasattr(value, "__doc__")
    )


def names() -> list[Public]:
    """Every counted name that is here, in the order of the list."""
    check.install()
    found = []
    owners: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counted, _ = check.split(check.look())
        for name in counted:
            if not name.have:
                continue
            if name.space not in owners:
                owners[name.space] = check.resolve(name.space)
            owner = owners[name.space]
            in_class = name.space.startswith("class ")
            space = name.space.removeprefix("class ")
            found.append(Public(space, name.name, in_class, *looked_up(owner, name)))
    return found


# Modules that offer operators beside the names that are counted.
_OFFER = ("torch.nn.functional", "torch.functional")


def offered(found: list[Public]) -> list[Public]:
    """Operators under names that are not counted, as `nn.functional.conv2d`."""
    have = {name.full for name in found}
    out = []
    for module in _OFFER:
        owner = check.resolve(module)
        for name in dir(owner):
            value = getattr(owner, name, None)
            if type(value).__name__ == "Op" and not name.startswith("_"):
                public = Public(module, name, False, value, value, False)
                out += [public] if public.full not in have else []
    return out


def looked_up(owner: Any, name: Any) -> tuple[Any, Any]:
    """The value of an attribute, and what its class holds for it."""
    try:
        raw = inspect.getattr_static(owner, name.name, ABSENT)
    except Exception:
        raw = ABSENT
    try:
        return getattr(owner, name.name), raw
    except Exception:
        return ABSENT, raw


def homes(found: list[Public]) -> dict[int, str]:
    """The name under which each class and function is described, by identity.

    A class that the list has as a namespace goes by that name; anything else by
    the name with the fewest parts.
    """
    spaces = {n.owner for n in found if n.in_class}
    home: dict[int, str] = {}
    for name in found:
        if name.kind not in ("class", "function") or name.in_class:
            continue
        best = home.get(id(name.value))
        rank = (name.full not in spaces, "modules" in name.full, name.full.count("."))
        if best is None or rank < (
            best not in spaces,
            "modules" in best,
            best.count("."),
        ):
            home[id(name.value)] = name.full
    return home
