"""Groups of parameters and their state, as optimizers and files hold them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from .. import Tensor, float32


class _Required:
    """Marks an option that has no default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def split_names(group: dict) -> None:
    """Turns pairs of name and parameter into "params" and "param_names"."""
    params = group["params"]
    named = [isinstance(param, tuple) for param in params]
    if not any(named):
        return
    if not all(named):
        raise ValueError(
            "all optimizer params should be with/without names. "
            "Some param names are missing"
        )
    group["params"] = [param for _, param in params]
    group["param_names"] = [name for name, _ in params]


def packed(state: dict, groups: list[dict]) -> dict:
    """State and groups with parameters as numbers in their order."""
    numbers: dict = {}
    found = []
    for group in groups:
        options = {name: v for name, v in group.items() if name != "params"}
        # A parameter that is there twice has its last number.
        new = [param for param in group["params"] if id(param) not in numbers]
        numbers.update({id(param): i for i, param in enumerate(new, len(numbers))})
        options["params"] = [numbers[id(param)] for param in group["params"]]
        found.append(options)
    by_number = {
        numbers[id(key)] if isinstance(key, Tensor) else key: value
        for key, value in state.items()
    }
    return {"state": by_number, "param_groups": found}


def restored(state: dict, groups: list[dict], present: list[dict]) -> dict:
    """The packed state for the parameters present, which `groups` get.

    Raises:
        ValueError: other groups, or groups of another size.
    """
    if len(groups) != len(present):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, present)):
        raise ValueError(
            "loaded state dict contains a parameter group that doesn't match "
            "the size of optimizer's group"
        )
    owners = {}
    for group, old in zip(groups, present):
        # The count of steps is on the device where these options need it.
        on_device = bool(group.get("capturable") or group.get("fused"))
        for number, param in zip(group["params"], old["params"]):
            owners[number] = param, on_device
        group["params"] = old["params"]
        if "param_names" in old:
            group.setdefault("param_names", old["param_names"])
    result = defaultdict(dict)
    for key, value in state.items():
        if key in owners:
            result[owners[key][0]] = _fit(value, *owners[key])
        else:
            result[key] = value
    return result


def _fit(value, param: Tensor, on_device: bool, name: str | None = None):
    """Saved state with the dtype and device of its parameter.

    Tensors that have them already are shared, as in PyTorch.
    """
    if isinstance(value, Tensor):
        if name == "step":
            if on_device:
                return value.to(dtype=float32, device=param.device)
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _fit(v, param, on_device, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_fit(v, param, on_device) for v in value)
    return value
