"""States of models and optimizers under names that don't depend on how they
are spread over processes.

Wrappers (DistributedDataParallel, compiled modules, checkpointed ones) leave
no trace in the names; parameters of an optimizer are named as the model's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ... import Tensor, no_grad, zeros_like
from ...nn import Module
from ...optim import Optimizer
from ...utils import _pytree
from ..groups import get_rank, get_world_size, is_initialized
from ..objects import broadcast_object_list
from ..tensor import DTensor, distribute_tensor

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]

_WRAPPERS = ("module", "_orig_mod", "_checkpoint_wrapped_module")


@dataclass
class StateDictOptions:
    """How states are given and taken.

    full_state_dict: DTensors become whole tensors. cpu_offload: they are in the
    CPU's memory (whole ones on rank 0 only, if there are several ranks).
    ignore_frozen_params: parameters without gradients are left out. strict: as
    `Module.load_state_dict`. broadcast_from_rank0: what is set is rank 0's;
    others' states are not looked at. flatten_optimizer_state_dict: an
    optimizer's state as one level of names.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _checked(
    options: StateDictOptions | None, submodules: set | None = None
) -> StateDictOptions:
    options = options or StateDictOptions()
    if options.broadcast_from_rank0 and not options.full_state_dict:
        raise ValueError(
            "full_state_dict must be True when broadcast_from_rank0 is True."
        )
    if submodules or not options.keep_submodule_prefixes:
        raise NotImplementedError(
            "state_dict: of a submodule call it with that submodule "
            "(`submodules` and keep_submodule_prefixes=False are not there)"
        )
    return options


def _plain_name(name: str, model: Module) -> str:
    """Without the attributes by which wrappers have what they wrap."""
    found, place = [], model
    for part in name.split("."):
        wrapper = part in _WRAPPERS and _wraps(place, part)
        if not wrapper:
            found.append(part)
        place = getattr(place, part, None)
    return ".".join(found)


def _wraps(module: Any, part: str) -> bool:
    if part != "module":
        return True
    from ...nn.parallel import DataParallel, DistributedDataParallel

    return isinstance(module, (DataParallel, DistributedDataParallel))


def _names_of(model: Module) -> dict[int, str]:
    """Names of all parameters, by their ids."""
    return {
        id(param): _plain_name(name, model)
        for name, param in model.named_parameters(remove_duplicate=False)
    }


def _reshard(model: Module) -> None:
    from ..fsdp import FSDPModule

    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.reshard()


def _offered(value: Any, options: StateDictOptions) -> Any:
    """As the options want it: None for what another rank gives."""
    if isinstance(value, DTensor):
        if options.full_state_dict:
            value = value.full_tensor()
        elif options.cpu_offload:
            return DTensor(value._local_tensor.cpu(), value._spec)
    if isinstance(value, Tensor):
        value = value.detach()
        return value.cpu() if options.cpu_offload else value
    return value


def _is_left_out(options: StateDictOptions) -> bool:
    return (
        options.full_state_dict
        and options.cpu_offload
        and is_initialized()
        and get_world_size() > 1
        and get_rank() != 0
    )


