"""Cases of optim: updates, state, schedules, errors."""

from __future__ import annotations

import copy

from outcomes import tensor

CASES = {}

_OPTIMIZERS = [
    "SGD(params)",
    "SGD(params, lr=0.1, momentum=0.9)",
    "SGD(params, 0.1, momentum=0.9, dampening=0.2, weight_decay=0.01)",
    "SGD(params, 0.1, momentum=0.9, nesterov=True, maximize=True)",
    "SGD(params, lr=lib.tensor(0.1))",
    "SGD([{'params': params[:1], 'lr': 0.5}, {'params': params[1:]}], lr=0.1)",
    "Adam(params)",
    "Adam(params, 0.1, (0.5, 0.7), 1e-3, 0.1, amsgrad=True)",
    "Adam(params, maximize=True)",
    "Adam(params, weight_decay=0.1, decoupled_weight_decay=True)",
    "AdamW(params)",
    "AdamW(params, lr=0.1, amsgrad=True, weight_decay=0.3)",
    "RMSprop(params)",
    "RMSprop(params, 0.1, 0.8, 1e-3, 0.1, 0.9, True)",
    "RMSprop(params, momentum=0.5, maximize=True)",
    "Adagrad(params)",
    "Adagrad(params, 0.1, 0.01, 0.1, 0.5)",
]

_SCHEDULES = [
    "StepLR(opt, 2)",
    "StepLR(opt, 3, gamma=0.5)",
    "MultiStepLR(opt, [2, 3, 3], gamma=0.5)",
    "ExponentialLR(opt, 0.9)",
    "ConstantLR(opt, 0.5, total_iters=3)",
    "LinearLR(opt)",
    "LinearLR(opt, 0.2, 0.8, 4)",
    "PolynomialLR(opt, 4, power=2.0)",
    "LambdaLR(opt, lambda epoch: 1 / (epoch + 1))",
    "MultiplicativeLR(opt, lambda epoch: 0.7)",
    "CosineAnnealingLR(opt, 3, eta_min=0.01)",
    "CosineAnnealingLR(opt, 10)",
    "OneCycleLR(opt, 0.5, total_steps=10)",
    "OneCycleLR(opt, 0.5, epochs=3, steps_per_epoch=3, anneal_strategy='linear',"
    " three_phase=True)",
    "OneCycleLR(opt, 0.5, total_steps=9, cycle_momentum=False, pct_start=0.5)",
]

_TEXTS = [
    *[
        f"optim.{name}({args})"
        for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")
        for args in (
            "params",
            "[]",
            "w",
            "[3]",
            "[w * 2]",
            "[w, w]",
            "[{'params': [w]}, {'params': [w]}]",
            "[{'params': {w}}]",
            "params, lr=-1",
            "params, weight_decay=-1",
            "params, foo=1",
            "[('a', w), ('b', v)]",
            "[('a', w), v]",
        )
    ],
    "optim.SGD(params, momentum=-1)",
    "optim.SGD(params, nesterov=True)",
    "optim.SGD(params, lr=lib.ones(2))",
    "optim.Adam(params, betas=(2, 0))",
    "optim.Adam(params, betas=(0, 2))",
    "optim.Adam(params, eps=-1)",
    "optim.RMSprop(params, alpha=-1)",
    "optim.RMSprop(params, momentum=-1)",
    "optim.Adagrad(params, lr_decay=-1)",
    "opt.add_param_group(3)",
    "opt.add_param_group({'params': [w]})",
    "opt.add_param_group({'params': lib.ones(2), 'lr': 3}), opt",
    "opt.load_state_dict({'state': {}, 'param_groups': []})",
    "opt.load_state_dict({'state': {}, 'param_groups': [{'params': [0]}]})",
    "opt.step(lambda: 3)",
    "optim.Adam([('a', w)]).state_dict()",
    "optim.lr_scheduler.StepLR(3, 2)",
    "optim.lr_scheduler.LambdaLR(opt, [1, 2])",
    "optim.lr_scheduler.OneCycleLR(opt, 0.1)",
    "optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=-1)",
    "optim.lr_scheduler.OneCycleLR(opt, [0.1, 0.2], total_steps=5)",
    "optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=5, anneal_strategy='z')",
    "optim.lr_scheduler.ReduceLROnPlateau(opt, factor=2)",
    "optim.lr_scheduler.ReduceLROnPlateau(opt, mode='z')",
    "optim.lr_scheduler.LinearLR(opt, 3)",
    "optim.lr_scheduler.ConstantLR(opt, 3)",
    "optim.lr_scheduler.StepLR(opt, 2).get_lr()",
    "optim.lr_scheduler.StepLR(opt, 2).get_last_lr()",
]


def _params(lib):
    return [
        lib.nn.Parameter(tensor(lib, 2, 3)),
        lib.nn.Parameter(tensor(lib, 3, start=9)),
    ]


def _complex_params(lib):
    return [
        lib.nn.Parameter(lib.complex(p.detach(), p.detach().flip(0) / 2))
        for p in _params(lib)
    ]


