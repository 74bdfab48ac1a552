"""`Module`: the base class of every network."""

from __future__ import annotations

import inspect
import sys
from collections import OrderedDict
from typing import Any

from ... import Tensor, empty_like
from ... import device as _device
from ... import dtype as _dtype
from ..._C import _call_in_order, _watch_callers
from ..._C import _count_module_change as _count_change
from ..._late import lent
from ..._own_names import no_member
from ..._utils import typename
from ..parameter import Buffer, Parameter
from ._aspects import global_hooks as _global_hooks
from ._aspects.conversion import ConversionMixin
from ._aspects.global_hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
    registered,
)
from ._aspects.hooks import HookMixin
from ._aspects.state import _EXTRA_STATE_KEY_SUFFIX, StateMixin, _IncompatibleKeys  # noqa: F401
from ._aspects.traversal import TraversalMixin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

# Hooks of every module, `_global_…` as in PyTorch.
_global_hooks.home = sys.modules[__name__]
_global_backward_hooks: dict = OrderedDict()
_global_backward_pre_hooks: dict = OrderedDict()
_global_buffer_registration_hooks: dict = OrderedDict()
_global_forward_hooks: dict = OrderedDict()
_global_forward_hooks_always_called: dict = OrderedDict()
_global_forward_hooks_with_kwargs: dict = OrderedDict()
_global_forward_pre_hooks: dict = OrderedDict()
_global_module_registration_hooks: dict = OrderedDict()
_global_parameter_registration_hooks: dict = OrderedDict()
_global_is_full_backward_hook: bool | None = None

_HOOK_DICTS = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class _Callers:
    """Flag that is set if more threads call modules than there are cores."""

    __slots__ = ("many",)


_callers = _Callers()
_watch_callers(_callers)


