"""Products with Jacobians and Hessians, and derivatives by what is a constant
as a rule, against PyTorch 2.13.

The cases are in autograd_*_cases.py, what PyTorch made of them in golden/
(see record_golden.py).
"""

from __future__ import annotations

import outcomes

FAMILIES = ("autograd_functional", "autograd_constant")

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
test_records_are_current = outcomes.records_are_current(FAMILIES)
