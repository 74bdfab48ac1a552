"""Cases of how optimizers are used: hooks, files, copies, groups, gradients."""

from __future__ import annotations

import copy
import importlib
import io
import pickle

import optim_scope
from optim_scope import closure_of, train

CASES = {}

_DIFFERENTIABLE = (
    "Adadelta(params, differentiable=True, weight_decay=0.1)",
    "Adagrad(params, differentiable=True, weight_decay=0.1, lr_decay=0.1)",
    "Adam(params, differentiable=True, weight_decay=0.1)",
    "AdamW(params, lr=rate, differentiable=True)",
    "Adamax(params, differentiable=True, weight_decay=0.1)",
    "ASGD(params, differentiable=True, t0=1, weight_decay=0.1)",
    "NAdam(params, differentiable=True, weight_decay=0.1)",
    "RAdam(params, differentiable=True, betas=(0.5, 0.99))",
    "RMSprop(params, differentiable=True, centered=True, momentum=0.5)",
    "Rprop(params, differentiable=True)",
    "SGD(params, lr=rate, differentiable=True, momentum=0.9)",
    "SGD(params, lr=rate, differentiable=True)",
    "Adam(params, lr=rate, differentiable=True)",
    "Adam(params, betas=(rate, rate * 2), differentiable=True)",
    "RAdam(params, lr=rate, differentiable=True)",
    "SGD(params, lr=0.1, weight_decay=rate, differentiable=True)",
)

# Expressions of a fresh optimizer `opt` and of `file`, its state after steps.
_LOADED = (
    "{**file, 'param_groups': [{'params': [0, 1], 'lr': 0.5}]}",
    "{**file, 'param_groups': [{'params': [0]}]}",
    "{**file, 'state': {**file['state'], 'x': 3}}",
    "{'state': {}, 'param_groups': file['param_groups'] * 2}",
)
# Files of old versions, in which steps are numbers.
_OLD = "{'state': {0: {'step': 3, 'z': [1]}}, 'param_groups': file['param_groups']}"


def case(function):
    """Registers a case under its name."""
    CASES[function.__name__] = function
    return function


def _differentiable(text: str):
    def run(lib):
        values = optim_scope.params(lib)
        rate = lib.tensor(0.1, requires_grad=True)
        moved = [value.clone() for value in values]
        scope = optim_scope.scope(lib, params=moved, rate=rate)
        optimizer = eval(f"optim.{text}", scope)
        for _ in range(3):
            for value in moved:
                value.grad = value.detach() * 2 - 0.3
            optimizer.step()
        sum((value**2).sum() for value in moved).backward()
        return [value.grad for value in values], moved, rate.grad

    return run


def _loaded(text: str, name: str):
    def run(lib):
        values = optim_scope.params(lib)
        optimizer = getattr(lib.optim, name)(values)
        train(lib, optimizer, values)
        scope = {"file": optimizer.state_dict()}
        twin = getattr(lib.optim, name)(values)
        twin.load_state_dict(eval(text, scope))
        return twin, twin.state_dict()

    return run


for _text in _DIFFERENTIABLE:
    CASES[f"differentiable: {_text}"] = _differentiable(_text)
for _text in _LOADED:
    for _name in ("Adam", "AdamW", "SGD", "NAdam", "ASGD", "RMSprop"):
        CASES[f"{_name} loads {_text}"] = _loaded(_text, _name)
for _name in ("Adam", "AdamW", "Adagrad", "RMSprop"):
    CASES[f"{_name} loads {_OLD}"] = _loaded(_OLD, _name)


def _optimizer_module(lib):
    # In PyTorch it is no attribute of the package.
    return importlib.import_module(f"{lib.__name__}.optim.optimizer")


def _trained(lib, name: str = "Adam", **options):
    values = optim_scope.params(lib)
    optimizer = getattr(lib.optim, name)(values, lr=0.1, **options)
    train(lib, optimizer, values)
    return optimizer, values


@case
def hooks_of_all_optimizers(lib):
    log = []
    register = _optimizer_module(lib)
    handles = [
        register.register_optimizer_step_pre_hook(
            lambda o, a, k: log.append(("all before", type(o).__name__, a, k))
        ),
        register.register_optimizer_step_post_hook(
            lambda o, a, k: log.append("all after")
        ),
    ]
    optimizer, _ = _trained(lib)
    optimizer.register_step_pre_hook(lambda o, a, k: log.append("own before"))
    optimizer.register_step_post_hook(lambda o, a, k: log.append("own after"))
    optimizer.step()
    for handle in handles:
        handle.remove()
    optimizer.step()
    return log


@case
def hook_changes_arguments(lib):
    optimizer, _ = _trained(lib)
    calls = []

    def closure():
        calls.append(1)
        return lib.tensor(3.0)

    optimizer.register_step_pre_hook(lambda o, a, k: ((o, closure), {}))
    return optimizer.step(), len(calls)