class Module(HookMixin, StateMixin, TraversalMixin, ConversionMixin):
    """Base class of all networks.

    Parameters, buffers and modules assigned as attributes are registered under
    the attribute's name, in the order of assignment. Subclasses call
    `super().__init__()` first and define `forward`.
    """

    # Set to True where several bases with an __init__ are combined.
    call_super_init = False
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    def __init__(self, *args, **kwargs) -> None:
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected "
                    f"keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional "
                    f"argument but {len(args) + 1} were given"
                )
        # Straight into __dict__: __setattr__ needs these to exist.
        attributes = self.__dict__
        attributes["training"] = True
        attributes["_parameters"] = {}
        attributes["_buffers"] = {}
        attributes["_non_persistent_buffers_set"] = set()
        attributes["_is_full_backward_hook"] = None
        for name in _HOOK_DICTS:
            attributes[name] = OrderedDict()
        attributes["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args, **kwargs):
        """Computes a call's result; every subclass overrides it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args, **kwargs) -> Any:
        if _callers.many:
            return _call_in_order(self._call_now, *args, **kwargs)
        if self._hooked:
            return self._call_with_hooks(args, kwargs)
        if kwargs:  # merging even an empty dict takes time
            return self.forward(*args, **kwargs)
        return self.forward(*args)

    _call_impl = __call__

    # The body of `__call__` once more: a call of it there would be a frame more
    # in each call of each module.
    def _call_now(self, *args, **kwargs) -> Any:
        if self._hooked:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    # Set if loading says what changed in the sources: nothing is kept of them.
    dump_patches: bool = False

    def compile(self, *args, **kwargs) -> None:
        """This module's calls run as graphs from now on: `compile` in place.

        Arguments are those of `compile` behind the model.
        """
        lent("compile_in_place")(self, *args, **kwargs)

    # -- attributes --------------------------------------------------------

    def __getattr__(self, name: str) -> Tensor | Module:
        # Reached only when normal lookup failed; on the path of every access to
        # a parameter or child, so without a loop. `_modules` is made last.
        attributes = self.__dict__
        if "_modules" in attributes:
            members = attributes["_parameters"]
            if name in members:
                return members[name]
            members = attributes["_modules"]
            if name in members:
                return members[name]
            members = attributes["_buffers"]
            if name in members:
                return members[name]
        raise no_member(type(self), name)

    def __setattr__(self, name: str, value) -> None:
        _count_change()
        if isinstance(value, Parameter):
            self._forget(name, "_parameters", "parameters")
            self.register_parameter(name, value)
            return
        attributes = self.__dict__
        params = attributes.get("_parameters")
        if params is not None and name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
            return
        modules = attributes.get("_modules")
        if isinstance(value, Module):
            self._forget(name, "_modules", "module")
            self._put_module(name, value)
            return
        if modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module "
                    f"'{name}' (torch.nn.Module or None expected)"
                )
            self._put_module(name, value)
            return
        buffers = attributes.get("_buffers")
        known = buffers is not None and name in buffers
        if isinstance(value, Buffer) or known:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            self._put_buffer(name, value)
            return
        object.__setattr__(self, name, value)

    def _put_module(self, name: str, module: Module | None) -> None:
        hooks = _global_module_registration_hooks
        if hooks:
            module = registered(hooks, self, name, module)
        self._modules[name] = module

    def _put_buffer(self, name: str, value: Tensor | None) -> None:
        if isinstance(value, Buffer):
            persistent = value.persistent
        else:
            persistent = name not in self._non_persistent_buffers_set
        # Early subclasses override the method without `persistent`.
        own = type(self).register_buffer is not Module.register_buffer
        if not own or (
            "persistent" in inspect.signature(self.register_buffer).parameters
        ):
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that "
                "implements register_buffer() without the persistent argument "
                "is not allowed."
            )

    def _forget(self, name: str, kind: str, what: str) -> None:
        """Removes `name` from wherever it is, before it is registered anew."""
        self._members(kind, what)
        attributes = self.__dict__
        attributes.pop(name, None)
        for other in ("_parameters", "_buffers", "_modules"):
            # A module put in place of a module keeps its position.
            if other != kind:
                attributes[other].pop(name, None)
        attributes["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        _count_change()
        for members in (self._parameters, self._buffers, self._modules):
            if name in members:
                del members[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__}
        names.update(self._parameters, self._modules, self._buffers)
        return sorted(name for name in names if not name[0].isdigit())

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        for name in _HOOK_DICTS:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    # -- registration ------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter; None reserves the name and is not in the state.

        Raises:
            TypeError, KeyError: `name` cannot be an attribute, or exists.
            ValueError: `param` is not a leaf of the graph.
        """
        self._check_name(name, self._members("_parameters", "parameter"), "parameter")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{typename(param)}' object to parameter "
                    f"'{name}' (torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. "
                    "Model parameters must be created explicitly. "
                    f"To express '{name}' as a function of another Tensor, "
                    "compute the value in the forward() method."
                )
        hooks = _global_parameter_registration_hooks
        if hooks and param is not None:
            param = registered(hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Adds a buffer: not trained, and saved if `persistent`."""
        self._check_name(name, self._members("_buffers", "buffer"), "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        hooks = _global_buffer_registration_hooks
        if hooks:
            tensor = registered(hooks, self, name, tensor)
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a child, reached as attribute `name`."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name(name, self._modules, "module")
        self._put_module(name, module)

    register_module = add_module

    def _members(self, kind: str, what: str) -> dict:
        if kind not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        return self.__dict__[kind]

    def _check_name(self, name: str, members: dict, what: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in members:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            got = f", got: {name}" if what == "module" else ""
            raise KeyError(f'{what} name can\'t contain "."{got}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')

    # -- modes and gradients -----------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Sets training mode on this module and all below; returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Sets evaluation mode; the same as `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Switches gradients of all parameters on or off; returns self."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or zeroes them in place."""
        for param in self.parameters():
            clear_grad(param, set_to_none)

    # -- printing ----------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Text between the parentheses of `repr`; subclasses override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [
            f"({name}): {indent_rest(repr(module), 2)}"
            for name, module in self._modules.items()
        ]
        name = self._get_name()
        if not children and len(lines) <= 1:
            return f"{name}({extra})"
        return f"{name}(\n  " + "\n  ".join(lines + children) + "\n)"

    # -- conversions with arguments of this class's own ---------------------

    def to_empty(
        self, *, device: str | _device | int | None, recurse: bool = True
    ) -> Self:
        """Moves to `device` without copying: the new values are undefined."""
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def type(self, dst_type: _dtype | str) -> Self:
        """Converts all parameters and buffers to `dst_type`; returns self."""
        return self._apply(lambda t: t.type(dst_type))


def clear_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Drops `tensor.grad`, or detaches and zeroes it in place."""
    grad = tensor.grad
    if grad is None:
        return
    if set_to_none:
        tensor.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def indent_rest(text: str, spaces: int) -> str:
    """Indents all lines but the first."""
    return text.replace("\n", "\n" + " " * spaces)


_addindent = indent_rest  # PyTorch's name