def _train(lib, optimizer, params, steps: int = 3):
    """A few steps on a loss whose gradients change; values after each."""
    values = []
    for _ in range(steps):
        optimizer.zero_grad()
        error = params[0] * params[1] - 0.3
        if error.is_complex():
            error = lib.view_as_real(error)
        loss = (error**2).sum()
        loss.backward()
        optimizer.step()
        values.append([p.detach().clone() for p in params])
    return values


def _updates(text: str, make=_params):
    def run(lib):
        params = make(lib)
        scope = {"lib": lib, "params": params}
        optimizer = eval(f"lib.optim.{text}", scope)
        values = _train(lib, optimizer, params)
        saved = copy.deepcopy(optimizer.state_dict())
        others = [lib.nn.Parameter(p.detach().clone()) for p in params]
        twin = eval(f"lib.optim.{text}", {"lib": lib, "params": others})
        twin.load_state_dict(saved)
        same = _train(lib, twin, others), _train(lib, optimizer, params)
        return values, saved, same, len(optimizer.state)

    return run


def _rates(text: str):
    def run(lib):
        optimizer = lib.optim.SGD(_params(lib), lr=0.3, momentum=0.9)
        optimizer.add_param_group({"params": lib.ones(2), "lr": 0.1})
        schedule = eval(
            f"lib.optim.lr_scheduler.{text}", {"lib": lib, "opt": optimizer}
        )
        found = [schedule.get_last_lr()]
        for _ in range(9):
            optimizer.step()
            schedule.step()
            momenta = [group["momentum"] for group in optimizer.param_groups]
            found.append([schedule.get_last_lr(), momenta])
        state = schedule.state_dict()
        state.pop("milestones", None)
        return found, state

    return run


def _text(text: str):
    def run(lib):
        w, v = _params(lib)
        scope = {"lib": lib, "optim": lib.optim, "w": w, "v": v, "params": [w, v]}
        scope["opt"] = lib.optim.SGD([w, v], lr=0.1)
        return eval(text, scope)

    return run


CASES.update({f"updates: {text}": _updates(text) for text in _OPTIMIZERS})
CASES.update(
    {
        f"complex: {text}": _updates(text, _complex_params)
        for text in _OPTIMIZERS
        if "nesterov" not in text  # grows without bound here
    }
)
CASES.update({f"rates: {text}": _rates(text) for text in _SCHEDULES})
CASES.update({f"text: {text}": _text(text) for text in _TEXTS})


def case(function):
    """Registers a case under its name."""
    CASES[function.__name__] = function
    return function


@case
def one_cycle_ends(lib):
    optimizer = lib.optim.Adam(_params(lib))
    schedule = lib.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=2)
    optimizer.step()
    betas = [optimizer.param_groups[0]["betas"]]
    for _ in range(3):
        schedule.step()
        betas.append(optimizer.param_groups[0]["betas"])


@case
def plateau(lib):
    found = []
    for options in ({}, {"mode": "max", "threshold_mode": "abs", "cooldown": 1}):
        optimizer = lib.optim.SGD(_params(lib), lr=1.0)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, patience=1, min_lr=0.01, **options
        )
        for metric in (3.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0):
            schedule.step(metric)
            found.append([schedule.get_last_lr(), schedule.num_bad_epochs])
    return found


@case
def hooks(lib):
    log = []
    params = _params(lib)
    optimizer = lib.optim.SGD(params, lr=0.1)
    handles = [
        optimizer.register_step_pre_hook(lambda o, a, k: log.append("pre")),
        optimizer.register_step_post_hook(lambda o, a, k: log.append("post")),
        optimizer.register_state_dict_pre_hook(lambda o: log.append("saving")),
        optimizer.register_state_dict_post_hook(lambda o, s: {**s, "more": 1}),
    ]
    optimizer.step()
    log.append(sorted(optimizer.state_dict()))
    for handle in handles:
        handle.remove()
    optimizer.step()
    return log, sorted(optimizer.state_dict())


@case
def custom_optimizer(lib):
    class Sign(lib.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def step(self, closure=None):
            with lib.no_grad():
                for group in self.param_groups:
                    for param in group["params"]:
                        if param.grad is not None:
                            param.sub_(group["lr"] * param.grad.sign())
                            self.state[param]["seen"] = True

    params = _params(lib)
    optimizer = Sign(params, 0.01)
    return _train(lib, optimizer, params), optimizer.state_dict()["state"]


@case
def zero_grad(lib):
    params = _params(lib)
    optimizer = lib.optim.SGD(params, lr=0.1)
    _train(lib, optimizer, params, 1)
    optimizer.zero_grad(set_to_none=False)
    kept = [p.grad for p in params]
    optimizer.zero_grad()
    return kept, [p.grad for p in params]


@case
def closure(lib):
    params = _params(lib)
    optimizer = lib.optim.SGD(params, lr=0.1)

    def loss():
        optimizer.zero_grad()
        value = (params[0] ** 2).sum()
        value.backward()
        return value

    return optimizer.step(loss), optimizer.step(loss)
