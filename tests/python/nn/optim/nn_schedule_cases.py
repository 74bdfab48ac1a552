"""Cases of schedules: the rates of 50 epochs, going on, state, closed forms."""

from __future__ import annotations

import copy
import math
import pickle

import optim_scope

CASES = {}

_SCHEDULES = (
    "sched.LambdaLR(opt, [lambda e: 0.9**e, lambda e: 1 / (e + 1)])",
    "sched.MultiplicativeLR(opt, lambda e: 1 - 1 / (e + 2))",
    "sched.StepLR(opt, 7, gamma=0.5)",
    "sched.MultiStepLR(opt, [0, 5, 20, 20], gamma=0.5)",
    "sched.ConstantLR(opt, 0.25, total_iters=9)",
    "sched.ConstantLR(opt, 0.5, total_iters=0)",
    "sched.LinearLR(opt, 0.1, 0.7, total_iters=20)",
    "sched.LinearLR(opt, 0.5, 1.0, total_iters=1)",
    "sched.ExponentialLR(opt, 0.93)",
    "sched.PolynomialLR(opt, total_iters=30, power=1.5)",
    "sched.CosineAnnealingLR(opt, 11, eta_min=0.01)",
    "sched.CosineAnnealingLR(opt, 60)",
    "sched.CosineAnnealingWarmRestarts(opt, 5)",
    "sched.CosineAnnealingWarmRestarts(opt, 3, 2, eta_min=0.01)",
    "sched.CyclicLR(opt, 0.01, 0.5, step_size_up=4, step_size_down=6)",
    "sched.CyclicLR(opt, [0.01, 0.1], [0.5, 1.0], 7, mode='triangular2')",
    "sched.CyclicLR(opt, 0.01, 0.5, 6, mode='exp_range', gamma=0.95)",
    "sched.CyclicLR(opt, 0.01, 0.5, 6, scale_fn=lambda x: 1 / x)",
    "sched.CyclicLR(opt, 0.01, 0.5, 6, cycle_momentum=False,"
    " scale_mode='iterations', scale_fn=lambda x: 1 / (x + 1))",
    "sched.OneCycleLR(opt, 0.5, total_steps=60)",
    "sched.OneCycleLR(opt, [0.5, 1.0], total_steps=60, three_phase=True,"
    " anneal_strategy='linear', pct_start=0.4, max_momentum=[0.9, 0.8])",
    "swa.SWALR(opt, 0.05, anneal_epochs=20)",
    "swa.SWALR(opt, [0.05, 0.5], 15, anneal_strategy='linear')",
    "swa.SWALR(opt, 0.05, anneal_epochs=0)",
    "sched.ChainedScheduler([sched.ConstantLR(opt, 0.1, 5),"
    " sched.ExponentialLR(opt, 0.9)])",
    "sched.ChainedScheduler([sched.CosineAnnealingLR(opt, 9),"
    " sched.StepLR(opt, 10)], optimizer=opt)",
    "sched.SequentialLR(opt, [sched.ConstantLR(opt, 0.1, 20),"
    " sched.ExponentialLR(opt, 0.9)], [6])",
    "sched.SequentialLR(opt, [sched.LinearLR(opt, 0.1, total_iters=8),"
    " sched.CosineAnnealingLR(opt, 20), sched.StepLR(opt, 3)], [8, 28])",
    "sched.SequentialLR(opt, [sched.CosineAnnealingWarmRestarts(opt, 4),"
    " sched.CosineAnnealingWarmRestarts(opt, 3)], [9])",
    "sched.SequentialLR(opt, [sched.ChainedScheduler("
    "[sched.LinearLR(opt, 0.1), sched.ConstantLR(opt, 0.5, 3)]),"
    " sched.ExponentialLR(opt, 0.9)], [5])",
    "sched.SequentialLR(opt, [sched.SequentialLR(opt, "
    "[sched.StepLR(opt, 2), sched.ConstantLR(opt)], [3]),"
    " sched.PolynomialLR(opt, 9)], [7])",
)
# Schedules of one class, with `at` for the epoch to go on from.
_RESUMED = (
    "sched.LambdaLR(opt, lambda e: 0.9**e, last_epoch=at)",
    "sched.MultiplicativeLR(opt, lambda e: 0.9, last_epoch=at)",
    "sched.StepLR(opt, 2, last_epoch=at)",
    "sched.MultiStepLR(opt, [2, 3, 3], 0.5, last_epoch=at)",
    "sched.ConstantLR(opt, 0.5, 3, last_epoch=at)",
    "sched.LinearLR(opt, 0.2, 0.8, 4, last_epoch=at)",
    "sched.ExponentialLR(opt, 0.9, last_epoch=at)",
    "sched.PolynomialLR(opt, 4, 2.0, last_epoch=at)",
    "sched.CosineAnnealingLR(opt, 3, 0.01, last_epoch=at)",
    "sched.CosineAnnealingWarmRestarts(opt, 2, 2, 0.01, last_epoch=at)",
    "sched.CyclicLR(opt, 0.1, 1.0, 3, 4, last_epoch=at)",
    "sched.OneCycleLR(opt, 2.0, 12, last_epoch=at)",
    "swa.SWALR(opt, 0.2, 3, last_epoch=at)",
)


