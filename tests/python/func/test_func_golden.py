"""Transforms of functions against PyTorch 2.13.

The cases are in func_*_cases.py, what PyTorch made of them in golden/
(see record_golden.py).
"""

from __future__ import annotations

import outcomes

FAMILIES = ("func_transform",)

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
test_records_are_current = outcomes.records_are_current(FAMILIES)
