"""MaskedTensor against PyTorch 2.13.

The cases are in masked_*_cases.py, what PyTorch made of them in golden/
(see record_golden.py).
"""

from __future__ import annotations

import outcomes

FAMILIES = ("masked_tensor", "masked_sparse")

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
test_records_are_current = outcomes.records_are_current(FAMILIES)
