"""Saving and loading a module's state, in PyTorch's layout."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import OrderedDict, namedtuple
from typing import Any, TypeVar

import hotaru

from .... import Tensor, no_grad
from ...._tensor.swap import swap_tensors
from ....utils.hooks import RemovableHandle, add_hook
from ...parameter import Parameter, is_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(
    namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])
):
    """Keys that `load_state_dict` did not find, and those without a use."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def checked_keys(module, missing, unexpected, errors: list[str]):
    """Result of `load_state_dict`; RuntimeError with all errors."""
    if errors:
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t"
            + "\n\t".join(errors)
        )
    return _IncompatibleKeys(missing, unexpected)


class StateMixin:
    """`state_dict` and `load_state_dict` of `Module`."""

    # For annotations: what `state_dict` is given to fill is what it returns.
    T_destination = TypeVar("T_destination", bound=dict[str, Any])

    # Version of the layout of this class's own state, stored in `_metadata`.
    _version = 1

    # -- hooks -------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook) -> RemovableHandle:
        """Registers `hook(module, prefix, keep_vars)`, run before saving."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook) -> RemovableHandle:
        """Registers `hook(module, state_dict, prefix, local_metadata)`.

        It runs after saving and changes `state_dict` in place.
        """
        hook._from_public_api = True
        return add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook) -> RemovableHandle:
        """As the post hook, but what it returns, if not None, is the state."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook "
                "that was previously registered via "
                "register_state_dict_post_hook"
            )
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook) -> RemovableHandle:
        """Registers a hook that runs before loading.

        `hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)` may change the state dict in place.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook, with_module: bool = False
    ) -> RemovableHandle:
        if with_module:
            hook = _BoundHook(hook, self)
        return add_hook(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook) -> RemovableHandle:
        """Registers `hook(module, incompatible_keys)`, run after loading.

        Keys that it removes from the two lists no longer count as errors.
        """
        return add_hook(self._load_state_dict_post_hooks, hook)

    # -- extra state -------------------------------------------------------

    def get_extra_state(self):
        """Override (with `set_extra_state`) to put more into the state dict."""
        raise RuntimeError(_extra_state_text("get"))

    def set_extra_state(self, state) -> None:
        """Override to take back what `get_extra_state` gave."""
        raise RuntimeError(_extra_state_text("set"))

    # -- saving ------------------------------------------------------------

    def state_dict(
        self, *args, destination=None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name.

        Args:
            *args: the following by position, as in early programs.
            destination: mapping to fill; a new one when left out.
            prefix: put in front of every name.
            keep_vars: keep the tensors as they are instead of detached.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. "
                "Refer to https://pytorch.org/docs/main/generated/torch.nn."
                "Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and not keep_vars else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata

        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination,
                    prefix=f"{prefix}{name}.",
                    keep_vars=keep_vars,
                )
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if changed is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif changed is not None:
                destination = changed
        return destination

    def _save_to_state_dict(self, destination, prefix: str, keep_vars: bool) -> None:
        """Puts this module's own state, not its children's, there."""
        for name, value in self._local_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not StateMixin.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def _local_state(self) -> dict:
        """This module's own parameters and persistent buffers, without None."""
        state = {n: p for n, p in self._parameters.items() if p is not None}
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                state[name] = buffer
        return state

    # -- loading -----------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copies values by name into this module and its children.

        Args:
            state_dict: values by name, as from `state_dict`.
            strict: missing or unexpected names are an error.
            assign: put the given tensors in place of the module's own instead
                of copying, keeping `requires_grad` of the present parameters.

        Returns:
            A pair `(missing_keys, unexpected_keys)`.

        Raises:
            TypeError: `state_dict` is not a mapping.
            RuntimeError: lists everything that did not fit; what did fit has
                been copied.
        """
        if not _is_mapping(state_dict):
            raise TypeError(
                f"Expected state_dict to be dict-like, got {type(state_dict)}."
            )
        metadata = getattr(state_dict, "_metadata", None)
        # Hooks may change the mapping; the caller's stays as it is.
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        missing, unexpected, errors = [], [], []
        self._load_tree(
            state_dict, "", metadata, assign, missing, unexpected, errors, strict
        )

        if strict:
            # In this order: missing keys come first in the text.
            if unexpected:
                errors.insert(0, _key_list("Unexpected", unexpected))
            if missing:
                errors.insert(0, _key_list("Missing", missing))
        return checked_keys(self, missing, unexpected, errors)

    def _load_tree(
        self, state_dict, prefix, metadata, assign, missing, unexpected, errors, strict
    ) -> None:
        local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local_metadata["assign_to_params_buffers"] = assign
        self._load_from_state_dict(
            state_dict,
            prefix,
            local_metadata,
            # Unexpected keys are always collected here, and judged at the top.
            True,
            missing,
            unexpected,
            errors,
        )
        for name, child in self._modules.items():
            if child is not None:
                child_prefix = f"{prefix}{name}."
                below = {
                    k: v for k, v in state_dict.items() if k.startswith(child_prefix)
                }
                child._load_tree(
                    below,
                    child_prefix,
                    metadata,
                    assign,
                    missing,
                    unexpected,
                    errors,
                    strict,
                )
        incompatible = _IncompatibleKeys(missing, unexpected)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, incompatible) is not None:
                raise AssertionError(
                    "Hooks registered with "
                    "``register_load_state_dict_post_hook`` are not expected "
                    "to return new values, if incompatible_keys need to be "
                    "modified, it should be done inplace."
                )

    def _load_from_state_dict(
        self,
        state_dict,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list,
        unexpected_keys: list,
        error_msgs: list,
    ) -> None:
        """Loads this module's own state; children are loaded by the caller.

        Problems are appended to the three lists, never raised.
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, target in self._local_state().items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            value = state_dict[key]
            # Objects that override torch's functions load in those.
            if not (
                isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")
            ):
                error_msgs.append(
                    f'While copying the parameter named "{key}", expected '
                    "torch.Tensor or Tensor-like object from checkpoint but "
                    f"received {type(value)}"
                )
                continue
            if is_lazy(target):
                # Its shape is what was not told here either.
                self._load_tensor(name, key, target, value, assign, error_msgs)
                continue
            # Scalars were one-element vectors in archives before PyTorch 0.4.
            if target.dim() == 0 and tuple(value.shape) == (1,):
                value = value[0]
            if value.shape != target.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape "
                    f"{value.shape} from checkpoint, the shape in current "
                    f"model is {target.shape}."
                )
                continue
            self._load_tensor(name, key, target, value, assign, error_msgs)
        self._load_extra_state(
            state_dict, prefix, strict, missing_keys, unexpected_keys
        )
        if strict:
            self._find_unexpected(state_dict, prefix, unexpected_keys)

    def _load_tensor(self, name, key, target, value, assign, error_msgs) -> None:
        swaps = hotaru.__future__.get_swap_module_params_on_conversion()
        try:
            with no_grad():
                if swaps:
                    if not assign:
                        _warn_meta(key, target, value)
                    _swap_in(target, value, assign)
                    return
                if not assign:
                    _warn_meta(key, target, value)
                    target.copy_(value)
                    return
                if isinstance(target, Parameter):
                    if not isinstance(value, Parameter):
                        value = Parameter(value, requires_grad=target.requires_grad)
                    else:
                        value.requires_grad_(target.requires_grad)
                setattr(self, name, value)
        except Exception as error:
            doing = "swapping" if swaps else "copying"
            error_msgs.append(
                f'While {doing} the parameter named "{key}", whose dimensions '
                f"in the model are {target.size()} and whose dimensions in the "
                f"checkpoint are {value.size()}, an exception occurred : "
                f"{error.args}."
            )

    def _load_extra_state(
        self, state_dict, prefix, strict, missing_keys, unexpected_keys
    ) -> None:
        key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateMixin.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _find_unexpected(self, state_dict, prefix: str, unexpected_keys: list) -> None:
        known = self._local_state()
        for key in state_dict:
            if not key.startswith(prefix) or key == prefix + _EXTRA_STATE_KEY_SUFFIX:
                continue
            name, dot, _ = key[len(prefix) :].partition(".")
            if dot:
                if name not in self._modules:
                    unexpected_keys.append(key)
            elif name not in known:
                unexpected_keys.append(key)


