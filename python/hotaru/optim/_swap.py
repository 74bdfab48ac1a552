"""Steps on other parameters and state than an optimizer's own."""

from __future__ import annotations

import contextlib
from collections import defaultdict

from .optimizer import Optimizer

_NAME = "swap_in_optimizer_params_and_state"


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict, swapin_optim_state: dict
):
    """A context in which an optimizer has other parameters and state.

    Unlike `load_state_dict` it replaces the parameters, too, and what the
    optimizer had comes back at the end. Steps change the tensors given in
    place; what else is done to groups and state is forgotten.

    Args:
        optimizer: has made a step, so that there is state.
        swapin_parameters: mapping to the tensors to use, in the order of the
            optimizer's parameters.
        swapin_optim_state: as `optimizer.state_dict()` gives it.

    Raises:
        RuntimeError: state of another form, or not for these groups.
    """
    if not optimizer.state:
        raise RuntimeError(f"{_NAME} requires initialized optimizer state.")
    state = _field(
        swapin_optim_state,
        "state",
        dict,
        "a dict mapping packed parameter ids to per-param state dicts",
    )
    groups = _field(
        swapin_optim_state, "param_groups", list, "a list of param-group dicts"
    )
    live = optimizer.param_groups
    _check_groups(groups, live)
    tensors = list(swapin_parameters.values())
    if len(tensors) < sum(len(group["params"]) for group in live):
        raise RuntimeError(
            f"{_NAME} requires the explicit parameter state to match "
            "optimizer.param_groups ordering."
        )
    owners = dict(zip(_numbers(groups), tensors))
    _check_state(state, owners)
    before = optimizer.state, [dict(group) for group in live]
    try:
        optimizer.state = defaultdict(dict)
        for number, value in state.items():
            optimizer.state[owners[number]] = dict(value)
        for group, given in zip(live, groups):
            group.update(given)
            group["params"] = [owners[number] for number in given["params"]]
        yield
    finally:
        optimizer.state, own = before
        for group, options in zip(live, own):
            group.clear()
            group.update(options)


def _field(given: dict, name: str, kind: type, what: str):
    if not isinstance(given, dict):
        raise RuntimeError(f"{_NAME} requires a DCP-style optimizer state_dict.")
    value = given.get(name)
    if not isinstance(value, kind):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['{name}'] to be {what}, got "
            f"{type(value).__name__}."
        )
    return value


def _check_groups(groups: list[dict], live: list[dict]) -> None:
    if len(groups) != len(live):
        raise RuntimeError(
            "swapin_optim_state has a different number of parameter groups "
            "than the live optimizer."
        )
    for i, (given, own) in enumerate(zip(groups, live)):
        if not isinstance(given, dict):
            raise RuntimeError(
                f"{_NAME} requires each optimizer param group to be a dictionary."
            )
        if not isinstance(given.get("params"), (list, tuple)):
            raise RuntimeError(
                f"{_NAME} requires optimizer.state_dict()-style "
                "param_groups[*]['params'] entries keyed by packed parameter "
                "ids."
            )
        if len(given["params"]) != len(own["params"]):
            raise RuntimeError(
                f"swapin_optim_state param group {i} has a different number of "
                "params than the live optimizer param group."
            )
        if given.keys() != own.keys():
            raise RuntimeError(
                f"{_NAME} requires optimizer.state_dict()-style param group "
                "keys to exactly match the live optimizer group keys for group "
                f"{i}. Keys only in swap-in: "
                f"{[name for name in given if name not in own]}. Keys only in "
                f"live: {[name for name in own if name not in given]}."
            )


def _check_state(state: dict, owners: dict) -> None:
    extra = [number for number in state if number not in owners]
    if extra:
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be keyed only by "
            "packed parameter ids from param_groups[*]['params']; got extra "
            f"keys {extra}."
        )
    if not all(isinstance(value, dict) for value in state.values()):
        raise RuntimeError(
            f"{_NAME} requires per-parameter optimizer state entries to be "
            "dictionaries."
        )


def _numbers(groups: list[dict]) -> list:
    return [number for group in groups for number in group["params"]]
