"""Quantisation against PyTorch 2.13.

The cases are in quantization_*_cases.py, what PyTorch made of them in golden/
(see record_golden.py).
"""

from __future__ import annotations

import outcomes

FAMILIES = ("quantization_module", "quantization_tensor", "quantization_workflow")

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
test_records_are_current = outcomes.records_are_current(FAMILIES)
