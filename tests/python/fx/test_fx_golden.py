"""torch.fx against outcomes recorded from PyTorch 2.13.

The cases are in fx_*_cases.py, what PyTorch made of them in golden/fx_*.json
(see record_golden.py).
"""

from __future__ import annotations

import outcomes

FAMILIES = ("fx_code", "fx_change")

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
test_records_are_current = outcomes.records_are_current(FAMILIES)