@no_grad()
def get_model_state_dict(
    model: Module,
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:
    """The model's state by plain names.

    Every rank calls it. With `full_state_dict` and `cpu_offload` ranks other
    than 0 get an empty one.
    """
    options = _checked(options, submodules)
    _reshard(model)
    frozen = {
        _plain_name(name, model)
        for name, param in model.named_parameters(remove_duplicate=False)
        if not param.requires_grad
    }
    found = {}
    for name, value in model.state_dict().items():
        plain = _plain_name(name, model)
        if options.ignore_frozen_params and plain in frozen:
            continue
        found[plain] = _offered(value, options)
    return {} if _is_left_out(options) else found


@no_grad()
def set_model_state_dict(
    model: Module,
    model_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
):
    """Loads a state by plain names; whole tensors are cut where the model's
    parameters are. Returns the missing and unexpected keys.
    """
    options = _checked(options)
    _reshard(model)
    given = _from_rank0(model_state_dict, options)
    taken, known = {}, model.state_dict()
    for name, own in known.items():
        plain = _plain_name(name, model)
        if plain in given:
            taken[name] = _cut_like(given[plain], own)
    names = {_plain_name(name, model) for name in known}
    taken.update({k: v for k, v in given.items() if k not in names})
    if options.ignore_frozen_params:
        for name, param in model.named_parameters():
            if not param.requires_grad:
                taken.setdefault(name, param.detach())
    # Without memory there is nothing to copy into.
    without = any(isinstance(v, Tensor) and v.is_meta for v in known.values())
    return model.load_state_dict(taken, strict=options.strict, assign=without)


def _from_rank0(state: Any, options: StateDictOptions) -> Any:
    if not options.broadcast_from_rank0 or not is_initialized():
        return state
    sent = [state if get_rank() == 0 else None]
    broadcast_object_list(sent, src=0)
    return sent[0]


def _cut_like(value: Any, own: Any) -> Any:
    """A whole tensor in the placements of a DTensor."""
    if (
        isinstance(own, DTensor)
        and isinstance(value, Tensor)
        and not isinstance(value, DTensor)
    ):
        return distribute_tensor(
            value.detach(), own.device_mesh, own.placements, src_data_rank=None
        )
    return value


@no_grad()
def _init_optim_state(optimizer: Optimizer) -> None:
    """Has the optimizer make its state, by a step that changes nothing."""
    if optimizer.state:
        return
    params = [p for group in optimizer.param_groups for p in group["params"]]
    if any(p.grad is not None for p in params):
        raise RuntimeError(
            "state_dict can only be used if the optimizer states are "
            "initialized (usually after one step() with gradients) or "
            "gradients are None. For the later case, state_dict will fake the "
            "gradients as zero to initialize the optimizer states. "
            "However, the gradients are not None."
        )
    rates = []
    for group in optimizer.param_groups:
        rates.append(group.get("lr"))
        if "lr" in group:
            rate = group["lr"]
            group["lr"] = zeros_like(rate) if isinstance(rate, Tensor) else 0.0
    for param in params:
        if param.requires_grad:
            param.grad = zeros_like(param)
    optimizer.step()
    for group, rate in zip(optimizer.param_groups, rates):
        if "lr" in group:
            group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def _listed(optimizers) -> list[Optimizer]:
    if isinstance(optimizers, Optimizer):
        return [optimizers]
    return list(optimizers)


@no_grad()
def get_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:
    """The optimizers' states, by the model's names of parameters:
    {"state": {name: ...}, "param_groups": [{"params": names, ...}]}.
    """
    options = _checked(options, submodules)
    _reshard(model)
    names = _names_of(model)
    found: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in _listed(optimizers):
        _init_optim_state(optimizer)
        for group in optimizer.param_groups:
            params = [
                p
                for p in group["params"]
                if p.requires_grad or not options.ignore_frozen_params
            ]
            rest = {k: v for k, v in group.items() if k != "params"}
            found["param_groups"].append(
                {"params": [names[id(p)] for p in params], **rest}
            )
            for param in params:
                if param in optimizer.state:
                    found["state"][names[id(param)]] = _pytree.tree_map(
                        lambda v: _offered(v, options), dict(optimizer.state[param])
                    )
    if _is_left_out(options):
        return {}
    if options.flatten_optimizer_state_dict:
        return _flattened(found)
    return found


def _flattened(state: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, values in state["state"].items():
        for key, value in values.items():
            found[f"state.{name}.{key}"] = value
    for group in state["param_groups"]:
        for name in group["params"]:
            for key, value in group.items():
                if key != "params":
                    found[f"param_groups.{name}.{key}"] = value
    return found


@no_grad()
def set_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Loads what `get_optimizer_state_dict` gave.

    Raises:
        RuntimeError: with `strict`, a parameter of which the state is missing.
    """
    options = _checked(options)
    _reshard(model)
    names = _names_of(model)
    given = _from_rank0(optim_state_dict, options)
    for optimizer in _listed(optimizers):
        _init_optim_state(optimizer)
        _take(optimizer, names, _grouped(given, optimizer, names), options)


def _grouped(
    given: dict[str, Any], optimizer: Optimizer, names: dict[int, str]
) -> dict[str, Any]:
    """A state of one level, as the optimizer has it."""
    if "param_groups" in given and "state" in given:
        return given
    state: dict[str, dict] = {}
    groups = []
    for group in optimizer.param_groups:
        listed = [names[id(p)] for p in group["params"]]
        for param, name in zip(group["params"], listed):
            for key in optimizer.state.get(param, {}):
                if f"state.{name}.{key}" in given:
                    state.setdefault(name, {})[key] = given[f"state.{name}.{key}"]
        options = {
            key: given[f"param_groups.{listed[0]}.{key}"]
            for key in group
            if listed and f"param_groups.{listed[0]}.{key}" in given
        }
        groups.append({"params": listed, **options})
    return {"state": state, "param_groups": groups}


def _take(
    optimizer: Optimizer,
    names: dict[int, str],
    given: dict[str, Any],
    options: StateDictOptions,
) -> None:
    by_name = {
        name: group
        for group in given.get("param_groups", [])
        for name in group["params"]
    }
    for group in optimizer.param_groups:
        for param in group["params"]:
            name, own = names[id(param)], optimizer.state.get(param)
            if own is None:
                continue
            if name not in given.get("state", {}):
                if options.strict and param.requires_grad:
                    raise RuntimeError(
                        f"Missing optimizer state for parameter {name} in checkpoint"
                    )
                continue
            for key, value in given["state"][name].items():
                _put(own, key, value)
        first = next(
            (by_name[names[id(p)]] for p in group["params"] if names[id(p)] in by_name),
            {},
        )
        group.update({k: v for k, v in first.items() if k != "params"})


def _put(own: dict, key: str, value: Any) -> None:
    """Into the optimizer's own tensors."""
    value = _cut_like(value, own.get(key))
    if isinstance(own.get(key), Tensor) and isinstance(value, Tensor):
        own[key].copy_(value)
    else:
        own[key] = value


def get_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both: the model's state, and the optimizers'."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(
            model, optimizers, submodules=submodules, options=options
        ),
    )


def set_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
):
    """Loads both; returns the model's missing and unexpected keys."""
    found = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return found
