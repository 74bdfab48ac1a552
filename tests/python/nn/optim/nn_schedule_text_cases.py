"""Cases of what schedules and averages refuse and warn of."""

from __future__ import annotations

import optim_scope

CASES = {}

_TEXTS = (
    "sched.LRScheduler(opt)",
    "sched.LRScheduler(3)",
    "sched.StepLR(3, 2)",
    "sched.StepLR(opt, 2, verbose=True)",
    "sched.StepLR(opt, 2).step()",
    "sched.StepLR(opt, 2).step(3)",
    "sched.StepLR(opt, 2, last_epoch=3)",
    "sched.LambdaLR(opt, [lambda e: 1])",
    "sched.LambdaLR(opt, 3)",
    "sched.MultiplicativeLR(opt, [lambda e: 1])",
    "sched.MultiplicativeLR(3, lambda e: 1)",
    "sched.ConstantLR(opt, -1)",
    "sched.LinearLR(opt, 0)",
    "sched.LinearLR(opt, 1, 2)",
    "sched.PolynomialLR(opt, 0).get_last_lr()",
    "sched.CosineAnnealingLR(opt, 5, last_epoch=2)",
    "sched.CosineAnnealingWarmRestarts(opt, 0)",
    "sched.CosineAnnealingWarmRestarts(opt, 5.0)",
    "sched.CosineAnnealingWarmRestarts(opt, 5, 0)",
    "sched.CosineAnnealingWarmRestarts(opt, 5, 1, 'a')",
    "sched.CosineAnnealingWarmRestarts(opt, 5).step(-1)",
    "sched.CosineAnnealingWarmRestarts(opt, 5).get_lr()",
    "sched.CosineAnnealingWarmRestarts(3, 5)",
    "sched.CyclicLR(3, 0.1, 0.2)",
    "sched.CyclicLR(opt, 0.1, 0.2, mode='z')",
    "sched.CyclicLR(opt, [0.1], 0.2)",
    "sched.CyclicLR(opt, 0.1, [0.2])",
    "sched.CyclicLR(opt, 0.1, 0.2, base_momentum=[0.1])",
    "sched.CyclicLR(optim.Adagrad([v]), 0.1, 0.2)",
    "sched.CyclicLR(opt, 0.1, 0.2, last_epoch=3)",
    "sched.CyclicLR(opt, 0.1, 0.2).get_lr()",
    "sched.CyclicLR(opt, 0.1, 0.2).state_dict()",
    "sched.SequentialLR(opt, [], [])",
    "sched.SequentialLR(opt, [sched.StepLR(other, 2)], [])",
    "sched.SequentialLR(opt, [sched.StepLR(opt, 2)], [1])",
    "sched.SequentialLR(opt, [sched.StepLR(opt, 2), 3], [1])",
    "sched.SequentialLR(opt, [sched.ReduceLROnPlateau(opt)], [])",
    "sched.SequentialLR(opt, [sched.StepLR(opt, 2)], []).state_dict()",
    "sched.ChainedScheduler([])",
    "sched.ChainedScheduler([sched.StepLR(opt, 2)], other)",
    "sched.ChainedScheduler([sched.StepLR(opt, 2), sched.StepLR(other, 2)])",
    "sched.ChainedScheduler([sched.ReduceLROnPlateau(opt)])",
    "sched.ChainedScheduler([sched.StepLR(opt, 2), 3])",
    "sched.ChainedScheduler([sched.StepLR(opt, 2)]).state_dict()",
    "sched.ReduceLROnPlateau(3)",
    "sched.ReduceLROnPlateau(opt, factor=1.0)",
    "sched.ReduceLROnPlateau(opt, min_lr=[1])",
    "sched.ReduceLROnPlateau(opt, mode='z')",
    "sched.ReduceLROnPlateau(opt, threshold_mode='z')",
    "sched.ReduceLROnPlateau(opt).step(1, 2)",
    "sched.ReduceLROnPlateau(opt).step('a')",
    "sched.ReduceLROnPlateau(opt).state_dict()",
    "sched.OneCycleLR(3, 0.1, 5)",
    "sched.OneCycleLR(opt, 0.1, total_steps=5.0)",
    "sched.OneCycleLR(opt, 0.1, epochs=-1, steps_per_epoch=3)",
    "sched.OneCycleLR(opt, 0.1, epochs=1, steps_per_epoch=0)",
    "sched.OneCycleLR(opt, 0.1, total_steps=5, pct_start=2.0)",
    "sched.OneCycleLR(opt, 0.1, total_steps=5, pct_start=1)",
    "sched.OneCycleLR(opt, 0.1, total_steps=5, max_momentum=[0.1])",
    "sched.OneCycleLR(opt, 0.1, total_steps=5, last_epoch=3)",
    "sched.OneCycleLR(optim.Adagrad([v]), 0.1, total_steps=5)",
    "swa.SWALR(3, 0.1)",
    "swa.SWALR(opt, [0.1])",
    "swa.SWALR(opt, 0.1, -1)",
    "swa.SWALR(opt, 0.1, 1.5)",
    "swa.SWALR(opt, 0.1, anneal_strategy='z')",
    "swa.SWALR(opt, 0.1).get_lr()",
    "swa.SWALR(opt, 0.1).state_dict()",
    "swa.get_ema_avg_fn(2)",
    "swa.get_ema_multi_avg_fn(-1)",
    "swa.AveragedModel(lib.nn.Linear(2, 2), avg_fn=1, multi_avg_fn=2)",
    "[replace(opt, sched.StepLR(opt, 2)).step()]",
)


def _text(text: str):
    def run(lib):
        w, v = optim_scope.params(lib)
        groups = [{"params": [w], "lr": 0.1}, {"params": [v]}]
        scope = optim_scope.scope(
            lib,
            v=v,
            opt=lib.optim.SGD(groups, lr=0.3, momentum=0.9),
            other=lib.optim.SGD([w], lr=0.3),
            replace=_replace,
        )
        result = eval(text, scope)
        return None if "object at" in str(result) else result

    return run


def _replace(optimizer, schedule):
    """The schedule, with another step in the optimizer."""
    optimizer.step = lambda: None
    return schedule


CASES.update({text: _text(text) for text in _TEXTS})
