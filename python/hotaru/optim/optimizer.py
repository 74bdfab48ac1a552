"""Base of all optimizers: parameter groups, state, hooks."""

from __future__ import annotations

import math
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Optional, TypeAlias

import hotaru

from .. import Tensor
from .._own_names import no_attribute
from .._utils import typename
from ..nn.modules.module import clear_grad
from ..utils.hooks import RemovableHandle, add_hook
from ._arithmetic import parts
from ._arithmetic import value_of as _get_value  # noqa: F401
from ._groups import packed, restored, split_names
from ._groups import required as required
from ._hooks import (
    _global_optimizer_post_hooks,  # noqa: F401
    _global_optimizer_pre_hooks,  # noqa: F401
    hooked,
    profiled,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from ._hooks import recording_if_differentiable as _use_grad_for_differentiable  # noqa: F401
from ._options import capturable_devices as _get_capturable_supported_devices  # noqa: F401
from ._options import check_fused_param as _device_dtype_check_for_fused  # noqa: F401

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    ParamsT: TypeAlias = (
        Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
    )
    _params_t = ParamsT

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]

# Types in other libraries' signatures.
StateDict = dict[str, Any]
DeviceDict = dict[Optional[hotaru.device], Tensor]

NO_PARAMETERS = "optimizer got an empty parameter list"
_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


# Arguments of hooks of steps, of one optimizer or of all.
_Arguments = tuple[tuple, dict[str, Any]]
_PreHook = Callable[["Optimizer", tuple, dict[str, Any]], _Arguments | None]
_PostHook = Callable[["Optimizer", tuple, dict[str, Any]], None]


