"""hotaru's distributions against outcomes recorded from PyTorch 2.13.

The cases are in distributions_*_cases.py, what PyTorch made of them in
golden/distributions_*.json (see record_golden.py).
"""

from __future__ import annotations

import outcomes

FAMILIES = (
    "distributions_value",
    "distributions_draw",
    "distributions_kl",
    "distributions_transform",
    "distributions_error",
)

SHAPED = ("distributions_shaped",)

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
# PyTorch's implicit gradients are approximations with errors of up to 1e-3;
# tests/python/ops/test_shaped_draws.py holds both sides to more.
test_same_draws_as_pytorch = outcomes.same_as_pytorch(SHAPED, rtol=1e-3)
test_records_are_current = outcomes.records_are_current(FAMILIES + SHAPED)
