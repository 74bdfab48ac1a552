"""Which modules of a model are wrapped one by one, and the wrapping.

A policy is a function of a module, whether its children are asked about, and
how many elements of parameters nothing below it has wrapped; or one of the
classes below. `fully_shard` takes modules as they are: these are for wrappers
as `apply_activation_checkpointing` has them.
"""

from __future__ import annotations

import contextlib
import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from ...nn import Module, ModuleDict, ModuleList, MultiheadAttention

__all__ = [
    "CustomPolicy",
    "ModuleWrapPolicy",
    "always_wrap_policy",
    "enable_wrap",
    "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
    "wrap",
]


def always_wrap_policy(*args, **kwargs) -> bool:
    """True: every module."""
    return True


def _module_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, module_classes
) -> bool:
    return recurse or isinstance(module, tuple(module_classes))


def transformer_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, transformer_layer_cls
) -> bool:
    """True of modules of these classes: blocks of a transformer."""
    return _module_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls)


def lambda_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable
) -> bool:
    """Asks a function of the module."""
    return True if recurse else lambda_fn(module)


def _or_policy(module: Module, recurse: bool, nonwrapped_numel: int, policies) -> bool:
    """True where one of several policies says so."""
    return any(
        policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel)
        for policy in policies
    )


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = 100_000_000,
    force_leaf_modules: set | None = None,
    exclude_wrap_modules: set | None = None,
) -> bool:
    """True of modules with that many elements that nothing in them wrapped.

    Args:
        force_leaf_modules: classes whose parts are not asked about; attention
            by default.
        exclude_wrap_modules: classes that are never wrapped; containers.
    """
    policy = size_based_auto_wrap_policy
    leaves = (
        policy.FORCE_LEAF_MODULES if force_leaf_modules is None else force_leaf_modules
    )
    excluded = (
        policy.EXCLUDE_WRAP_MODULES
        if exclude_wrap_modules is None
        else exclude_wrap_modules
    )
    if nonwrapped_numel < min_num_params:
        return False
    return not isinstance(module, tuple(leaves if recurse else excluded))


size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {ModuleList, ModuleDict}
size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {MultiheadAttention}


class _Policy(ABC):
    """Policies that give wrapped modules arguments of their own."""

    @abstractmethod
    def _run_policy(
        self, root_module: Module, ignored_modules: set, root_kwargs: dict
    ) -> dict:
        """The wrapper's arguments, by module that is wrapped."""


class ModuleWrapPolicy(_Policy):
    """Modules of these classes."""

    def __init__(self, module_classes: Iterable[type]) -> None:
        classes = set(module_classes)
        self._module_classes = classes
        self._module_classes_str = str(classes)

    def _run_policy(self, root_module, ignored_modules, root_kwargs) -> dict:
        classes = tuple(self._module_classes)
        return {
            module: copy.copy(root_kwargs)
            for module in root_module.modules()
            if module not in ignored_modules and isinstance(module, classes)
        }

    def __call__(self, module: Module, recurse: bool, *args, **kwargs) -> bool:
        return _module_wrap_policy(module, recurse, -1, self._module_classes)

    def __repr__(self) -> str:
        return f"{super().__repr__()}({self._module_classes_str})"


class CustomPolicy(_Policy):
    """Asks a function of each module: False, True, or a dictionary of
    arguments that are others than the model's.
    """

    def __init__(self, lambda_fn: Callable) -> None:
        self._lambda_fn = lambda_fn

    def _run_policy(self, root_module, ignored_modules, root_kwargs) -> dict:
        found: dict = {}
        for module in root_module.modules():
            if module in ignored_modules:
                continue
            answer = self._lambda_fn(module)
            if not isinstance(answer, (dict, bool)):
                raise ValueError(
                    "The lambda_fn passed to CustomPolicy should return "
                    f"False/True or a kwarg dict, but it returned {answer}"
                )
            if answer is not False and answer != {}:
                own = answer if isinstance(answer, dict) else {}
                found[module] = {**root_kwargs, **own}
        return found


def _post_order_apply(root_module: Module, fn: Callable) -> None:
    """Puts what `fn` makes of each module in its place, children first."""
    seen = {root_module}

    def visit(module: Module, parent: Module | None, name: str) -> None:
        for child_name, child in list(module.named_children()):
            if child not in seen:
                seen.add(child)
                visit(child, module, child_name)
        made = fn(module)
        if made is None:
            return
        if not isinstance(made, Module):
            raise AssertionError(
                "Non-root modules should have their parent module set but got "
                f"{made} for {module}"
            )
        if parent is not None:
            setattr(parent, name, made)

    visit(root_module, None, "")


def _construct_wrap_fn(
    root_module: Module, target_module_to_kwargs: dict, fsdp_fn: Callable
) -> Callable:
    """A function for `_post_order_apply`: the dictionary without the root."""

    def make(module: Module):
        if module is root_module or module not in target_module_to_kwargs:
            return None
        return fsdp_fn(module, **target_module_to_kwargs[module])

    return make


class _Wrapping:
    """The innermost `enable_wrap` that a thread's program is in."""

    wrapper: Callable | None = None
    options: dict = {}  # noqa: RUF012


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls, **wrapper_kwargs):
    """A block in which `wrap` wraps modules by this class."""
    before = _Wrapping.wrapper, _Wrapping.options
    _Wrapping.wrapper, _Wrapping.options = wrapper_cls, wrapper_kwargs
    try:
        yield
    finally:
        _Wrapping.wrapper, _Wrapping.options = before


def wrap(module: Module, **wrap_overrides) -> Module:
    """The module, wrapped within `enable_wrap` and elsewhere as it is."""
    if _Wrapping.wrapper is None:
        return module
    return _wrap(module, _Wrapping.wrapper, **{**_Wrapping.options, **wrap_overrides})


def _wrap(module: Module, wrapper_cls: Callable, **kwargs) -> Module:
    own = getattr(module, "_wrap_overrides", {})
    return wrapper_cls(module, **{**kwargs, **own})


def _recursive_wrap(
    module: Module,
    auto_wrap_policy: Callable,
    wrapper_cls: Callable,
    ignored_modules: set,
    ignored_params: set,
    only_wrap_children: bool = False,
    **kwargs,
) -> tuple[Module, int]:
    """Wraps modules as a policy says, children first.

    Returns:
        The module or its wrapper, and how many elements are wrapped in it.
    """
    if isinstance(wrapper_cls, type):
        for name, child in module.named_modules():
            if child not in ignored_modules and isinstance(child, wrapper_cls):
                raise AssertionError(
                    f"module {name} is already wrapped by {wrapper_cls}"
                )
    whole = sum(p.numel() for p in module.parameters() if p not in ignored_params)
    if not auto_wrap_policy(module=module, recurse=True, nonwrapped_numel=whole):
        return module, 0
    wrapped = 0
    for name, child in module.named_children():
        if child in ignored_modules:
            continue
        made, count = _recursive_wrap(
            child,
            auto_wrap_policy,
            wrapper_cls,
            ignored_modules,
            ignored_params,
            **kwargs,
        )
        setattr(module, name, made)
        wrapped += count
    rest = whole - wrapped
    if not only_wrap_children and auto_wrap_policy(
        module=module, recurse=False, nonwrapped_numel=rest
    ):
        return _wrap(module, wrapper_cls, **kwargs), rest
    return module, wrapped
