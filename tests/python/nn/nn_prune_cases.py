# ruff: noqa: E501  (a case is one line)
"""Cases of pruning."""

from __future__ import annotations

import importlib

from nn_scope import Cases
from outcomes import tensor

cases = Cases()
CASES = cases.found


def _conv(lib):
    module = lib.nn.Conv2d(2, 3, 2)
    module.weight.data = tensor(lib, 3, 2, 2, 2)
    module.bias.data = tensor(lib, 3, start=4)
    return module


def _evaluated(text: str):
    def run(lib):
        m = _conv(lib)
        prune = importlib.import_module(f"{lib.__name__}.nn.utils.prune")
        scope = {"lib": lib, "m": m, "p": prune, "w": m.weight.detach()}
        scope["s"] = tensor(lib, 3, 2, 2, 2, start=8)
        return eval(text, scope)

    return run


_PARTS = "[list(m.state_dict()), m.weight, m.weight_mask, len(m._forward_pre_hooks), type([*m._forward_pre_hooks.values()][0]).__name__]"
for _text in (
    "p.identity(m, 'weight')",
    "p.l1_unstructured(m, 'weight', 5)",
    "p.l1_unstructured(m, 'weight', 0.3)",
    "p.l1_unstructured(m, 'weight', 3, importance_scores=s)",
    "p.ln_structured(m, 'weight', 1, n=2, dim=0)",
    "p.ln_structured(m, 'weight', 0.5, n=1, dim=1)",
    "p.ln_structured(m, 'weight', 1, n=float('-inf'), dim=-1)",
    "p.ln_structured(m, 'weight', 1, n=1, dim=0, importance_scores=s)",
    "p.custom_from_mask(m, 'weight', (w > 0))",
    "p.l1_unstructured(p.l1_unstructured(m, 'weight', 5), 'weight', 0.5)",
    "p.ln_structured(p.l1_unstructured(m, 'weight', 5), 'weight', 1, 2, 0)",
    "p.l1_unstructured(p.ln_structured(m, 'weight', 1, 2, 0), 'weight', 3)",
    "p.ln_structured(p.ln_structured(m, 'weight', 1, 2, 0), 'weight', 1, 2, 0)",
    "p.custom_from_mask(p.l1_unstructured(m, 'weight', 5), 'weight', w > 0)",
    "p.global_unstructured([(m, 'weight')], p.L1Unstructured, amount=4)",
):
    CASES[_text] = _evaluated(f"({_text}, {_PARTS})[1]")
for _text in (
    "(p.global_unstructured([(m, 'weight'), (m, 'bias')], p.L1Unstructured, amount=0.5), m.weight, m.bias)",
    "(p.global_unstructured([(m, 'weight'), (m, 'bias')], p.L1Unstructured, {(m, 'bias'): m.bias * 100}, amount=13), m.bias_mask)",
    "p.global_unstructured(3, p.L1Unstructured, amount=1)",
    "p.global_unstructured([(m, 'weight')], p.LnStructured, amount=1, n=2)",
    "p.global_unstructured([(m, 'weight')], p.L1Unstructured, importance_scores=[1], amount=1)",
    "p.remove(p.l1_unstructured(m, 'weight', 5), 'weight').weight",
    "list(p.remove(p.l1_unstructured(m, 'weight', 5), 'weight').state_dict())",
    "p.remove(m, 'weight')",
    "p.is_pruned(m), p.is_pruned(p.identity(m, 'bias'))",
    "p.is_pruned(lib.nn.Sequential(p.identity(m, 'bias')))",
    "p.L1Unstructured(amount='much')",
    "p.L1Unstructured(amount=1.5)",
    "p.RandomStructured(amount=-1)",
    "p.l1_unstructured(m, 'weight', 100)",
    "p.l1_unstructured(m, 'weight', 1, importance_scores=w[0])",
    "p.ln_structured(m, 'bias', 1, 2, 0)",
    "p.ln_structured(m, 'weight', 1, 2, 4)",
    "p.ln_structured(p.identity(m, 'weight'), 'weight', 1, 2, -7)",
    "p.custom_from_mask(m, 'weight', w[0])",
    "p.L1Unstructured(2).prune(w)",
    "p.L1Unstructured(2).prune(w, importance_scores=s)",
    "p.L1Unstructured(2).prune(w, importance_scores=s[0])",
    "p.LnStructured(1, 2, 0).prune(w, default_mask=(w > 0).float())",
    "p.PruningContainer().add_pruning_method(3)",
    "(p.random_unstructured(m, 'weight', 7), m.weight_mask.sum(), m.weight_orig is not m.weight)[1:]",
    "(p.random_structured(m, 'weight', 2, 0), m.weight_mask.sum((1, 2, 3)).sort().values)[1]",
    "(p.random_structured(m, 'weight', 0, 0), m.weight_mask.sum())[1]",
    "(m.register_buffer('x', w), p.l1_unstructured(m, 'weight', 5), m(lib.ones(1, 2, 2, 2)).sum().backward(), m.weight_orig.grad)[-1]",
    "[len(h) for h in (p.l1_unstructured(p.identity(m, 'weight'), 'weight', 2))._forward_pre_hooks.values()]",
):
    CASES[_text] = _evaluated(_text)


@cases.case
def renewed_before_each_call(lib):
    prune = importlib.import_module(f"{lib.__name__}.nn.utils.prune")
    m = prune.l1_unstructured(_conv(lib), "weight", 20)
    with lib.no_grad():
        m.weight_orig.mul_(3)
    before = m.weight.clone()
    m(lib.ones(1, 2, 2, 2))
    return before, m.weight


@cases.case
def left_as_it_was_by_an_error(lib):
    prune = importlib.import_module(f"{lib.__name__}.nn.utils.prune")
    m = _conv(lib)
    try:
        prune.l1_unstructured(m, "weight", 100)
    except ValueError:
        return list(m.state_dict()), len(m._forward_pre_hooks), repr(m)