def _optimizer(lib, name: str = "SGD", **options):
    values = optim_scope.params(lib)
    for value in values:
        value.grad = lib.ones_like(value)
    groups = [{"params": values[0]}, {"params": values[1], "lr": 0.1}]
    options = {"momentum": 0.9} if name == "SGD" else {}
    return getattr(lib.optim, name)(groups, lr=0.3, **options)


def _make(lib, text: str, optimizer, **names):
    return eval(text, optim_scope.scope(lib, opt=optimizer, **names))


def _state(schedule) -> dict:
    """State that is saved, with multisets as dicts."""
    state = schedule.state_dict()
    if "milestones" in state:
        state["milestones"] = dict(state["milestones"])
    state.pop("_schedulers", None)
    return state


def _rates(text: str, name: str = "SGD"):
    def run(lib):
        optimizer = _optimizer(lib, name)
        schedule = _make(lib, text, optimizer)
        found = [schedule.get_last_lr()]
        momenta = []
        for _ in range(50):
            optimizer.step()
            schedule.step()
            found.append(schedule.get_last_lr())
            group = optimizer.param_groups[0]
            momenta.append(group.get("momentum", group.get("betas")))
        same = len({str(momentum) for momentum in momenta}) == 1
        return found, None if same else momenta, _state(schedule)

    return run


def _tensors(text: str):
    """Rates that are tensors stay the tensors that they were."""

    def run(lib):
        values = optim_scope.params(lib)
        rate = lib.tensor(0.25)
        optimizer = lib.optim.SGD(
            [{"params": values[:1], "lr": rate}, {"params": values[1:]}],
            lr=0.5,
            momentum=0.9,
        )
        schedule = _make(lib, text, optimizer)
        found = [schedule.get_last_lr()]
        for _ in range(5):
            optimizer.step()
            schedule.step()
            found.append(schedule.get_last_lr())
        kept = optimizer.param_groups[0]["lr"] is rate
        return found, rate, kept, schedule.base_lrs

    return run


def _saved(text: str):
    """A schedule that has loaded the state of another goes on like it."""

    def run(lib):
        optimizer = _optimizer(lib)
        schedule = _make(lib, text, optimizer)
        for _ in range(6):
            optimizer.step()
            schedule.step()
        state = copy.deepcopy(schedule.state_dict())
        other = _optimizer(lib)
        twin = _make(lib, text, other)
        twin.load_state_dict(state)
        other.load_state_dict(optimizer.state_dict())
        found = []
        for _ in range(6):
            for opt, sched in ((optimizer, schedule), (other, twin)):
                opt.step()
                sched.step()
                found.append(sched.get_last_lr())
        return found

    return run


def _resumed(text: str):
    def run(lib):
        found = []
        for at in (0, 1, 2, 3, 5):
            optimizer = _optimizer(lib)
            for group in optimizer.param_groups:
                group.update(
                    initial_lr=1.0,
                    max_lr=2.0,
                    min_lr=0.1,
                    max_momentum=0.9,
                    base_momentum=0.8,
                )
            schedule = _make(lib, text, optimizer, at=at)
            found.append([schedule.get_last_lr(), schedule.base_lrs])
            for _ in range(4):
                optimizer.step()
                schedule.step()
                found.append(schedule.get_last_lr())
        return found

    return run


def _epochs(text: str):
    """The deprecated argument, which takes closed forms where there are."""

    def run(lib):
        optimizer = _optimizer(lib)
        schedule = _make(lib, text, optimizer, at=-1)
        found = []
        for epoch in (0, 1, 3, 2, 4, 9, 1):
            optimizer.step()
            schedule.step(epoch)
            found.append([schedule.get_last_lr(), schedule.last_epoch])
        return found

    return run


