"""`torch.testing` against PyTorch 2.13.

The cases are in testing_*_cases.py, what PyTorch made of them in golden/
(see record_golden.py).
"""

from __future__ import annotations

import outcomes

FAMILIES = ("testing_checks", "testing_close", "testing_make")

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
test_records_are_current = outcomes.records_are_current(FAMILIES)
