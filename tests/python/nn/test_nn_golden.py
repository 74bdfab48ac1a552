"""hotaru's nn, optim and data against outcomes recorded from PyTorch 2.13.

The cases are in nn_*_cases.py, what PyTorch made of them in golden/nn_*.json
(see record_golden.py): weights, texts, results, gradients, errors, warnings.
"""

from __future__ import annotations

import os

import outcomes

FAMILIES = (
    "nn_layer",
    "nn_call",
    "nn_module",
    "nn_state",
    "nn_hook",
    "nn_autograd",
    "nn_optim",
    "nn_optimizer",
    "nn_optimizer_text",
    "nn_optimizer_use",
    "nn_schedule",
    "nn_schedule_text",
    "nn_swa",
    "nn_data",
    "nn_worker",
    "nn_parametrize",
    "nn_prune",
    "nn_extra",
    "nn_sparse",
    "nn_lazy",
)

if os.environ.get("HOTARU_OVER_TORCH") == "1":
    # Workers send batches through native shared memory.
    FAMILIES = tuple(family for family in FAMILIES if family != "nn_worker")


test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
test_records_are_current = outcomes.records_are_current(FAMILIES)