def _not_at_once(text: str):
    """As a later part of a sequence, alone and in a chain."""

    def run(lib):
        found = []
        for chained in (False, True):
            optimizer = _optimizer(lib)
            part = _make(lib, text, optimizer, at=-1)
            sched = lib.optim.lr_scheduler
            first = sched.ConstantLR(optimizer, 0.1, 2)
            if chained:
                part, first = first, part
                first = sched.ChainedScheduler(
                    [first, sched.ExponentialLR(optimizer, 0.9)]
                )
            whole = sched.SequentialLR(optimizer, [first, part], [3])
            for _ in range(8):
                optimizer.step()
                whole.step()
                found.append(whole.get_last_lr())
        return found

    return run


for _text in _SCHEDULES:
    CASES[f"rates: {_text}"] = _rates(_text)
    CASES[f"saved: {_text}"] = _saved(_text)
    if "Cyclic" not in _text and "OneCycle" not in _text:
        CASES[f"tensors: {_text}"] = _tensors(_text)
for _text in _RESUMED:
    CASES[f"resumed: {_text}"] = _resumed(_text)
    CASES[f"epochs: {_text}"] = _epochs(_text)
    CASES[f"not at once: {_text}"] = _not_at_once(_text)
for _text in ("OneCycleLR(opt, 0.5, 60)", "CyclicLR(opt, 0.01, 0.5, 6)"):
    CASES[f"Adam: {_text}"] = _rates(f"sched.{_text}", "Adam")


def case(function):
    """Registers a case under its name."""
    CASES[function.__name__] = function
    return function


@case
def fractions_of_epochs(lib):
    optimizer = _optimizer(lib)
    restarts = lib.optim.lr_scheduler.CosineAnnealingWarmRestarts
    found = []
    for factor in (1, 3):
        schedule = restarts(optimizer, 2, factor)
        for i in range(40):
            optimizer.step()
            schedule.step(i / 4)
            found.append([schedule.get_last_lr(), schedule.T_cur])
    return found


@case
def plateau_of_rates(lib):
    found = []
    for options in (
        {"threshold_mode": "abs", "threshold": 0.5},
        {"mode": "max", "factor": 0.5, "cooldown": 2},
        {"min_lr": [0.2, 0.05], "eps": 0.01},
    ):
        optimizer = _optimizer(lib)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, patience=1, **options
        )
        for i in range(20):
            schedule.step(math.sin(i) + 2)
            found.append(schedule.get_last_lr())
        twin = copy.deepcopy(schedule)
        twin.load_state_dict(schedule.state_dict())
        found.append(twin.state_dict())
    return found


@case
def plateau_with_another_group(lib):
    found = []
    for least in (0.01, [0.01, 0.02]):
        optimizer = _optimizer(lib)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, patience=0, min_lr=least
        )
        optimizer.add_param_group({"params": lib.ones(2), "lr": 5.0})
        try:
            for _ in range(3):
                schedule.step(1.0)
        except RuntimeError as error:
            found.append(str(error))
        found.append(schedule.get_last_lr())
    return found


class Halved:
    """A callable object, whose attributes are saved."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, x) -> float:
        return self.factor


@case
def callable_objects(lib):
    found = []
    for text in (
        "sched.LambdaLR(opt, fn)",
        "sched.MultiplicativeLR(opt, [fn, lambda e: 1.0])",
        "sched.CyclicLR(opt, 0.1, 0.3, 4, scale_fn=fn)",
    ):
        optimizer = _optimizer(lib)
        schedule = _make(lib, text, optimizer, fn=Halved(0.5))
        state = pickle.loads(pickle.dumps(schedule.state_dict()))
        twin = _make(lib, text, optimizer, fn=Halved(0.9))
        twin.load_state_dict(dict(state))
        optimizer.step()
        twin.step()
        found.append([state, twin.get_last_lr()])
    return found


@case
def last_rates_are_copies(lib):
    values = optim_scope.params(lib)
    optimizer = lib.optim.SGD(values, lr=lib.tensor(1.0))
    schedule = lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    rates = schedule.get_last_lr()
    optimizer.step()
    schedule.step()
    return rates, schedule.get_last_lr(), schedule.base_lrs


@case
def modules_names(lib):
    sched = lib.optim.lr_scheduler
    plateau = sched.ReduceLROnPlateau(_optimizer(lib))
    return (
        sorted(sched.__all__),
        sorted(lib.optim.swa_utils.__all__),
        isinstance(plateau, sched.LRScheduler),
        issubclass(sched._LRScheduler, sched.LRScheduler),
        sched.EPOCH_DEPRECATION_WARNING,
    )
