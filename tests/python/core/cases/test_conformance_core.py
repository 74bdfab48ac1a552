"""Tensors, dtypes, views and autograd against PyTorch 2.13.

The cases are in core_*_cases.py, what PyTorch made of them in
golden/core_*.json (see record_golden.py): values, dtypes, strides, gradients,
exceptions with their texts, warnings.
"""

from __future__ import annotations

import outcomes

FAMILIES = ("core_dtype", "core_view", "core_autograd")

# Cases that hotaru lacks or words otherwise.
DIFFERS = outcomes.listed("core_differs.txt")

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES, DIFFERS)
test_records_are_current = outcomes.records_are_current(FAMILIES)
