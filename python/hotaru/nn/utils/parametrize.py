"""Parameters and buffers that are functions of others.

A parametrized tensor is an attribute that is computed at each access: by the
modules of `module.parametrizations[name]`, one after the other, from the
tensors stored there as `original`, or `original0`, `original1`, ….
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager, suppress

from ... import Tensor, no_grad
from ..modules import Module, ModuleDict, ModuleList
from ..parameter import Parameter
from . import _parametrized

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]


@contextmanager
def cached():
    """Inside, each parametrized tensor is computed at its first access only.

    The values are dropped with the end of the outermost block. Not for several
    threads at once: the values are the process's.
    """
    _parametrized.cache_depth += 1
    try:
        yield
    finally:
        _parametrized.cache_depth -= 1
        if _parametrized.cache_depth == 0:
            _parametrized.cache.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the tensors they start from.

    Args:
        modules: at least one; the first takes all originals, each other the
            result before it.
        original: the tensor so far. What the `right_inverse` of the modules,
            last to first, make of it is stored: in `original` itself if that is
            one tensor, so that optimizers keep knowing it.
        unsafe: shape and dtype may change, and are not checked.

    Raises:
        ValueError: no module, or tensors of another kind than promised.
    """

    def __init__(
        self,
        modules: Sequence[Module],
        original: Tensor | Parameter,
        unsafe: bool = False,
    ) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        start = self._invert(original)
        self.is_tensor = isinstance(start, Tensor)
        if self.is_tensor:
            self.ntensors = 1
            self._keep(original, start)
        elif isinstance(start, Sequence):
            self.ntensors = len(start)
            self._keep_several(original, start)
        else:
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors "
                f"(list, tuple...). Got {type(start).__name__}"
            )
        if not unsafe:
            self._check(shape, dtype)

    def _invert(self, value):
        """Undoes the modules for `value`; one without inverse leaves it."""
        with no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        value = module.right_inverse(value)
        return value

    def _keep(self, original: Tensor, start: Tensor) -> None:
        for what in ("dtype", "device"):
            before, after = getattr(original, what), getattr(start, what)
            if before != after:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not "
                    f"change the {what}.\noriginal.{what}: {before}\n"
                    f"right_inverse(original).{what}: {after}"
                )
        _parametrized.replace(original, start)
        _register(self, "original", original)

    def _keep_several(self, original: Tensor, parts: Sequence) -> None:
        for i, part in enumerate(parts):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of "
                    f"tensors (list, tuple...). Got element {i} of the "
                    f"sequence with type {type(part).__name__}."
                )
            if isinstance(original, Parameter):
                part = Parameter(part, original.requires_grad)
            part.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", part)

    def _check(self, shape, dtype) -> None:
        value = self()
        _check_value(value)
        wanted = {"dtype": dtype, "shape": shape}
        for what, before in wanted.items():
            after = getattr(value, what)
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} "
                    "of the tensor, unless `unsafe` flag is enabled.\n"
                    f"unparametrized {what}: {before}\n"
                    f"parametrized {what}: {after}"
                )

    def right_inverse(self, value: Tensor) -> None:
        """Stores the originals from which the modules make `value`.

        Raises:
            RuntimeError: a module without `right_inverse`.
            ValueError: its result does not fit the originals.
        """
        with no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not "
                        "implement right_inverse."
                    )
                value = module.right_inverse(value)
            if self.is_tensor:
                self._store(value)
            else:
                self._store_several(value)

    def _store(self, value) -> None:
        if not isinstance(value, Tensor):
            raise ValueError(
                f"`right_inverse` should return a tensor. Got {type(value).__name__}"
            )
        if value.dtype != self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype "
                f"{value.dtype} while `original` has dtype "
                f"{self.original.dtype}"
            )
        _parametrized.replace(self.original, value)

    def _store_several(self, values) -> None:
        if not isinstance(values, Sequence):
            raise ValueError(
                "'right_inverse' must return a sequence of tensors. "
                f"Got {type(values).__name__}."
            )
        if len(values) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(values)}."
            )
        for i, (value, original) in enumerate(zip(values, self._originals())):
            if not isinstance(value, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or "
                    "reference-type opaques. "
                    f"Got element {i} of type {type(value).__name__}."
                )
            if original.dtype != value.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype "
                    f"{value.dtype} while `original{i}` has dtype "
                    f"{original.dtype}"
                )
            _parametrized.replace(original, value)

    def _originals(self) -> list[Tensor]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        _parametrized.refuse_scripting()
        first, *others = self
        value = first(*self._originals())
        for module in others:
            value = module(value)
        return value


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Makes a parameter or buffer the result of `parametrization`; behind those
    it has already. Assigning to it calls their `right_inverse`.

    Args:
        module: gets a class of its own, `Parametrized…`.
        tensor_name: the parameter or buffer.
        parametrization: called with the original, in training or evaluation as
            `module` is now.
        unsafe: shape and dtype may change.

    Raises:
        ValueError: no such tensor, or a result that is not of its kind.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        known = module.parametrizations[tensor_name]
        known.append(parametrization)
        known.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        found = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _parametrized.give_own_class(module)
            module.parametrizations = ModuleDict()
        _parametrized.add_property(module, tensor_name)
        module.parametrizations[tensor_name] = found
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a "
            f"parametrized element with name '{tensor_name}'"
        )
    return module