@case
def hook_returns_nonsense(lib):
    optimizer, _ = _trained(lib)
    optimizer.register_step_pre_hook(lambda o, a, k: 3)
    try:
        optimizer.step()
    except RuntimeError as error:
        return str(error).split("> ")[-1]


@case
def hooks_of_states(lib):
    log = []
    optimizer, _ = _trained(lib, "SGD")

    def saving(o):
        log.append("saving")

    def saved(o, state):
        log.append(sorted(state))
        return {**state, "more": 1}

    def loading(o, state):
        log.append(sorted(state))
        return {key: state[key] for key in ("state", "param_groups")}

    optimizer.register_state_dict_pre_hook(saving)
    optimizer.register_state_dict_post_hook(saved)
    optimizer.register_state_dict_pre_hook(lambda o: log.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(
        lambda o, s: log.append("first of after"), prepend=True
    )
    optimizer.register_load_state_dict_pre_hook(loading)
    optimizer.register_load_state_dict_post_hook(lambda o: log.append("loaded"))
    optimizer.register_load_state_dict_pre_hook(
        lambda o, s: log.append("first of load"), prepend=True
    )
    optimizer.load_state_dict(optimizer.state_dict())
    return log


@case
def hooks_of_a_class_that_calls_its_base(lib):
    class Twice(lib.optim.SGD):
        def step(self, closure=None):
            super().step(closure)
            return super().step(closure)

    log = []
    values = optim_scope.params(lib)
    optimizer = Twice(values, lr=0.1)
    optimizer.register_step_post_hook(lambda o, a, k: log.append(len(log)))
    moved = train(lib, optimizer, values, 2)
    return log[-1], moved


@case
def pickled_and_copied(lib):
    found = []
    for name in ("Adam", "SGD", "Adagrad", "Adafactor", "NAdam"):
        optimizer, _ = _trained(lib, name)
        optimizer.register_step_post_hook(_nothing)
        for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
            values = twin.param_groups[0]["params"]
            train(lib, twin, values, 2)
            found.append([twin, twin.defaults, twin.state_dict(), values])
    return found


def _nothing(optimizer, args, kwargs):
    return None


@case
def saved_in_a_file(lib):
    optimizer, values = _trained(lib, "Adam", amsgrad=True)
    file = io.BytesIO()
    lib.save(optimizer.state_dict(), file)
    file.seek(0)
    twin = lib.optim.Adam(values, lr=1.0)
    twin.load_state_dict(lib.load(file))
    return twin, train(lib, twin, values)


@case
def state_of_another_dtype(lib):
    optimizer, _ = _trained(lib)
    values = optim_scope.params(lib, "float64")
    twin = lib.optim.Adam(values)
    twin.load_state_dict(optimizer.state_dict())
    return twin.state_dict()["state"]


@case
def steps_of_doubles(lib):
    before = lib.get_default_dtype()
    lib.set_default_dtype(lib.float64)
    try:
        states = []
        for options in ({}, {"fused": True}):
            optimizer, _ = _trained(lib, **options)
            states.append(optimizer.state_dict()["state"])
        return states
    finally:
        lib.set_default_dtype(before)


@case
def groups_of_their_own(lib):
    values = optim_scope.params(lib)
    optimizer = lib.optim.Adam(
        [
            {"params": values[:1], "lr": 0.3, "betas": (0.5, 0.6)},
            {"params": values[1:], "weight_decay": 0.1, "amsgrad": True},
        ],
        lr=0.1,
    )
    return train(lib, optimizer, values), optimizer.state_dict(), optimizer


@case
def named_parameters(lib):
    values = optim_scope.params(lib)
    optimizer = lib.optim.Adam([("a", values[0])], lr=0.1)
    optimizer.add_param_group({"params": [("b", values[1])], "lr": 0.2})
    saved = optimizer.state_dict()
    for group, names in zip(saved["param_groups"], (["x"], ["y"])):
        group["param_names"] = names
    optimizer.load_state_dict(saved)
    found = [optimizer.state_dict()]
    for group in saved["param_groups"]:
        del group["param_names"]
    optimizer.load_state_dict(saved)
    return [*found, optimizer.state_dict(), optimizer]


@case
def shared_twice(lib):
    w = lib.nn.Parameter(lib.ones(2))
    return lib.optim.SGD([w, w]).state_dict()["param_groups"][0]["params"]


@case
def updated_twice(lib):
    found = []
    for name in ("Adam", "RMSprop", "SGD"):
        w = lib.nn.Parameter(lib.ones(2))
        w.grad = lib.tensor([0.5, 2.0])
        optimizer = getattr(lib.optim, name)([w, w], lr=0.1)
        optimizer.step()
        found.append([w, list(optimizer.state.values())])
    return found


@case
def closure_of_all(lib):
    found = []
    for name in ("Adadelta", "Adafactor", "Adam", "Rprop", "SGD", "SparseAdam"):
        values = optim_scope.params(lib)
        optimizer = getattr(lib.optim, name)(values)

        def closure(values=values):
            recording = lib.is_grad_enabled()
            return (values[0] ** 2).sum().detach(), recording

        with lib.no_grad():
            found.append(optimizer.step(closure))
    return found


@case
def lbfgs_goes_on(lib):
    values = optim_scope.params(lib)
    optimizer = lib.optim.LBFGS(values, lr=0.3, max_iter=4)
    losses = [optimizer.step(closure_of(lib, optimizer, values))]
    saved = copy.deepcopy(optimizer.state_dict())
    others = [lib.nn.Parameter(value.detach().clone()) for value in values]
    twin = lib.optim.LBFGS(others, lr=0.3, max_iter=4)
    twin.load_state_dict(saved)
    losses.append(twin.step(closure_of(lib, twin, others)))
    losses.append(optimizer.step(closure_of(lib, optimizer, values)))
    return losses, values, others


@case
def fused_beside_a_frozen_parameter(lib):
    values = optim_scope.params(lib)
    frozen = lib.nn.Parameter(lib.tensor([1, 2]), requires_grad=False)
    optimizer = lib.optim.Adam([*values, frozen], fused=True)
    moved = train(lib, optimizer, values)
    frozen.grad = lib.ones_like(frozen)
    try:
        optimizer.step()
    except RuntimeError as error:
        return moved, str(error)


@case
def scaled_losses(lib):
    found = []
    for name in ("Adam", "AdamW", "SGD", "Adagrad"):
        values = optim_scope.params(lib)
        optimizer = getattr(lib.optim, name)(values, lr=0.1, fused=True)
        for overflow in (0.0, 1.0, 0.0):
            optimizer.grad_scale = lib.tensor(4.0)
            optimizer.found_inf = lib.tensor(overflow)
            for value in values:
                value.grad = lib.ones_like(value) * 4
            optimizer.step()
        del optimizer.grad_scale, optimizer.found_inf
        amp = optimizer._step_supports_amp_scaling
        found.append([values, optimizer.state_dict()["state"], amp])
    return found


@case
def names_that_libraries_import(lib):
    names = _optimizer_module(lib)
    one = lib.ones(1)
    return (
        names.ParamsT is not None,
        names._get_value(one * 3),
        names._get_value(4),
        names._to_scalar(one),
        names._get_scalar_dtype(),
        names._default_to_fused_or_foreach([one], False, True),
        names._default_to_fused_or_foreach([one], True, True),
        names._default_to_fused_or_foreach([one.long()], False, True),
        names._get_capturable_supported_devices(),
        names._get_capturable_supported_devices(supports_xla=False),
        sorted(lib.optim.__all__),
    )


@case
def complex_parts(lib):
    values = optim_scope.params(lib, "complex64")
    lists = [list(values), [value.detach() for value in values]]
    _optimizer_module(lib)._view_as_real(*lists)
    return lists


def _swap(lib, values: dict, change=None):
    optimizer, own = _trained(lib)
    saved = copy.deepcopy(optimizer.state_dict())
    saved["param_groups"][0]["lr"] = 0.7
    if change is not None:
        saved = change(saved)
    swap = lib.optim.swap_in_optimizer_params_and_state
    with swap(optimizer, values, saved):
        for value in values.values():
            value.grad = lib.ones_like(value)
        optimizer.step()
        optimizer.param_groups[0]["lr"] = 8.0
        inside = optimizer.state_dict()
    return inside, values, own, optimizer, optimizer.state_dict(), saved


@case
def swapped_in(lib):
    return _swap(lib, {"a": lib.ones(2, 3), "b": lib.ones(3)})


for _name, _change in {
    "no dict": lambda s: 3,
    "no state": lambda s: {},
    "no groups": lambda s: {"state": {}},
    "other groups": lambda s: {**s, "param_groups": []},
    "groups of numbers": lambda s: {**s, "param_groups": [3]},
    "empty groups": lambda s: {**s, "param_groups": [{}]},
    "other options": lambda s: {
        **s,
        "param_groups": [{"params": [0, 1], "lr": 1, "x": 2}],
    },
    "too many": lambda s: {**s, "param_groups": [{"params": [0, 1, 2]}]},
    "more state": lambda s: {**s, "state": {7: {}}},
    "state of numbers": lambda s: {**s, "state": {0: 3}},
}.items():
    CASES[f"swapped in: {_name}"] = lambda lib, change=_change: _swap(
        lib, {"a": lib.ones(2, 3), "b": lib.ones(3)}, change
    )
CASES["swapped in: too few"] = lambda lib: _swap(lib, {"a": lib.ones(2, 3)})
