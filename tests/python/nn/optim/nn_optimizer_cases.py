"""Cases of all optimizers: parameters and state after steps, state loaded."""

from __future__ import annotations

import copy

import optim_scope
from optim_scope import closure_of, train

CASES = {}

# Options of each optimizer; all are of float32 and complex64 parameters.
_OPTIONS = {
    "Adadelta": (
        "",
        "lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1",
        "maximize=True",
        "foreach=True, weight_decay=0.1",
        "lr=lib.tensor(0.5)",
    ),
    "Adagrad": (
        "fused=True",
        "foreach=True, lr_decay=0.1",
        "maximize=True, lr=lib.tensor(0.1)",
    ),
    "Adam": (
        "foreach=True, lr=0.1",
        "fused=True, lr=0.1, amsgrad=True, weight_decay=0.1",
        "lr=lib.tensor(0.1), weight_decay=0.1",
        "lr=lib.tensor([0.1]), amsgrad=True",
        "betas=(lib.tensor(0.8), lib.tensor(0.9))",
        "maximize=True, amsgrad=True, decoupled_weight_decay=True",
    ),
    "AdamW": (
        "fused=True, lr=0.1",
        "maximize=True, lr=lib.tensor(0.1)",
        "foreach=True, weight_decay=0",
    ),
    "Adamax": (
        "",
        "lr=0.1, betas=(0.5, 0.7), eps=1e-3, weight_decay=0.1",
        "maximize=True, foreach=True",
        "lr=lib.tensor(0.1)",
    ),
    "ASGD": (
        "",
        "lr=0.1, lambd=0.01, alpha=0.5, t0=2, weight_decay=0.1",
        "maximize=True, foreach=True, t0=0",
        "lr=lib.tensor(0.1), t0=1",
    ),
    "NAdam": (
        "",
        "lr=0.1, betas=(0.5, 0.7), eps=1e-3, momentum_decay=0.1",
        "weight_decay=0.1, maximize=True",
        "weight_decay=0.1, decoupled_weight_decay=True, foreach=True",
        "lr=lib.tensor(0.1), weight_decay=0.1, decoupled_weight_decay=True",
    ),
    "RAdam": (
        "",
        "lr=0.1, betas=(0.5, 0.99), eps=1e-3, weight_decay=0.1",
        "betas=(0.5, 0.7), maximize=True",
        "weight_decay=0.1, decoupled_weight_decay=True, foreach=True",
        "lr=lib.tensor(0.1)",
    ),
    "RMSprop": (
        "foreach=True, centered=True, weight_decay=0.1",
        "lr=lib.tensor(0.1), momentum=0.3, maximize=True",
    ),
    "Rprop": (
        "",
        "lr=0.3, etas=(0.3, 1.5), step_sizes=(0.02, 0.4)",
        "maximize=True, foreach=True",
        "lr=lib.tensor(0.1)",
    ),
    "SGD": (
        "fused=True, momentum=0.9, weight_decay=0.1",
        "foreach=True, lr=0.1, momentum=0.9, dampening=0.5, maximize=True",
        "lr=lib.tensor(0.1), weight_decay=lib.tensor(0.1)",
    ),
}
# Options of optimizers that take float32 parameters alone.
_REAL = {
    "Adafactor": (
        "",
        "lr=0.5, beta2_decay=-0.5, eps=(1e-3, 0.1), d=2.0, weight_decay=0.1",
        "lr=0.9, maximize=True",
        "lr=lib.tensor(0.3), foreach=True, weight_decay=0.1",
    )
}
# Muon's updates are rounded to bfloat16, so matrices alone, few digits.
_MUON = (
    "",
    "lr=0.1, weight_decay=0.01, momentum=0.5, nesterov=False",
    "lr=0.1, adjust_lr_fn='match_rms_adamw'",
    "lr=0.1, adjust_lr_fn='original', ns_steps=3, eps=1e-3",
    "lr=0.1, ns_coefficients=(2.0, -1.5, 0.5)",
)
_LBFGS = (
    "lr=0.1",
    "lr=0.5, max_iter=3",
    "lr=0.5, max_iter=5, history_size=2",
    "lr=1.0, max_iter=6, max_eval=4",
    "line_search_fn='strong_wolfe'",
    "lr=10.0, max_iter=3, line_search_fn='strong_wolfe'",
    "lr=50.0, max_iter=4, max_eval=3, line_search_fn='strong_wolfe'",
    "lr=50.0, max_iter=4, max_eval=5, line_search_fn='strong_wolfe'",
    "lr=0.5, tolerance_grad=0.5",
    "lr=0.5, tolerance_change=0.1",
    "lr=lib.tensor(0.5), max_iter=3",
)


def _make(lib, text: str, values):
    scope = optim_scope.scope(lib, params=values)
    return eval(f"optim.{text}", scope)


def _run(text: str, dtype: str = "float32"):
    """Steps, the state, and steps of an optimizer that has loaded it."""

    def run(lib):
        values = optim_scope.params(lib, dtype)
        optimizer = _make(lib, text, values)
        steps = 7 if text.startswith("RAdam") else 3
        found = train(lib, optimizer, values, steps)
        saved = copy.deepcopy(optimizer.state_dict())
        others = [lib.nn.Parameter(v.detach().clone()) for v in values]
        twin = _make(lib, text, others)
        twin.load_state_dict(saved)
        same = train(lib, twin, others, 1), train(lib, optimizer, values, 1)
        return found, saved, same

    return run


def _muon(options: str, shape):
    def run(lib):
        start = optim_scope.tensor(lib, *shape)
        value = lib.nn.Parameter(start.clone())
        optimizer = _make(lib, f"Muon([params], {options})", value)
        found = []
        for _ in range(2):
            optimizer.zero_grad()
            ((value - start.flip(0)) ** 2).sum().backward()
            optimizer.step()
            found.append((value.detach() * 50).round() / 50 + 0.0)
        return found, optimizer.state_dict()["param_groups"]

    return run


def _lbfgs(options: str, dtype: str):
    def run(lib):
        values = optim_scope.params(lib, dtype)
        optimizer = _make(lib, f"LBFGS(params, {options})", values)
        losses = []
        for _ in range(3):
            closure = closure_of(lib, optimizer, values)
            losses.append(optimizer.step(closure))
        state = optimizer.state_dict()["state"][0]
        counts = state["func_evals"], state["n_iter"]
        return losses, values, counts, sorted(state)

    return run


for _name, _texts in {**_OPTIONS, **_REAL}.items():
    for _options in _texts:
        _text = f"{_name}(params, {_options})"
        CASES[_text] = _run(_text)
        if _name in _OPTIONS and "fused" not in _options:
            CASES[f"complex: {_text}"] = _run(_text, "complex64")
        CASES[f"double: {_text}"] = _run(_text, "float64")
for _options in _MUON:
    for _shape in ((2, 3), (4, 2)):
        CASES[f"Muon {_shape}: {_options}"] = _muon(_options, _shape)
for _options in _LBFGS:
    CASES[f"LBFGS: {_options}"] = _lbfgs(_options, "float32")
CASES["LBFGS, complex"] = _lbfgs("lr=0.3, max_iter=3", "complex64")
