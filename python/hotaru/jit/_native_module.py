"""Questions to PyTorch's `torch._C.ScriptModule`, a module's `_c`."""

from __future__ import annotations

from .. import _C


def unwrapped(value):
    """Modules as native ones."""
    return vars(value).get("_c", value) if hasattr(value, "__dict__") else value


def _missing(module: _C.ScriptModule, name: str) -> AttributeError:
    # The address tells programs apart; here that of the class's.
    place = f"(of Python compilation unit at: {id(module.class_type):#x})"
    return AttributeError(
        f"{module.type_name} {place} does not have a field with name '{name}'"
    )


def _attribute(self, name: str):
    """A method, a module (native too) or another attribute, by name."""
    if self.has_attribute(name):
        return unwrapped(self.attribute(name))
    if self.has_method(name):
        return self.method(name)
    raise _missing(self, name)


def _value(self, name: str):
    """An attribute by name. AttributeError: there is none."""
    if not self.has_attribute(name):
        raise _missing(self, name)
    return unwrapped(self.attribute(name))


def _freeze_module(
    module: _C.ScriptModule,
    preservedAttrs=(),
    freezeInterfaces: bool = True,
    preserveParameters: bool = False,
) -> _C.ScriptModule:
    """As `jit.freeze`, of a native module and giving one.

    RuntimeError: see there. NotImplementedError: parameters are to stay
    attributes while all else is frozen.
    """
    if preserveParameters:
        raise NotImplementedError(
            "_freeze_module: preserveParameters is not implemented; name what "
            "shall stay in preservedAttrs"
        )
    return module.freeze(list(preservedAttrs))


def placed(module, place):
    """The module with its tensors on a device; those that have no elements
    (meta) stay where they are.
    """
    tensors = [*module.parameters(), *module.buffers()]
    if not any(tensor.is_meta for tensor in tensors):
        return module.to(place)
    for tensor in tensors:
        if not tensor.is_meta:
            tensor.data = tensor.data.to(place)
    return module


def extend() -> None:
    """Gives the native class these names."""
    native = _C.ScriptModule
    native.__getattr__ = _attribute
    native.__str__ = lambda self: f"ScriptObject <{self.type_name}>"
    native.hasattr = native.has_attribute
    native.getattr = _value
    native.setattr = native.set_attribute
    native._has_method = native.has_method
    native._get_method = native.method
    native._get_methods = lambda self: [
        self.method(name) for name in self.method_names()
    ]
    native._method_names = lambda self: self.method_names()
    native._type = lambda self: self.class_type
    native.qualified_name = property(lambda self: self.type_name)
