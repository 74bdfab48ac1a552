"""What all optimizers share: parameter groups, state, hooks."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from copy import deepcopy

from .. import Tensor, enable_grad, no_grad, view_as_real
from .._utils import typename
from ..nn.modules.module import clear_grad
from ..utils.hooks import RemovableHandle, add_hook


class _Required:
    """Marks an option that has no default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()

_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


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

    def __init__(self, params, defaults: dict) -> None:
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable "
                f"of Tensors or dicts, but got {typename(params)}"
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)

    # -- groups ------------------------------------------------------------

    def add_param_group(self, param_group: dict) -> None:
        """Adds a group of parameters with options of its own.

        Raises:
            TypeError, ValueError: not a dict of leaf tensors, or a parameter
                that is in a group already.
        """
        if not isinstance(param_group, dict):
            raise TypeError(
                f"param_group must be a dict, but got {type(param_group)}"
            )
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered "
                "collections, but the ordering of tensors in sets will change "
                "between runs. Please use a list instead."
            )
        params = list(params)
        param_group["params"] = params
        _split_names(param_group)
        params = param_group["params"]
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the "
                    f"params is {typename(param)}"
                )
            if not (param.is_leaf or param.grad_fn is None):
                raise ValueError("can't optimize a non-leaf Tensor")
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
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(param) in known for param in params):
            raise ValueError(
                "some parameters appear in more than one parameter group"
            )
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or zeroes them in place."""
        for group in self.param_groups:
            for param in group["params"]:
                clear_grad(param, set_to_none)

    def step(self, closure=None):
        """Updates all parameters that have a gradient.

        `closure`, if given, computes the loss again; it is returned.
        """
        raise NotImplementedError

    @staticmethod
    def _loss(closure):
        if closure is None:
            return None
        with enable_grad():
            return closure()

    # -- state -------------------------------------------------------------

    def state_dict(self) -> dict:
        """State and options, with parameters as numbers in their order."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        groups = []
        for group in self.param_groups:
            packed = {name: v for name, v in group.items() if name != "params"}
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` gave, for the same groups of parameters.

        State of floating point parameters gets their dtype and device.

        Raises:
            ValueError: other groups, or groups of another size.
        """
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = deepcopy(state_dict["param_groups"])
        groups = self.param_groups
        if len(groups) != len(saved):
            raise ValueError(
                "loaded state dict has a different number of parameter groups"
            )
        if any(
            len(a["params"]) != len(b["params"]) for a, b in zip(groups, saved)
        ):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't "
                "match the size of optimizer's group"
            )
        params = {}
        for group, packed in zip(groups, saved):
            params.update(zip(packed["params"], group["params"]))
            packed["params"] = group["params"]
        self.state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                param = params[key]
                self.state[param] = _fit(value, param)
            else:
                self.state[key] = value
        self.param_groups = saved
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

    # -- hooks -------------------------------------------------------------

    def register_step_pre_hook(self, hook) -> RemovableHandle:
        """Registers `hook(optimizer, args, kwargs) -> None | both`."""
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook) -> RemovableHandle:
        """Registers `hook(optimizer, args, kwargs)`, run after each step."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend: bool = False):
        """Registers `hook(optimizer)`, run before `state_dict`."""
        hooks = self._optimizer_state_dict_pre_hooks
        return add_hook(hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook, prepend: bool = False):
        """Registers `hook(optimizer, state_dict) -> None | state_dict`."""
        hooks = self._optimizer_state_dict_post_hooks
        return add_hook(hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend: bool = False):
        """Registers `hook(optimizer, state_dict) -> None | state_dict`."""
        hooks = self._optimizer_load_state_dict_pre_hooks
        return add_hook(hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook, prepend: bool = False):
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


def _with_hooks(step):
    """`step` with the hooks, noting that it ran (schedulers check that)."""

    @functools.wraps(step)
    def run(self, *args, **kwargs):
        self._opt_called = True
        if not (
            self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks
        ):
            return step(self, *args, **kwargs)
        for hook in self._optimizer_step_pre_hooks.values():
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"{step} must return None or a tuple of (new_args, "
                    f"new_kwargs), but got {changed}."
                )
            args, kwargs = changed
        result = step(self, *args, **kwargs)
        for hook in self._optimizer_step_post_hooks.values():
            hook(self, args, kwargs)
        return result

    return run


def _split_names(group: dict) -> None:
    """Turns pairs of name and parameter into "params" and "param_names"."""
    params = group["params"]
    named = [isinstance(param, tuple) for param in params]
    if not any(named):
        return
    if not all(named):
        raise ValueError(
            "all optimizer params should be with/without names. Some param "
            "names are missing"
        )
    options = {name: value for name, value in group.items() if name != "params"}
    group.clear()
    group["params"] = [param for _, param in params]
    group["param_names"] = [name for name, _ in params]
    group.update(options)


def _fit(value, param: Tensor, name: str | None = None):
    """Saved state with the dtype and device of its parameter.

    Tensors that have them already are shared, as in PyTorch.
    """
    if isinstance(value, Tensor):
        if name == "step":
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _fit(v, param, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fit(v, param) for v in value)
    return value


def check_options(**options) -> None:
    """ValueError for an option that is negative."""
    texts = {"lr": "learning rate", "eps": "epsilon value"}
    for name, value in options.items():
        if isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError(f"Tensor {name} must be 1-element")
        if not value >= 0.0:
            raise ValueError(
                f"Invalid {texts.get(name, f'{name} value')}: {value}"
            )


def check_betas(betas) -> None:
    """ValueError for a decay rate outside of [0, 1)."""
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_unsupported(**flags) -> None:
    """NotImplementedError for options that change what is recorded."""
    for name, value in flags.items():
        if value:
            raise NotImplementedError(
                f"{name}=True is not supported by optimizers"
            )


def as_real(*tensors: Tensor | None) -> list:
    """Views of complex tensors as pairs of reals, and others as they are.

    Squares and roots are of the parts of a complex parameter, as if they were
    two parameters.
    """
    return [
        view_as_real(t) if t is not None and t.is_complex() else t
        for t in tensors
    ]


def gradients(group: dict):
    """Pairs of parameter and gradient; the gradient negated to maximize."""
    for param in group["params"]:
        grad = param.grad
        if grad is not None:
            yield param, -grad if group["maximize"] else grad


class ByParameter(Optimizer):
    """Updates each parameter by itself: subclasses define `_update`."""

    def step(self, closure=None):
        """Updates all parameters; see `Optimizer.step`."""
        loss = self._loss(closure)
        with no_grad():
            for group in self.param_groups:
                for param, grad in gradients(group):
                    self._update(param, grad, group)
        return loss
