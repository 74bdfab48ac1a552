"""Cases of what optimizers refuse, and how they and their options print."""

from __future__ import annotations

import optim_scope

CASES = {}

_NAMES = (
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "ASGD",
    "LBFGS",
    "Muon",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
)

# For every optimizer. After construction follows a step.
_ALL = (
    "",
    "lr=-1",
    "lr=lib.ones(2)",
    "weight_decay=-1",
    "betas=(2, 0)",
    "betas=(0, 2)",
    "nonsense=1",
    "capturable=True",
    "foreach=True, differentiable=True",
)
_SOME = (
    "Adadelta([w], rho=2)",
    "Adadelta([w], eps=-1)",
    "Adafactor([w], beta2_decay=1)",
    "Adafactor([w], eps=(-1, 1))",
    "Adafactor([w], eps=(None, -1))",
    "Adafactor([w], d=0.5)",
    "Adafactor([c])",
    "Adagrad([w], fused=True, foreach=True)",
    "Adagrad([w], fused=True, differentiable=True)",
    "Adagrad([w], initial_accumulator_value=-1)",
    "Adagrad([c], fused=True)",
    "Adam([w], fused=True, foreach=True)",
    "Adam([w], fused=True, differentiable=True)",
    "Adam([c], fused=True)",
    "Adam([w], lr=lib.tensor(0.1), foreach=True)",
    "Adam([w], betas=(lib.tensor(0.9), 0.99))",
    "Adam([w], betas=(lib.tensor(0.9), lib.tensor(0.99)), foreach=True)",
    "AdamW([w], lr=lib.tensor(0.1), foreach=True)",
    "LBFGS([{'params': [w]}, {'params': [v]}])",
    "LBFGS([w], line_search_fn='z')",
    "Muon([v])",
    "Muon([c])",
    "Muon([w], momentum=-1)",
    "Muon([w], adjust_lr_fn='z')",
    "Muon([w], ns_steps=200)",
    "Muon([w], ns_coefficients=(1, 2))",
    "NAdam([w], momentum_decay=-1)",
    "Rprop([w], etas=(2, 0.5))",
    "SGD([w], fused=True, foreach=True)",
    "SGD([c], fused=True)",
    "SparseAdam([c])",
    "SparseAdam([w, c, c])",
    "SparseAdam([w], lr=0)",
    "SparseAdam([w], eps=0)",
    "SGD([('a', w), ('b', v)])",
    "SGD([{'params': [('a', w)]}, {'params': [v]}])",
    "SGD([{'params': [w]}, {'params': [('a', v)]}])",
    "SGD([w * 2])",
    "SGD([w, w])",
    "Adam([w * 2], differentiable=True)",
)

_FUNCTIONS = {
    "adadelta": "lr=1, rho=1, eps=1, weight_decay=0, maximize=False",
    "adagrad": "lr=1, weight_decay=0, lr_decay=0, eps=1, maximize=False",
    "adam": "amsgrad=False, beta1=0.9, beta2=0.9, lr=1, weight_decay=0, eps=1,"
    " maximize=False",
    "adamax": "eps=1, beta1=0, beta2=0, lr=1, weight_decay=0",
    "adamw": "amsgrad=False, beta1=0.9, beta2=0.9, lr=1, weight_decay=0, eps=1,"
    " maximize=False",
    "nadam": "beta1=0, beta2=0, lr=1, weight_decay=0, momentum_decay=0, eps=1",
    "radam": "beta1=0, beta2=0, lr=1, weight_decay=0, eps=1",
    "rmsprop": "lr=1, alpha=1, eps=1, weight_decay=0, momentum=0, centered=False",
    "rprop": "step_size_min=0, step_size_max=1, etaminus=0.1, etaplus=0.2",
}
_LISTS = {"adam": 3, "adamw": 3, "nadam": 3, "rmsprop": 3, "adagrad": 1}


def _step(text: str):
    def run(lib):
        w, v = optim_scope.params(lib)
        (c, _) = optim_scope.params(lib, "complex64")
        for value in (w, v, c):
            value.grad = lib.ones_like(value)
        scope = optim_scope.scope(lib, w=w, v=v, c=c)
        optimizer = eval(f"optim.{text}", scope)
        if text.startswith("LBFGS"):
            optimizer.step(lambda: (w.detach() ** 2).sum())
        else:
            optimizer.step()
        state = optimizer.state_dict()["state"]
        if text.startswith("LBFGS"):
            state = sorted(state[0].items())
        return optimizer, optimizer.defaults, state

    return run


def _function(name: str, steps: str):
    def run(lib):
        w = lib.ones(2)
        kept = [[lib.ones(2)] for _ in range(_LISTS.get(name, 2))]
        scope = optim_scope.scope(lib, w=w, kept=kept)
        function = getattr(lib.optim._functional, name)
        scope["function"] = function
        text = f"function([w], [w / 2], *kept, {steps}, {_FUNCTIONS[name]})"
        return eval(text, scope), w, kept

    return run


for _name in _NAMES:
    for _options in _ALL:
        if _name == "Muon" and not _options:
            continue  # its numbers are of few digits
        if _name == "SGD" and "foreach" in _options:
            continue  # PyTorch tells of the wrong thing
        _text = f"{_name}([w], {_options})"
        CASES[_text] = _step(_text)
for _text in _SOME:
    CASES[_text] = _step(_text)
for _name in _FUNCTIONS:
    CASES[f"{_name}, steps of tensors"] = _function(_name, "[lib.tensor(2.0)]")
    CASES[f"{_name}, steps of numbers"] = _function(_name, "[2]")