class Optimizer:
    """Base class of optimizers.

    Args:
        params: tensors, pairs of name and tensor, or dicts with "params" and
            options of their own.
        defaults: the options of groups that do not give them.

    Attributes:
        param_groups: list of dicts: "params" and all options.
        state: dict from parameter to what is kept for it.

    Raises:
        TypeError, ValueError: no parameters, or something that is none.
    """

    # While a graph is captured: what stands for a group's numbers, by its id.
    _lifted: dict | None = None

    OptimizerPreHook: TypeAlias = _PreHook
    OptimizerPostHook: TypeAlias = _PostHook

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable "
                f"of Tensors or dicts, but got {typename(params)}"
            )
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError(NO_PARAMETERS)
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        self._warned_capturable_if_run_uncaptured = True

    def _patch_step_function(self) -> None:
        cls = type(self)
        # The step of a class alone runs the hooks, not the one of a base class
        # that it calls, unless that is used by itself, too.
        if not getattr(cls.step, "hooked", False):
            cls.step = self.profile_hook_step(cls.step)

    @staticmethod
    def profile_hook_step(func):
        """The function `func` of an optimizer with the hooks of steps."""
        return hooked(func)

    # -- groups ------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group of parameters with options of its own.

        Raises:
            TypeError, ValueError: not a dict of leaf tensors, a parameter that
                is in a group already, or names in some groups only.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered "
                "collections, but the ordering of tensors in sets will change "
                "between runs. Please use a list instead."
            )
        param_group["params"] = list(params)
        split_names(param_group)
        params = param_group["params"]
        for param in params:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required "
                    f"optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        if len({id(param) for param in params}) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate "
                "parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        self._check_group(param_group)
        self.param_groups.append(param_group)

    def _check_param(self, param) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(
                "optimizer can only optimize Tensors, but one of the "
                f"params is {typename(param)}"
            )
        if self.defaults.get("differentiable"):
            return
        if not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_group(self, param_group: dict) -> None:
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if not known.isdisjoint(map(id, param_group["params"])):
            raise ValueError("some parameters appear in more than one parameter group")
        if not self.param_groups:
            return
        named = "param_names" in param_group
        if named != ("param_names" in self.param_groups[0]):
            raise ValueError(
                "all optimizer param groups should be with/without names. "
                f"cannot add param group {'with' if named else 'without'} "
                "names to the optimizer"
            )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or zeroes them in place."""
        span = profiled("zero_grad", self)
        if span is not None:
            with span:
                return self._clear(set_to_none)
        return self._clear(set_to_none)

    def _clear(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            for param in group["params"]:
                clear_grad(param, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates all parameters that have a gradient.

        `closure`, if given, computes the loss again; it is returned.
        """
        raise NotImplementedError

    @staticmethod
    def _group_tensors_by_device_and_dtype(
        tensorlistlist, with_indices: bool = False
    ) -> dict:
        """Lists of tensors in groups of one device and dtype, for optimizers
        that step a list at once: timm's call it here.
        """
        from ..utils import _foreach_utils

        return _foreach_utils._group_tensors_by_device_and_dtype(
            tensorlistlist, with_indices
        )

    def _accelerator_graph_capture_health_check(self) -> None:
        """Compares `capturable` with whether a graph is being captured."""
        capturing = (
            hotaru.cuda.is_available() and hotaru.cuda.is_current_stream_capturing()
        )
        some = any(group.get("capturable") for group in self.param_groups)
        every = all(group.get("capturable") for group in self.param_groups)
        if capturing and not every:
            raise RuntimeError(
                "Attempting CUDA graph capture of step() for an instance of "
                f"{type(self).__name__} but param_groups' capturable is False."
            )
        if capturing or not some:
            return
        if not getattr(self, "_warned_capturable_if_run_uncaptured", False):
            self._warned_capturable_if_run_uncaptured = True
            warnings.warn(
                "This instance was constructed with capturable=True or some "
                "of all the param_groups came with capturable=True, but step() "
                "is running without CUDA graph capture. If you never intend "
                "to graph-capture this instance, capturable=True can impair "
                "performance, and you should set capturable=False.",
                stacklevel=2,
            )

    _cuda_graph_capture_health_check = _accelerator_graph_capture_health_check

    # -- within a captured graph -------------------------------------------

    def _numbers(self, group: dict) -> list[float] | None:
        """The options that graphs read anew in each replay; None for none."""
        return None

    def _fixed(self, group: dict) -> tuple:
        """The options of which a graph is right for one value only."""
        return tuple(
            (name, _key(value)) for name, value in group.items() if name != "params"
        )

    # -- state -------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """State and options, with parameters as numbers in their order."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        result = packed(self.state, self.param_groups)
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` gave, for the same groups of parameters.

        State of floating point parameters gets their dtype and device. Names
        of parameters are not compared.

        Raises:
            ValueError: other groups, or groups of another size.
        """
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        groups = deepcopy(state_dict["param_groups"])
        state = restored(state_dict["state"], groups, self.param_groups)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __getstate__(self) -> dict:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    # -- hooks -------------------------------------------------------------

    def register_step_pre_hook(self, hook) -> RemovableHandle:
        """Registers `hook(optimizer, args, kwargs) -> None | both`."""
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook) -> RemovableHandle:
        """Registers `hook(optimizer, args, kwargs)`, run after each step."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook, prepend: bool = False
    ) -> RemovableHandle:
        """Registers `hook(optimizer)`, run before `state_dict`."""
        hooks = self._optimizer_state_dict_pre_hooks
        return add_hook(hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(
        self, hook, prepend: bool = False
    ) -> RemovableHandle:
        """Registers `hook(optimizer, state_dict) -> None | state_dict`."""
        hooks = self._optimizer_state_dict_post_hooks
        return add_hook(hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(
        self, hook, prepend: bool = False
    ) -> RemovableHandle:
        """Registers `hook(optimizer, state_dict) -> None | state_dict`."""
        hooks = self._optimizer_load_state_dict_pre_hooks
        return add_hook(hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(
        self, hook, prepend: bool = False
    ) -> RemovableHandle:
        """Registers `hook(optimizer)`, run after `load_state_dict`."""
        hooks = self._optimizer_load_state_dict_post_hooks
        return add_hook(hooks, hook, prepend=prepend)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [
                f"    {name}: {group[name]}"
                for name in sorted(group)
                if name != "params"
            ]
            lines.append("")
        lines[-1] = ")"
        return "\n".join(lines)


def _key(value):
    """Equal for options that mean the same; what has no hash is itself only."""
    if isinstance(value, Tensor) or not _has_hash(value):
        return (type(value), id(value))
    return value


def _has_hash(value) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


# -- names that optimizers of other libraries import -------------------------


def _to_scalar(x):
    """A number as it is, a tensor of one number without its dimensions."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _get_scalar_dtype(is_fused: bool | None = None):
    """The dtype of counts of steps."""
    if is_fused or hotaru.get_default_dtype() != hotaru.float64:
        return hotaru.float32
    return hotaru.float64


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Which of (fused, foreach) to take if neither is asked for.

    Updates go tensor by tensor here: foreach is never better.
    """
    if differentiable or not use_fused:
        return False, False
    fused = all(
        p.is_floating_point() and p.device.type in ("cpu", "cuda")
        for p in params
        if p is not None
    )
    return fused, False


def _view_as_real(params: list[Tensor], *state_and_grads) -> None:
    """Complex tensors in the lists become pairs of reals, all of a place."""
    for i, param in enumerate(params):
        if param.is_complex():
            for tensors in (params, *state_and_grads):
                (tensors[i],) = parts(tensors[i])


def _dispatch_sqrt(x):
    """The square root of a number or of a tensor."""
    return x.sqrt() if isinstance(x, Tensor) else math.sqrt(x)


def _stack_if_compiling(x):
    """`x`: code of steps is run, never traced, so nothing is stacked."""
    return x


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """A decorator that changes nothing: code of steps is never traced."""
    return lambda function: function


if not TYPE_CHECKING:

    def __getattr__(name: str):
        # For annotations of libraries; typing is slow.
        if name in ("ParamsT", "_params_t"):
            from collections.abc import Iterable
            from typing import Any, Union

            kinds = Tensor, dict[str, Any], tuple[str, Tensor]
            return Union[tuple(Iterable[kind] for kind in kinds)]
        raise no_attribute(__name__, name)
