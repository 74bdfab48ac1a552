"""hotaru's operators against outcomes recorded from PyTorch 2.13.

The cases are in ops_*_cases.py, what PyTorch made of them in golden/ops_*.json
(see record_golden.py): values, dtypes, shapes, errors, names of nodes, first
and second gradients.
"""

from __future__ import annotations

import outcomes

FAMILIES = (
    "ops_reduce",
    "ops_order",
    "ops_index",
    "ops_join",
    "ops_matmul",
    "ops_linalg",
    "ops_conv",
    "ops_pool",
    "ops_window",
    "ops_norm",
    "ops_loss",
    "ops_rnn",
    "ops_number",
    "ops_composite",
    "ops_special",
    "ops_masked",
    "ops_signal",
    "ops_function",
    "ops_fft",
    "ops_out",
)
DRAWS = ("ops_random",)

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
# Equal bit for bit; what is left is rounding in 8 digits.
test_same_draws_as_pytorch = outcomes.same_as_pytorch(DRAWS, rtol=2e-7, atol=1e-12)
test_records_are_current = outcomes.records_are_current(FAMILIES + DRAWS)
