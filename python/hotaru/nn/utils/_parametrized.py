"""Classes of parametrized modules: one for each module, with a property for
each tensor that is computed.
"""

from __future__ import annotations

from copy import deepcopy

import hotaru

from ... import Tensor, no_grad

# Values by id of the module and name, while `cache_depth` is not 0.
cache: dict = {}
cache_depth = 0


def refuse_scripting() -> None:
    if hotaru.jit.is_scripting():
        raise RuntimeError("Parametrization is not working with scripting.")


def replace(tensor: Tensor, value: Tensor) -> None:
    """Gives `tensor` the memory, shape and values of `value`."""
    if tensor is not value:
        with no_grad():
            tensor.data = value.detach()


def give_own_class(module) -> None:
    """Puts the module into a class of its own, derived from its present one."""
    kind = type(module)
    members = {"__getstate__": _refuse_state, "__module__": kind.__module__}
    if not hasattr(kind, "__deepcopy__"):
        members["__deepcopy__"] = _copied
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), members)


def _refuse_state(self):
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through "
        "state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-"
        "training"
    )


def _copied(self, memo: dict):
    """A deep copy, which shares the class and so needs no pickled state."""
    if id(self) in memo:
        return memo[id(self)]
    other = self.__new__(type(self))
    memo[id(self)] = other
    other.__dict__ = deepcopy(self.__dict__, memo)
    for kind in type(self).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if hasattr(self, slot) and slot not in ("__dict__", "__weakref__"):
                setattr(other, slot, deepcopy(getattr(self, slot), memo))
    return other


def add_property(module, name: str) -> None:
    """Makes `name` computed at each access to the module, once when cached."""
    if hasattr(module, name):
        raise AssertionError(f"Module already has an attribute named '{name}'")

    def compute(self) -> Tensor:
        refuse_scripting()
        parametrization = self.parametrizations[name]
        if not cache_depth:
            return parametrization()
        if hotaru.jit.is_tracing():
            raise RuntimeError("Cannot trace a model while caching parametrizations.")
        key = (id(self), name)
        if key not in cache:
            cache[key] = parametrization()
        return cache[key]

    def assign(self, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(compute, assign))