def _warn_meta(key: str, target: Tensor, value: Tensor) -> None:
    """Says that a value goes nowhere: the module is on the meta device."""
    if target.is_meta and not value.is_meta:
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint "
            "to a meta parameter in the current model, which is a no-op. (Did "
            "you mean to pass `assign=True` to assign items in the state "
            "dictionary to their corresponding key in the module instead of "
            "copying them in place?)",
            stacklevel=2,
        )


def _swap_in(target: Tensor, value: Tensor, assign: bool) -> None:
    """Makes `target` what `module_load` makes of it and the value."""
    new = target.module_load(value, assign=assign)
    if new is value or new is target:
        raise RuntimeError(
            "module_load returned one of self or other, please .detach() the "
            "result if returning one of the inputs in module_load"
        )
    if isinstance(target, Parameter):
        if isinstance(new, Parameter):
            new.requires_grad_(target.requires_grad)
        else:
            new = Parameter(new, requires_grad=target.requires_grad)
    swap_tensors(target, new)


class _BoundHook:
    """A load hook that also receives its module, which it refers to weakly;
    picklable and copyable.
    """

    def __init__(self, hook, module) -> None:
        functools.update_wrapper(self, hook)
        self.hook = hook
        self.module = weakref.ref(module)

    def __call__(self, *args):
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __getstate__(self) -> dict:
        return {"hook": self.hook, "module": self.module()}

    def __setstate__(self, state: dict) -> None:
        if state["module"] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        self.hook = state["hook"]
        self.module = weakref.ref(state["module"])


def _extra_state_text(verb: str) -> str:
    return (
        f"Module.{verb}_extra_state() was reached without an override: define "
        "both get_extra_state() and set_extra_state(), or neither."
    )


def _is_mapping(value) -> bool:
    return isinstance(value, dict) or (
        hasattr(value, "keys") and hasattr(value, "__getitem__")
    )


def _key_list(what: str, keys: list) -> str:
    names = ", ".join(f'"{key}"' for key in keys)
    return f"{what} key(s) in state_dict: {names}. "