def _check_value(value) -> None:
    if not isinstance(value, Tensor):
        kind = type(value).__name__
        raise ValueError(f"A parametrization must return a tensor. Got {kind}.")


def _check_further(module: Module, name: str, parametrization: Module) -> None:
    """ValueError unless values and their inverses are as the tensor is now."""
    present = getattr(module, name)
    value = parametrization(present)
    _check_value(value)
    for what in ("dtype", "shape"):
        before, after = getattr(present, what), getattr(value, what)
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of "
                "the tensor, unless the `unsafe` flag is enabled.\n"
                f"module.{name}.{what}: {before}\n"
                f"parametrization(module.{name}).{what}: {after}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        inverse = parametrization.right_inverse(value)
    except NotImplementedError:
        return
    if not isinstance(inverse, Tensor):
        raise ValueError(
            "parametrization.right_inverse must return a tensor. "
            f"Got: {type(inverse).__name__}"
        )
    for what in ("dtype", "shape"):
        before, after = getattr(present, what), getattr(inverse, what)
        if before != after:
            raise ValueError(
                "The tensor returned by parametrization.right_inverse must "
                f"have the same {what} as module.{name}, unless the `unsafe` "
                f"flag is enabled.\nmodule.{name}.{what}: {before}\n"
                f"returned {what}: {after}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Tells whether the tensor, or any of the module, is parametrized."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Makes a parametrized tensor a parameter or buffer again.

    Args:
        module: whose tensor it is; gets its class back with its last one.
        tensor_name: the tensor.
        leave_parametrized: its value is what the parametrizations give; else it
            is the original.

    Raises:
        ValueError: it is not parametrized; or one of several originals would
            have to be chosen.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            f"Module {module} does not have a parametrization on {tensor_name}"
        )
    found = module.parametrizations[tensor_name]
    if found.is_tensor:
        left = found.original
        if leave_parametrized:
            with no_grad():
                _parametrized.replace(left, getattr(module, tensor_name))
    elif leave_parametrized:
        left = getattr(module, tensor_name)
        if left.requires_grad:
            left = Parameter(left)
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor "
            "that is parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, left)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The module's class without parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Gives `to_module` the parametrizations and originals of `from_module`, of
    one tensor or of all. Tensors that it lacks are made. Returns `to_module`.
    """
    if not is_parametrized(from_module):
        return to_module
    chosen = from_module.parametrizations
    for name in chosen if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
            continue
        for i, original in enumerate(source._originals()):
            setattr(target, f"original{i}", original)
    return to_module
